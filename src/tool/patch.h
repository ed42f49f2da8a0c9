/* The files that a patch touches: what they were, what they become, and one commit for all.
 *
 *     struct patch p;
 *     patch_init(&p, box, &(struct patch_options){...}, result);
 *     patch_file(&p, STR("src/main.c"), &file, err);
 *     patch_load(&p, file, err)...
 *     patch_put(file, text);
 *     patch_commit(&p, err);
 *     patch_done(&p);
 *
 * Every dialect works on this: nothing is written before all of it fits. A file that was put or
 * removed is seen so by what comes later in the same patch.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_PATCH_H
#define TOOL_PATCH_H

#include "tool/near.h"
#include "tool/place.h"
#include "tool/tool.h"

enum {
    PATCH_RESULT_MAX = 2 * TOOLBOX_FILE_MAX, /* bytes of a file that a patch makes */
    PATCH_HUNKS_TOLD = 1000,                 /* hunks that a result speaks of one by one */
};

/* The executable bit of what comes. */
enum patch_exec {
    PATCH_EXEC_KEEP,
    PATCH_EXEC_ON,
    PATCH_EXEC_OFF,
};

/* For unified diffs, which may speak of a file before and after it goes. */
enum patch_fate {
    PATCH_FATE_NONE,
    PATCH_FATE_WILL_GO,
    PATCH_FATE_GONE,
    PATCH_FATE_PATCHED,
};

struct patch_file {
    struct str name; /* for people: relative to the root where it lies in it */
    struct resolved where;
    bool existed;
    bool beyond_link; /* a directory on the way is a link */
    struct stamp stamp;
    bool loaded;
    struct buf old;
    /* What it becomes; as it was unless touched. */
    bool touched, exists;
    struct str content;
    const struct patch_file *like; /* moved or copied from there: its mode comes along */
    enum patch_exec exec;
    enum patch_fate fate;
    unsigned git_mode; /* with PATCH_FATE_PATCHED */
    size_t added, removed;
    const char *note; /* for the summary, or NULL */
    bool moved;       /* the writer moves it to another name */
    struct patch_file *next;
};

struct patch_options {
    const struct tool *tool;
    bool strict;
    bool dry_run;
    struct buf *plan; /* only says what would change, here (tool/plan.h); NULL: is carried out */
};

struct patch {
    struct toolbox *box;
    struct tool_result *result;
    struct patch_options options;
    struct arena arena;
    struct str base; /* where relative names begin, without links */
    struct patch_file **table;
    struct patch_file **files; /* in the order in which they were named */
    size_t n, cap, n_buckets;
    char **texts; /* what contents were made of, for free() */
    size_t n_texts, cap_texts;
    size_t n_hunks;
    bool compares;    /* what files were is needed to the end, for a plan */
    struct buf notes; /* what the content says behind the summary */
};

MUST_USE bool patch_init(struct patch *p, struct toolbox *box, const struct patch_options *options,
    struct tool_result *result, struct err *err);
void patch_done(struct patch *p);

/* By its name in the patch. E_FS_VIOLATION for links and for what lies outside, E_PATCH_APPLY for
 * what is no file. */
MUST_USE bool patch_file(
    struct patch *p, struct str name, struct patch_file **ret_file, struct err *err);
/* Reads what was there; it must have been. */
MUST_USE bool patch_load(struct patch *p, struct patch_file *file, struct err *err);
/* What is there now: of a file that exists. */
MUST_USE bool patch_content(
    struct patch *p, struct patch_file *file, struct str *ret_content, struct err *err);

void patch_put(struct patch_file *file, struct str content);
void patch_remove(struct patch_file *file);
/* Keeps a text until the end; the buffer is empty after. False: it had become too long. */
MUST_USE bool patch_keep(struct patch *p, struct buf *text, struct str *ret_text, struct err *err);

/* Tells the result where a hunk went (line from 1), and how: one of fold_name() or another word. */
void patch_tell_hunk(struct patch *p, const struct patch_file *file, size_t line, const char *how);
/* Says in the result's content and details what is near; the error is set already. */
void patch_tell_near(struct patch *p, const struct near *near, struct err *err);

/* Writes everything at once, or nothing; dry: only checks whether it could be. Fills in the
 * result. */
MUST_USE bool patch_commit(struct patch *p, struct err *err);

#endif
