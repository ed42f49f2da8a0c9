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
 * everything else is a descriptor and a name.
 */
#ifndef PATH_CHANGE_H
#define PATH_CHANGE_H

#include "base/err.h"
#include "path/stamp.h"

#include <limits.h>

enum {
    CHANGE_MAX_FILES = 10000,
    CHANGE_MAX_DIRS = 10000,
    CHANGE_ID = 17,   /* 16 hex digits and NUL */
    CHANGE_NAME = 64, /* longest temporary name; independent of the target's, which may have 255 */
};

enum change_kind {
    CHANGE_CREATE,
    CHANGE_UPDATE,
    CHANGE_DELETE,
};

struct change_op {
    enum change_kind kind;
    struct str rel;   /* relative to the root, NUL-terminated */
    struct stamp old; /* what stands at the target before; nothing for a create */
    struct stamp new; /* what stands there after; nothing for a delete */
};

struct change_dir {
    struct str rel;
    bool foreign; /* somebody else made it first: not ours to remove */
};

struct change {
    int root_fd; /* borrowed */
    struct str root;
    dev_t root_dev;
    ino_t root_ino;
    char id[CHANGE_ID];
    struct change_dir *dirs; /* to be made, parents first */
    size_t n_dirs;
    struct change_op *ops;
    size_t n_ops;
    size_t n_kept;       /* old versions that could not go back */
    char kept[PATH_MAX]; /* the first of them, relative to the root */
};

/* A relative path of plain components: no "", ".", "..", NUL, no slash at either end. */
bool change_rel_ok(struct str rel);
bool change_id_ok(struct str id);

/* Where a file of the change lives: its directory, and the names in there. */
struct change_place {
    int dir_fd;
    const char *name;
    char temp[CHANGE_NAME];
    char spare[CHANGE_NAME]; /* only where the file system can't exchange two names */
    char kept[CHANGE_NAME];
};

#define AUTO_PLACE AUTO(change_place_close)
MUST_USE bool change_place_open(
    const struct change *c, size_t i, struct change_place *ret_place, struct err *err);
/* The same, but a directory that is gone, or was replaced by a link, is no error: not found. */
MUST_USE bool change_place_find(const struct change *c, size_t i, struct change_place *ret_place,
    bool *ret_found, struct err *err);
void change_place_close(struct change_place *place);

/* Opens the directory that a path lies in and gives the last component. -1: errno. */
int change_parent_open(int root_fd, struct str rel, const char **ret_name);
/* Says why a path below the root can't be opened: a link or a way out is E_FS_VIOLATION; that it is
 * not there any more is E_CONFLICT. */
bool change_open_error(struct err *err, int errnum, struct str rel);

/* Where a file's step stands. */
enum change_status {
    CHANGE_TODO,
    CHANGE_DONE,
    CHANGE_BLOCKED, /* can't be done without losing what somebody else did */
};
MUST_USE bool change_look(
    const struct change *c, size_t i, enum change_status *ret_status, struct err *err);

/* One file to its new state; E_CONFLICT if the target is not as it was. After a failure the file
 * may be half way: change_back() brings it back. */
MUST_USE bool change_forward(const struct change *c, size_t i, struct err *err);
/* Once more after all steps: nobody wrote into an old version while it was replaced. */
MUST_USE bool change_verify(const struct change *c, size_t i, struct err *err);
/* One file to its old state, from wherever it is. */
MUST_USE bool change_back(struct change *c, size_t i, struct err *err);

MUST_USE bool change_make_dirs(struct change *c, struct err *err);
/* Makes every name durable. */
MUST_USE bool change_sync(const struct change *c, struct err *err);
/* Unlinks the temporary names. */
MUST_USE bool change_clean(const struct change *c, struct err *err);
/* Removes the directories that were made and are empty. */
MUST_USE bool change_drop_dirs(const struct change *c, struct err *err);

#endif
