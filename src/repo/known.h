/* Private to src/repo: the state of protected things when a session began. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_KNOWN_H
#define REPO_KNOWN_H

#include "repo/parts.h"
#include "repo/protect.h"
#include "repo/rebase.h"

#include <sys/stat.h>

/* A name as it was: absent, a link with its target, or something that a mount keeps. */
struct known_name {
    mode_t type; /* S_IFMT bits; 0: absent */
    struct str target;
};

/* A file of settings as it was before the command at work. */
struct known_text {
    ino_t ino;
    off_t size;
    struct timespec changed;
    struct str text;
    size_t room; /* for a text that replaces it; 0: it is read only */
};

enum {
    KNOWN_TEXTS = 2, /* config, config.worktree: the first parts of a git directory */
    KNOWN_NAMED_MAX = 5000,
    KNOWN_LINKS_MAX = 10 * 1000,
    KNOWN_WAYS_MAX = 5000,
    AGAIN_ARENA = 256 << 20,
    KNOWN_ARENA_SPARE = 64 << 20, /* with less, texts are not remembered: all in them is new */
    KNOWN_ANY_DEVICE = 0,         /* of a session that was cut off: numbers of devices change */
};

/* The git directory and the common directory of a place (repo/lead.h); 0: none. */
struct known_lead {
    bool known;
    dev_t dev, common_dev;
    ino_t ino, common_ino;
};

struct known {
    enum scan_kind kind;
    struct str path; /* from the root */
    dev_t dev;
    ino_t ino;
    struct known_name self; /* of a link */
    struct known_name parts[PARTS_MAX];
    struct known_text texts[KNOWN_TEXTS];
    bool dormant;   /* git takes it for no repository yet: not the user's if that changes */
    bool awake;     /* it is dormant, and since the last command git takes it for one */
    bool info_link; /* `info` is a link of the user's */
    struct known_lead lead;
    bool moved; /* since the last command git finds another directory from there */
    struct known_text steps[REBASE_FILES]; /* their text: what runs programs */
    struct known_text index;               /* as it was looked at last; no text */
    bool open_links; /* it has entries for repositories that a command made: looked at each time */
};

/* A file or directory that settings name. */
struct known_named {
    struct str path; /* absolute */
    mode_t type;
    bool settings; /* it is a file of settings itself */
    bool word;     /* a word of a command: it acts if it is a file */
};

/* An entry of an index that is a repository of its own. */
struct known_gitlink {
    struct str repository; /* the directory with the index, from the root */
    struct str path;       /* in the work tree */
};

/* A link on the way to a hook or to a file that settings name, or in a repository's directory. */
struct known_way {
    struct str path; /* from the root */
    struct known_name then;
};

/* A place after a check, and each of its parts: another number if it is changed later. */
struct known_stamp {
    struct scan_place place;
    uint64_t self;
    uint64_t parts[PARTS_MAX];
};

struct protect_root {
    int fd;
    struct str path;
    struct scan scan;
    struct known *known;
    size_t n_known;
    struct known_named *named;
    size_t n_named;
    const struct protect_root *before; /* the earlier state, while it is learned again; or NULL */
    struct known_gitlink *links;
    size_t n_links;
    struct known_way *ways;
    size_t n_ways;
    struct known_stamp *stamps;
    size_t n_stamps;
};

/* How a name in a directory looks now. The target is in the arena. */
struct known_name known_look(int dir, const char *name, struct arena *a);
bool known_same(const struct known_name *a, const struct known_name *b);

/* What was there at this path when the session began; directories must be the same ones. */
const struct known *known_find(const struct protect_root *r, const struct scan_place *place);

/* Opens a directory of the tree, links and mounts made since refused. */
int known_open(const struct protect_root *r, struct str path);

/* The text of an absolute path. */
struct str known_absolute(const struct protect_root *r, struct str path, struct arena *a);

/* Whether a file is the one that was read, and not changed since. */
bool known_is(int dir, const char *name, const struct known_text *text);

/* Reads a file of settings, if it has changed since; false: it has not. Its text takes the place of
 * the one before. Without room for it in the arena it has no inode. */
bool known_read(int dir, const char *name, struct known_text *text, struct arena *a);

/* Without roots; a root of it, which owns the descriptor; room for what is known of it. */
struct protect *known_new(const struct protect_options *options);
void known_open_root(struct protect *p, struct protect_root *r, int fd, struct str path);
void known_make_room(struct protect *p, struct protect_root *r, size_t places);

/* Learns the present state of a root, but for names (repo/names.h); with `before` set, by
 * comparison with it (repo/again.h). */
void known_root(struct protect *p, struct protect_root *r);

/* check.c: whether git takes the HEAD of a directory for one. */
bool known_has_head(int dir);

/* Something that people must know: what was not looked at, why, what to do. Kept for the session.
 */
void known_warn(struct protect *p, const char *format, ...) PRINTF_LIKE(2, 3);

/* check.c: adds to the list of things set aside, texts copied. */
void known_report(struct protect *p, const struct protect_held *held);

/* Whether it could not be moved. */
static inline bool known_is_stuck(const struct protect_held *held)
{
    return held->errnum || held->why.n;
}

/* check.c: moves a path of a root aside, and reports it; whether the user has agreed to the file
 * there. */
void check_set_aside(struct protect *p, struct protect_root *r, struct str path, struct str what);
bool check_accepts(struct protect *p, struct protect_root *r, struct str path);

/* check.c: whether nothing of a place would be set aside if it was not known. */
bool check_passes(struct protect *p, struct protect_root *r, const struct scan_place *place);

/* check.c: sets aside what must not stay of a place; whether there was any. */
bool check_found(struct protect *p, struct protect_root *r, const struct scan_place *place);

/* check.c: compares a root with what was known, and sets aside. */
void check_root(struct protect *p, struct protect_root *r);

#endif
