/* The files a patch touches: their old and new content, and one commit for all.
 *
 *     struct patch p;
 *     patch_init(&p, box, &(struct patch_options){...}, result, err);
 *     patch_file(&p, STR("src/main.c"), &file, err);
 *     patch_load(&p, file, err)...
 *     patch_put(file, text);
 *     patch_commit(&p, err);
 *     patch_done(&p);
 *
 * Shared by all patch formats: nothing is written before the whole patch applies. Later parts of a
 * patch see the files as changed by earlier ones.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_PATCH_H
#define TOOL_PATCH_H

#include "tool/near.h"
#include "tool/tool.h"
#include "tool/tool_place.h"

enum {
    PATCH_RESULT_MAX = 2 * TOOLBOX_FILE_MAX, /* maximum size of a patched file */
    PATCH_HUNKS_TOLD = 1000,                 /* hunks listed individually in a result */
};

/* Executable bit of the new file. */
enum patch_exec {
    PATCH_EXEC_KEEP,
    PATCH_EXEC_ON,
    PATCH_EXEC_OFF,
};

/* For unified diffs, which may refer to a file before and after its removal. */
enum patch_fate {
    PATCH_FATE_NONE,
    PATCH_FATE_WILL_GO,
    PATCH_FATE_GONE,
    PATCH_FATE_PATCHED,
};

struct patch_file {
    struct str name; /* for messages; relative to the root if it is below it */
    struct resolved where;
    bool existed;
    bool beyond_link; /* a parent directory is a symlink */
    struct stamp stamp;
    bool loaded;
    struct buf old;
    /* The new state; equal to the old one unless touched. */
    bool touched, exists;
    struct str content;
    const struct patch_file *like; /* moved or copied from there; its mode is kept */
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
    struct buf *plan; /* only output the change here (tool/tool_plan.h); NULL: carry it out */
};

struct patch {
    struct toolbox *box;
    struct tool_result *result;
    struct patch_options options;
    struct arena arena;
    struct str base; /* base of relative names, symlinks resolved */
    struct patch_file **table;
    struct patch_file **files; /* in order of first mention */
    size_t n, cap, n_buckets;
    char **texts; /* buffers of new contents, released with free() */
    size_t n_texts, cap_texts;
    size_t n_hunks;
    bool compares;    /* old contents are needed until the end, for a plan */
    struct buf notes; /* added to the content after the summary */
};

MUST_USE bool patch_init(struct patch *p, struct toolbox *box, const struct patch_options *options,
    struct tool_result *result, struct err *err);
void patch_done(struct patch *p);

/* Looks up a file by its name in the patch. E_FS_VIOLATION for symlinks and paths outside the
 * roots, E_PATCH_APPLY if it is not a regular file. */
MUST_USE bool patch_file(
    struct patch *p, struct str name, struct patch_file **ret_file, struct err *err);
/* Reads the old content; the file must have existed. */
MUST_USE bool patch_load(struct patch *p, struct patch_file *file, struct err *err);
/* Returns the current content; the file must exist. */
MUST_USE bool patch_content(
    struct patch *p, struct patch_file *file, struct str *ret_content, struct err *err);

void patch_put(struct patch_file *file, struct str content);
void patch_remove(struct patch_file *file);
/* Keeps a text until patch_done() and empties the buffer. Returns false if it is too long. */
MUST_USE bool patch_keep(struct patch *p, struct buf *text, struct str *ret_text, struct err *err);

/* Adds to the result where (line from 1) and how a hunk matched: fold_name() or another word. */
void patch_tell_hunk(struct patch *p, const struct patch_file *file, size_t line, const char *how);
/* Adds the nearest place to the error, which must be set, and to the result. */
void patch_tell_near(struct patch *p, const struct near *near, struct err *err);

/* Writes all files or none; in a dry run only checks whether that is possible. Fills in the
 * result. */
MUST_USE bool patch_commit(struct patch *p, struct err *err);

#endif
