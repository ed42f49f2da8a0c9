/* Goldens: a screen as text in a file beside the scenario, to compare with.
 *
 *     if (!golden_read(file, mask_json, "steps[1].assert[0].payload", &arena, &g, err)) return
 * false; g->home = &home;                        where the scenario is, and what may be written if
 * (!golden_holds(g, &screen, &why)) ... if (!golden_update(g, &screen, &changed, err)) ...after a
 * step that passed... golden_done(g);
 *
 * What a mask covers is made the same in both before they are compared, and is so in the file, too:
 * what changes from run to run, or is secret, does not get there. A file's path never leaves the
 * scenario's directory, and no link in it is followed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_GOLDEN_H
#define RUN_GOLDEN_H

#include "base/regex.h"
#include "term/snapshot.h"

/* Which goldens are written; all others must be there and match. */
enum golden_mode {
    GOLDEN_NONE = 0,
    GOLDEN_MISSING = 1 << 0,
    GOLDEN_CHANGED = 1 << 1,
    GOLDEN_SAME = 1 << 2, /* also those that match, so that masks get into the file */
    GOLDEN_STALE = GOLDEN_MISSING | GOLDEN_CHANGED,
    GOLDEN_ALL = GOLDEN_STALE | GOLDEN_SAME,
};

enum {
    GOLDEN_MASKS_MAX = 100,
    GOLDEN_BYTES_MAX = 8 << 20,
    GOLDEN_QUIET_MS = 100, /* a screen that is to be written must have been quiet for so long */
};

struct golden_home {
    int dir; /* the scenario's directory; AT_FDCWD: the current one */
    enum golden_mode mode;
    /* The reason why no golden is written under this name; NULL: it may be. Text that a program
     * chose must not get into a file that acts by itself. Needed for every mode but GOLDEN_NONE. */
    const char *(*refuses)(void *context, struct str file);
    void *context;
};

struct golden_mask;

struct golden {
    struct str file;
    struct golden_mask *masks;
    size_t n_masks;
    const json_t *mask_json;        /* as it was given; may be NULL */
    const struct golden_home *home; /* NULL: the current directory, and nothing is written */
    bool loaded, missing;
    char *text; /* owned */
};

/* What is wrong is E_PROTOCOL with its place. It lies in the arena. */
MUST_USE bool golden_read(struct str file, const json_t *mask, const char *place,
    struct arena *arena, struct golden **ret_golden, struct err *err);
void golden_done(struct golden *g); /* accepts NULL */

/* Whether it is what the screen shows, or will be written. The screen has cells. */
bool golden_holds(struct golden *g, const struct snapshot *screen, struct buf *why);

/* Whether it can't hold, whatever the screen will show: it is missing or can't be read, and is not
 * written. */
bool golden_is_lost(struct golden *g);

/* Whether the file is not there. */
bool golden_is_missing(struct golden *g);

/* E_POLICY_DENIED for a golden whose name is refused, if any is to be written. */
MUST_USE bool golden_check(const struct golden *g, struct err *err);

/* How long the screen must be quiet first. */
uint64_t golden_quiet_ms(struct golden *g);

/* Writes what the mode says. */
MUST_USE bool golden_update(
    struct golden *g, const struct snapshot *screen, bool *ret_written, struct err *err);

/* What it is compared with; no value if there is no such file. */
struct str golden_wanted(struct golden *g);

/* From now on it is compared with this text, or found missing (no value), and no file is read. */
void golden_set(struct golden *g, struct str text);

/* The screen as the file has it. False if a mask's pattern can't be applied to it: what it was to
 * cover would be there. */
MUST_USE bool golden_text(
    const struct golden *g, const struct snapshot *screen, struct buf *out, struct err *err);

#endif
