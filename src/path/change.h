/* A change of several files below one root, and the single steps that do it and undo it.
 *
 *     change_forward(&change, i, err)      the i-th file gets its new state
 *     change_back(&change, i, err)         ...or its old one again, whatever was done so far
 *     change_clean(&change, err)           temporary names and unused directories are gone
 *
 * Each file has a temporary name beside it, `.cordon-<id>-<n>.tmp`: before its step that holds the
 * new file, after it the old one. So a look at the two names tells whether the step was done, and
 * every step can be repeated and reversed: writer and recovery use the same ones.
 *
 * No step ever unlinks a file that it doesn't know. A file that somebody else put at a target in
 * the meantime stays there; if then the old version can't go back to its place, it stays beside it
 * as `.cordon-<id>-<n>.kept`.
 *
 * Nothing here trusts a path: parents are opened below the root's descriptor with links refused,
 * everything else is a descriptor and a name. A living writer holds the directories in which it
 * began (change_hold), and goes back and tidies up through them, wherever they were moved to.
 *
 * A file or link that gives way to a directory, or the other way round, is one step too: the kernel
 * exchanges the two names. The new directory is filled under the temporary name before, and the old
 * one holds nothing but files of the change when it goes; those have no steps of their own.
 *
 * Directories are made under a temporary name too, `.cordon-<id>-d<n>.tmp` with all that lies
 * below, and get their own when the journal knows their inodes: so nobody else's is ever taken for
 * ours.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_CHANGE_H
#define PATH_CHANGE_H

#include "base/err.h"
#include "path/rootid.h"
#include "path/stamp.h"

#include <limits.h>

enum {
    CHANGE_MAX_FILES = 200 * 1000,
    CHANGE_MAX_DIRS = 100 * 1000,
    CHANGE_ID = 17,    /* 16 hex digits and NUL */
    CHANGE_NAME = 64,  /* longest temporary name; independent of the target's, which may have 255 */
    CHANGE_HELD = 512, /* directories held open, at most; fewer where the limit is low */
    CHANGE_SYNC_WHOLE = 8, /* more files than this: their file systems are synced at once */
};

enum change_kind {
    CHANGE_CREATE,
    CHANGE_UPDATE,
    CHANGE_DELETE,
    CHANGE_TO_DIR,  /* a file or link becomes a directory with the files created below it */
    CHANGE_TO_FILE, /* a directory becomes a file or link; the files deleted below it are all in it
                     */
};

struct change_op {
    enum change_kind kind;
    struct str rel;   /* relative to the root, NUL-terminated */
    struct stamp old; /* what stands at the target before; nothing for a create */
    struct stamp new; /* what stands there after; nothing for a delete */
    size_t carrier;   /* goes with the directory of operation carrier - 1; 0: has its own step */
};

struct change_dir {
    struct str rel;
    ino_t ino; /* of the one that we made; 0: not made yet */
    size_t op; /* it is the new version of operation op - 1, a CHANGE_TO_DIR; 0: it is not */
};

struct change_held; /* directories that a living writer holds open */

struct change {
    int root_fd; /* borrowed */
    struct str root;
    struct rootid root_id;
    char id[CHANGE_ID];
    struct change_dir *dirs; /* to be made, parents first */
    size_t n_dirs;
    struct change_op *ops;
    size_t n_ops;
    bool tidy;           /* directories that deletions leave empty go at the end */
    size_t n_kept;       /* old versions that could not go back */
    char kept[PATH_MAX]; /* the first of them, relative to the root */
    size_t n_lost;       /* files of which the old version was not found */
    char lost[PATH_MAX]; /* the first of them, relative to the root */
    struct change_held *held;
};

/* A relative path of plain components: no "", ".", "..", NUL, no slash at either end. */
bool change_rel_ok(struct str rel);
bool change_id_ok(struct str id);
bool change_is_below(struct str rel, struct str dir);
/* The order of a change, in which everything below a directory stands together. */
int change_order(struct str a, struct str b);
/* Finds out which files go with which directory, and which directories are new versions. False: no
 * plan of ours has this form. */
MUST_USE bool change_bind(struct change *c);

/* Where a file of the change lives: its directory, and the names in there. */
struct change_place {
    int dir_fd;
    bool borrowed; /* it is one of those held */
    const char *name;
    char temp[CHANGE_NAME];
    char spare[CHANGE_NAME]; /* only where the file system can't exchange two names */
    char kept[CHANGE_NAME];
};

#define AUTO_PLACE AUTO(change_place_close)
/* Under which name its new version is made: in a directory that is itself a new version, its own.
 */
const char *change_staged_name(const struct change *c, size_t i, const struct change_place *at);
/* By its path, which is followed once in each pass over the files. A directory that is not the one
 * held is E_CONFLICT. */
MUST_USE bool change_place_open(
    const struct change *c, size_t i, struct change_place *ret_place, struct err *err);
/* The directory held, or else by its path; one that is gone, or was replaced by a link, is no
 * error: not found. */
MUST_USE bool change_place_find(const struct change *c, size_t i, struct change_place *ret_place,
    bool *ret_found, struct err *err);
void change_place_close(struct change_place *place);

/* Opens the directory that a path lies in and gives the last component. -1: errno. */
int change_parent_open(int root_fd, struct str rel, const char **ret_name);
/* Says why a path below the root can't be opened: a link or a way out is E_FS_VIOLATION; that it is
 * not there any more is E_CONFLICT. */
bool change_open_error(struct err *err, int errnum, struct str rel);
/* A parent that is gone, or is no longer a plain directory: its files are not ours to reach. */
bool change_is_gone(int errnum);
/* E_CONFLICT about a path, "'x' <what>: read it again and repeat the change". */
bool change_conflict(struct err *err, struct str rel, const char *what);
/* unlinkat; a name that isn't there is gone, whatever the file system says to the attempt. */
int change_unlink(int dir_fd, const char *name, int flags);

/* Opens the directory of each file, up to a limit, and keeps them until the release. */
MUST_USE bool change_hold(struct change *c, struct err *err);
void change_release(struct change *c);
/* Begins a pass: paths of directories are followed again. Holding them was the first. */
void change_next_pass(const struct change *c);
/* A second link to an old version is about to be made. */
void change_note_spare(const struct change *c);

/* Where a file's step stands. */
enum change_status {
    CHANGE_TODO,
    CHANGE_DONE,
    CHANGE_BLOCKED, /* can't be done without losing what somebody else did */
};
MUST_USE bool change_look(
    struct change *c, size_t i, enum change_status *ret_status, struct err *err);

/* One file to its new state; E_CONFLICT if the target is not as it was. After a failure the file
 * may be half way: change_back() brings it back. */
MUST_USE bool change_forward(const struct change *c, size_t i, struct err *err);
/* Once more after all steps: nobody wrote into an old version while it was replaced, and a living
 * writer's directories are still those that it worked in. */
MUST_USE bool change_verify(const struct change *c, size_t i, struct err *err);
/* One file to its old state, from wherever it is. Counts it as lost if it can't be found. */
MUST_USE bool change_back(struct change *c, size_t i, struct err *err);

/* Before the first file is replaced no temporary name holds an old version. False in *ret_staged:
 * the i-th does. */
MUST_USE bool change_is_staged(const struct change *c, size_t i, bool *ret_staged, struct err *err);
/* Something of the change is here, or every file that can be found is as before or as after. */
MUST_USE bool change_is_here(const struct change *c, bool *ret_here, struct err *err);
/* Counts the files whose directories can't be found. */
MUST_USE bool change_find_lost(struct change *c, struct err *err);

/* A living writer with many files does not sync them one by one, which costs a disk's turn each,
 * but the file systems that they are on, in change_sync(): where that is known to do the same, and
 * the directory is held, so that its descriptor hears of what went wrong since then. */
bool change_syncs_whole(const struct change *c, size_t i);
/* Makes every name durable, and each file for which that holds. */
MUST_USE bool change_sync(const struct change *c, struct err *err);

/* One file in a directory that is there: replaced or not, there is nothing between, and some syncs
 * that keep several files in step are not needed. */
static inline bool change_is_single(const struct change *c)
{
    return c->n_ops == 1 && c->n_dirs == 0 && c->ops[0].kind != CHANGE_TO_FILE;
}
/* Unlinks the temporary names. A directory under one goes with what the change knows in it; what
 * else is there, is kept aside. */
MUST_USE bool change_clean(struct change *c, struct err *err);
/* Removes the directories that deletions left empty, if that was asked for; those that can't be,
 * stay. */
MUST_USE bool change_tidy(const struct change *c, struct err *err);

/* Directories that become files, or were files (see CHANGE_TO_DIR): is in this one what the change
 * knows, and nothing else? With `writable` it must be possible to take it out, too. */
MUST_USE bool shape_look(const struct change *c, size_t i, int parent_fd, const char *name,
    bool writable, bool *ret_known, struct err *err);
/* Makes the content of new directories durable, before they have their names. */
MUST_USE bool shape_sync(const struct change *c, struct err *err);
/* What change_clean() does with such a directory. */
MUST_USE bool shape_clean(
    struct change *c, size_t i, const struct change_place *at, struct err *err);
/* A version that can't go to its place stays beside it, under a name of its own. */
MUST_USE bool change_keep_aside(struct change *c, const struct change_place *at,
    const struct change_op *op, const char *from, struct err *err);
static inline bool change_is_shape(const struct change_op *op)
{
    return op->kind == CHANGE_TO_DIR || op->kind == CHANGE_TO_FILE;
}

/* Makes the directories under temporary names and notes their inodes. */
MUST_USE bool change_make_dirs(struct change *c, struct err *err);
/* Gives them their own names; E_CONFLICT if somebody else was faster. */
MUST_USE bool change_show_dirs(const struct change *c, struct err *err);
/* Removes those that were made and are empty, under either name. */
MUST_USE bool change_drop_dirs(const struct change *c, struct err *err);

#endif
