/* Goldens: screens stored as text files beside the scenario, to compare with.
 *
 *     if (!golden_read(file, mask_json, "steps[1].assert[0].payload", &arena, &g, err))
 *         return false;
 *     g->home = &home;                        the scenario's directory and what may be written
 *     if (!golden_holds(g, &screen, &why)) ...
 *     if (!golden_update(g, &screen, &changed, err)) ...after a step that passed...
 *     golden_done(g);
 *
 * Masked regions are replaced in both texts before the comparison, and also in the file: text that
 * varies from run to run, or is secret, is never written. A file's path can't leave the scenario's
 * directory, and symlinks in it are not followed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_GOLDEN_H
#define RUN_GOLDEN_H

#include "base/regex.h"
#include "term/snapshot.h"

/* Goldens that are written; all others must exist and match. */
enum golden_mode {
    GOLDEN_NONE = 0,
    GOLDEN_MISSING = 1 << 0,
    GOLDEN_CHANGED = 1 << 1,
    GOLDEN_SAME = 1 << 2, /* also those that match, so that new masks get into the file */
    GOLDEN_STALE = GOLDEN_MISSING | GOLDEN_CHANGED,
    GOLDEN_ALL = GOLDEN_STALE | GOLDEN_SAME,
};

enum {
    GOLDEN_MASKS_MAX = 100,
    GOLDEN_BYTES_MAX = 8 << 20,
    GOLDEN_QUIET_MS = 100, /* quiet time required before a screen is written */
};

struct golden_home {
    int dir; /* the scenario's directory; AT_FDCWD: the working directory */
    enum golden_mode mode;
    /* Returns why no golden may be written under this name, or NULL if it may be. Text chosen by a
     * program must not get into a file that is executed or obeyed. Required unless the mode is
     * GOLDEN_NONE. */
    const char *(*refuses)(void *context, struct str file);
    void *context;
};

struct golden_mask;

struct golden {
    struct str file;
    struct golden_mask *masks;
    size_t n_masks;
    const json_t *mask_json;        /* as given; may be NULL */
    const struct golden_home *home; /* NULL: the working directory, and nothing is written */
    bool loaded, missing;
    char *text; /* owned */
};

/* Reads a golden's parameters. Errors are E_PROTOCOL with the place. Allocated in the arena. */
MUST_USE bool golden_read(struct str file, const json_t *mask, const char *place,
    struct arena *arena, struct golden **ret_golden, struct err *err);
void golden_done(struct golden *g); /* accepts NULL */

/* Whether the screen matches, or the golden will be written from it. The screen needs cells. */
bool golden_holds(struct golden *g, const struct snapshot *screen, struct buf *why);

/* Whether no screen can ever match: the file is missing or unreadable, and is not to be written. */
bool golden_is_lost(struct golden *g);

/* Whether the file does not exist. */
bool golden_is_missing(struct golden *g);

/* Fails with E_POLICY_DENIED if goldens are to be written and this one's name is refused. */
MUST_USE bool golden_check(const struct golden *g, struct err *err);

/* Returns how long the screen must be quiet first. */
uint64_t golden_quiet_ms(struct golden *g);

/* Writes the file if the mode asks for it. */
MUST_USE bool golden_update(
    struct golden *g, const struct snapshot *screen, bool *ret_written, struct err *err);

/* Returns the expected text; no value if there is no such file. */
struct str golden_wanted(struct golden *g);

/* Sets the expected text, or marks it as missing (no value); no file is read any more. */
void golden_set(struct golden *g, struct str text);

/* Appends the screen as the file has it. Returns false if a mask's pattern can't be applied: the
 * text it should cover would be exposed. */
MUST_USE bool golden_text(
    const struct golden *g, const struct snapshot *screen, struct buf *out, struct err *err);

#endif
