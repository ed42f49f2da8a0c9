/* Private to src/repo: the state of protected files when a session began. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_KNOWN_H
#define REPO_KNOWN_H

#include "repo/parts.h"
#include "repo/protect.h"
#include "repo/rebase.h"

#include <sys/stat.h>

/* A name as it was: absent, a symlink with its target, or something that a mount protects. */
struct known_name {
    mode_t type; /* S_IFMT bits; 0: absent */
    struct str target;
    uint64_t ino; /* 0: unknown */
    int64_t born_ns;
};

/* A settings file as it was before the running command. */
struct known_text {
    ino_t ino;
    off_t size;
    struct timespec changed;
    struct str text;
    size_t room; /* capacity for a text that replaces it; 0: read-only */
};

enum {
    KNOWN_TEXTS = 2, /* config, config.worktree: the first parts of a git directory */
    KNOWN_NAMED_MAX = 5000,
    KNOWN_LINKS_MAX = 10 * 1000,
    KNOWN_WAYS_MAX = 5000,
    KNOWN_TREES_MAX = 8000,
    KNOWN_INDEXES = 256,
    KNOWN_INDEX_BYTES = 512 << 20, /* of all indexes that are read in a check */
    AGAIN_ARENA = 256 << 20,
    KNOWN_ARENA_SPARE = 64 << 20, /* with less, texts are not remembered: all in them is new */
    KNOWN_ANY_DEVICE = 0,         /* of an interrupted session: device numbers change */
};

/* The git directory and the common directory of a place (repo/gitdir_target.h); 0: none. */
struct known_lead {
    bool known;
    dev_t dev, common_dev;
    ino_t ino, common_ino;
};

struct known_place {
    enum scan_kind kind;
    struct str path; /* relative to the root */
    dev_t dev;
    ino_t ino;
    struct known_name self; /* of a symlink */
    struct known_name parts[PARTS_MAX];
    struct known_text texts[KNOWN_TEXTS];
    bool dormant;   /* git does not accept it as a repository yet: not the user's if that changes */
    bool awake;     /* it is dormant, but git accepts it as a repository since the last command */
    bool info_link; /* `info` is a symlink made by the user */
    struct known_lead lead;
    bool moved; /* since the last command git finds another directory from there */
    struct known_text steps[REBASE_FILES]; /* their text that runs programs */
    struct known_text index;               /* at the start or as of the last check; no text */
    bool open_links; /* it has entries for repositories that a command made: checked each time */
};

/* A file or directory that settings name. */
struct known_named {
    struct str path; /* absolute */
    mode_t type;
    bool settings; /* it is itself a settings file */
    bool word;     /* a word of a command: effective only if it is a file */
};

/* An index entry that is a separate repository. */
struct known_gitlink {
    struct str repository; /* the directory with the index, relative to the root */
    struct str path;       /* in the work tree */
};

/* A symlink on the path to a hook or to a file that settings name, or in a repository's
 * directory. */
struct known_way {
    struct str path; /* relative to the root */
    struct known_name then;
};

/* A work tree that a git directory names (repo/tree.h). */
struct known_tree {
    struct str git;  /* relative to the root */
    struct str path; /* absolute, or relative to the git directory */
};

/* An index of a repository that is not known: it was read, and has no entries for repositories. */
struct known_index {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec changed;
};

/* A place after a check, and each of its parts: the numbers differ after any later change. */
struct known_stamp {
    struct scan_place place;
    uint64_t self;
    uint64_t parts[PARTS_MAX];
};

struct protect_root {
    int fd;
    struct str path;
    struct repo_scan scan;
    struct known_place *known;
    size_t n_known;
    struct known_named *named;
    size_t n_named;
    const struct protect_root *before; /* the earlier state, while the root is relearned; or NULL */
    struct known_gitlink *links;
    size_t n_links;
    struct known_way *ways;
    size_t n_ways;
    struct known_tree *trees;
    size_t n_trees;
    struct known_stamp *stamps;
    size_t n_stamps;
    struct known_index indexes[KNOWN_INDEXES]; /* by inode */
    uint64_t index_bytes;                      /* that may still be read in this check */
};

/* Returns the present state of a name in a directory. The target is in the arena. */
struct known_name known_read_name(int dir, const char *name, struct arena *a);
bool known_name_equal(const struct known_name *a, const struct known_name *b);
/* Whether a name is no longer what a mount protected: it was removed, and is there again or not. */
bool known_name_replaced(const struct known_name *then, const struct known_name *now);

/* Returns what was at this path when the session began; directories must be identical. */
const struct known_place *known_find(const struct protect_root *r, const struct scan_place *place);

/* Opens a directory of the tree; refuses symlinks, and mounts made since. */
int known_open(const struct protect_root *r, struct str path);

/* Returns the absolute path. */
struct str known_absolute(const struct protect_root *r, struct str path, struct arena *a);

/* Returns true if a file is the one that was read, unchanged. */
bool known_text_unchanged(int dir, const char *name, const struct known_text *text);

/* Reads a settings file if it has changed since; returns false if it has not. Its text replaces the
 * previous one. If it does not fit in the arena, its inode is 0. */
bool known_update_text(int dir, const char *name, struct known_text *text, struct arena *a);

/* Remembers a symlink of the root by its path; returns false if there is no room. */
bool known_add_way(struct protect *p, struct protect_root *r, struct str path);
bool known_is_way(const struct protect_root *r, struct str path);

/* Creates a state without roots; opens a root, which takes ownership of the descriptor; allocates
 * the tables of a root. */
struct protect *known_new(const struct protect_options *options);
void known_open_root(struct protect *p, struct protect_root *r, int fd, struct str path);
void known_make_room(struct protect *p, struct protect_root *r, size_t places);

/* Learns the present state of a root, except for names (repo/named_paths.h); with `before` set, by
 * comparison with it (repo/relearn.h). */
void known_learn_root(struct protect *p, struct protect_root *r);

/* check.c: returns true if git accepts the HEAD of a directory as one. */
bool known_has_head(int dir);

/* Adds a warning for the user: what was not checked, why, and what to do. Kept for the session. */
void known_warn(struct protect *p, const char *format, ...) PRINTF_LIKE(2, 3);

/* check.c: adds to the list of held files; copies the texts. */
void protect_add_held(struct protect *p, const struct protect_held *held);

/* Returns true if it could not be moved. */
/* Returns the directory above a path that is relative to a root; "" is the root. */
static inline struct str known_above(struct str path)
{
    ptrdiff_t slash = str_find_last(path, '/');
    return slash < 0 ? STR("") : str_head(path, (size_t)slash);
}

static inline bool known_is_stuck(const struct protect_held *held)
{
    return held->errnum || held->why.n;
}

/* check.c: moves a path of a root aside and reports it; returns true if the user has accepted the
 * file there. */
void check_set_aside(struct protect *p, struct protect_root *r, struct str path, struct str what);
bool check_accepts(struct protect *p, struct protect_root *r, struct str path);

/* check.c: returns true if nothing of a place would be set aside if it were unknown. */
bool check_would_pass(struct protect *p, struct protect_root *r, const struct scan_place *place);

/* check.c: sets aside the forbidden parts of a place; returns true if there were any. */
bool check_one_place(struct protect *p, struct protect_root *r, const struct scan_place *place);

/* check.c: compares a root with its known state, and sets aside forbidden changes. */
void check_root(struct protect *p, struct protect_root *r);

#endif
