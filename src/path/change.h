/* A change of several files below one root, and the steps that apply and undo it.
 *
 *     change_forward(&change, i, err)      puts file i into its new state
 *     change_back(&change, i, err)         ...or back into its old one, whatever was done so far
 *     change_clean(&change, err)           removes temporary names and unused directories
 *
 * Each file has a temporary name beside it, `.cordon-<id>-<n>.tmp`: before its step that is the new
 * file, after it the old one. So checking both names tells whether the step was done, and every
 * step can be repeated and reversed: writer and recovery use the same ones.
 *
 * No step ever unlinks a file that it doesn't know. A file that another program put at a target in
 * the meantime stays there; if the old version then can't be restored, it is kept beside it as
 * `.cordon-<id>-<n>.kept`.
 *
 * No path is trusted: parents are opened below the root's descriptor with symlinks refused,
 * everything else uses a descriptor and a name. A live writer holds the directories in which it
 * started (change_hold), and rolls back and cleans up through them, wherever they were moved to.
 *
 * Replacing a file or symlink by a directory, or the other way round, is also one step: the kernel
 * exchanges the two names. The new directory is filled under the temporary name beforehand, and the
 * old one must contain nothing but files of the change when it is removed; those have no separate
 * steps.
 *
 * Directories are also created under a temporary name, `.cordon-<id>-d<n>.tmp`, with everything
 * below them, and get their final name once the journal has their inodes: so a directory of another
 * program is never mistaken for ours.
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
    CHANGE_HELD = 512, /* maximum directories held open; fewer if RLIMIT_NOFILE is low */
    CHANGE_SYNC_WHOLE = 8, /* above this number of files, use syncfs() instead of fsync() */
};

enum change_kind {
    CHANGE_CREATE,
    CHANGE_UPDATE,
    CHANGE_DELETE,
    CHANGE_TO_DIR,  /* a file or symlink becomes a directory with the files created below it */
    CHANGE_TO_FILE, /* a directory, whose files are all deleted, becomes a file or symlink */
};

struct change_op {
    enum change_kind kind;
    struct str rel;   /* relative to the root, NUL-terminated */
    struct stamp old; /* file at the target before; empty for a create */
    struct stamp new; /* file at the target afterwards; empty for a delete */
    size_t carrier;   /* moves with the directory of operation carrier - 1; 0: has its own step */
};

struct change_dir {
    struct str rel;
    ino_t ino; /* of the directory we created; 0: not created yet */
    size_t op; /* new version of operation op - 1, a CHANGE_TO_DIR; 0: none */
};

struct change_held; /* directories that a live writer holds open */

struct change {
    int root_fd; /* borrowed */
    struct str root;
    struct rootid root_id;
    char id[CHANGE_ID];
    struct change_dir *dirs; /* to be created, parents first */
    size_t n_dirs;
    struct change_op *ops;
    size_t n_ops;
    bool tidy;           /* remove directories that deletions leave empty at the end */
    bool any_mode;       /* also replaces and deletes files without write permission */
    bool dirs_owner;     /* root: new files and directories get the owner of their directory */
    size_t n_kept;       /* old versions that could not be restored */
    char kept[PATH_MAX]; /* the first of them, relative to the root */
    size_t n_lost;       /* files whose old version was not found */
    char lost[PATH_MAX]; /* the first of them, relative to the root */
    struct change_held *held;
};

/* A relative path of plain components: no "", ".", "..", NUL, no slash at either end. */
bool change_rel_ok(struct str rel);
bool change_id_ok(struct str id);
bool change_is_below(struct str rel, struct str dir);
/* The sort order of a change, which keeps everything below a directory together. */
int change_order(struct str a, struct str b);
/* Determines which files move with which directory, and which directories are new versions. Returns
 * false if the form is not one that the writer produces. */
MUST_USE bool change_bind(struct change *c);

/* The location of a file of the change: its directory, and the names in it. */
struct change_place {
    int dir_fd;
    bool borrowed; /* one of the held directories */
    const char *name;
    char temp[CHANGE_NAME];
    char spare[CHANGE_NAME]; /* only if the file system can't exchange two names */
    char kept[CHANGE_NAME];
};

#define AUTO_PLACE AUTO(change_place_close)
/* The name under which the new version is created: its final name inside a directory that is itself
 * a new version. */
const char *change_staged_name(const struct change *c, size_t i, const struct change_place *at);
/* Opens by path, which is followed once in each pass over the files. Fails with E_CONFLICT if the
 * directory is not the one held. */
MUST_USE bool change_place_open(
    const struct change *c, size_t i, struct change_place *ret_place, struct err *err);
/* Uses the held directory, or else the path; a directory that is gone or was replaced by a symlink
 * is not an error, but not found. */
MUST_USE bool change_place_find(const struct change *c, size_t i, struct change_place *ret_place,
    bool *ret_found, struct err *err);
void change_place_close(struct change_place *place);

/* Opens the parent directory of a path and returns the last component. -1: errno. */
int change_parent_open(int root_fd, struct str rel, const char **ret_name);
/* Reports why a path below the root can't be opened: E_FS_VIOLATION for a symlink or a path that
 * leaves the root, E_CONFLICT if it no longer exists. */
bool change_open_error(struct err *err, int errnum, struct str rel);
/* The parent is gone or no longer a plain directory: its files must not be touched. */
bool change_is_gone(int errnum);
/* E_CONFLICT about a path, "'x' <what>: read it again and repeat the change". */
bool change_conflict(struct err *err, struct str rel, const char *what);
/* unlinkat; a missing name counts as removed, whatever error the file system returns. */
int change_unlink(int dir_fd, const char *name, int flags);

/* Opens the directory of each file, up to a limit, and keeps them open until change_release(). */
MUST_USE bool change_hold(struct change *c, struct err *err);
void change_release(struct change *c);
/* Starts a pass: paths of directories are followed again. Holding them was the first pass. */
void change_next_pass(const struct change *c);
/* Records that a second link to an old version is about to be created. */
void change_note_spare(const struct change *c);

/* State of a file's step. */
enum change_status {
    CHANGE_TODO,
    CHANGE_DONE,
    CHANGE_BLOCKED, /* can't be done without losing another program's change */
};
MUST_USE bool change_look(
    struct change *c, size_t i, enum change_status *ret_status, struct err *err);

/* Puts one file into its new state; E_CONFLICT if the target has changed. After a failure the step
 * may be half done: change_back() undoes it. */
MUST_USE bool change_forward(const struct change *c, size_t i, struct err *err);
/* Final check after all steps: no old version was written to while it was being replaced, and a
 * live writer's directories are still the ones that it worked in. */
MUST_USE bool change_verify(const struct change *c, size_t i, struct err *err);
/* Puts one file back into its old state, whatever its current one. Counts it as lost if it can't be
 * found. */
MUST_USE bool change_back(struct change *c, size_t i, struct err *err);

/* Before the first file is replaced, no temporary name holds an old version. *ret_staged is false
 * if the i-th one does. */
MUST_USE bool change_is_staged(const struct change *c, size_t i, bool *ret_staged, struct err *err);
/* Whether a part of the change is here, or every file that can be found is in its old or new
 * state. */
MUST_USE bool change_is_here(const struct change *c, bool *ret_here, struct err *err);
/* Counts the files whose directories can't be found. */
MUST_USE bool change_find_lost(struct change *c, struct err *err);

/* A live writer with many files syncs whole file systems in change_sync() instead of each file,
 * which would cost a disk flush each: only if syncfs() is known to be equivalent and the directory
 * is held, so that its descriptor reports errors that occurred since. */
bool change_syncs_whole(const struct change *c, size_t i);
/* Makes all names durable, and each file for which change_syncs_whole() holds. */
MUST_USE bool change_sync(const struct change *c, struct err *err);

/* One file in an existing directory: without intermediate states, some syncs that keep several
 * files consistent are not needed. */
static inline bool change_is_single(const struct change *c)
{
    return c->n_ops == 1 && c->n_dirs == 0 && c->ops[0].kind != CHANGE_TO_FILE;
}
/* Unlinks the temporary names. A directory under one is removed with the files that the change
 * knows; anything else in it is kept aside. */
MUST_USE bool change_clean(struct change *c, struct err *err);
/* Removes the directories that deletions left empty, if requested; ignores those that can't be
 * removed. */
MUST_USE bool change_tidy(const struct change *c, struct err *err);

/* For directories that become files or were files (see CHANGE_TO_DIR): checks that the directory
 * contains exactly what the change knows. With `writable`, its entries must also be removable. */
MUST_USE bool shape_look(const struct change *c, size_t i, int parent_fd, const char *name,
    bool writable, bool *ret_known, struct err *err);
/* Makes the content of new directories durable before they get their final names. */
MUST_USE bool shape_sync(const struct change *c, struct err *err);
/* The part of change_clean() for such a directory. */
MUST_USE bool shape_clean(
    struct change *c, size_t i, const struct change_place *at, struct err *err);
/* Keeps a version that can't be put in its place beside it, under a separate name. */
MUST_USE bool change_keep_aside(struct change *c, const struct change_place *at,
    const struct change_op *op, const char *from, struct err *err);
static inline bool change_is_shape(const struct change_op *op)
{
    return op->kind == CHANGE_TO_DIR || op->kind == CHANGE_TO_FILE;
}

/* With dirs_owner: gives a new file, symlink or directory to the owner of its directory. By its
 * descriptor: that owner may put another file in its place. Sets errno. */
MUST_USE bool change_give(const struct change *c, int dir_fd, int fd);

/* Creates the directories under temporary names and records their inodes. */
MUST_USE bool change_make_dirs(struct change *c, struct err *err);
/* Renames them to their final names; E_CONFLICT if such a name exists by now. */
MUST_USE bool change_show_dirs(const struct change *c, struct err *err);
/* Removes the created directories that are empty, under either name. */
MUST_USE bool change_drop_dirs(const struct change *c, struct err *err);

#endif
