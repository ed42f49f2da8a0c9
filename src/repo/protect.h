/* Protects repositories from commands that can write them. Commands may commit, branch and stash,
 * but the parts that make git run programs or use another location (repo/parts.h) stay unchanged.
 *
 *     struct protect *p = protect_new(&options);      searches for repositories
 *     n = protect_kept(p, &arena, &paths);            read-only paths for host_plan(); begins
 *     ...a command runs...
 *     protect_check(p);                               sets aside forbidden changes
 *     for (size_t i = 0; i < p->n_held; i++) ... p->held[i] ...
 *     protect_free(p);
 *
 * With options.sessions, a session that is interrupted between begin and check is checked by the
 * next one (repo/unfinished.h).
 *
 * In a repository that existed at the start, the kernel protects the existing parts (read-only
 * mounts). A part that did not exist, and everything in repositories created since, is checked
 * after each command, on the host and without git: hooks, settings that neither `git init` nor `git
 * clone` writes, files that point to another repository, and index entries of an enclosing
 * repository for such a repository are moved to `cordon-held` in the repository. They are listed
 * until the user moves them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_PROTECT_H
#define REPO_PROTECT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#include <sys/types.h>

enum {
    PROTECT_ROOTS_MAX = 64,
    PROTECT_HELD_MAX = 200, /* listed; any more are set aside and only counted */
    PROTECT_FILE_MAX = 1 << 20,
    PROTECT_INDEX_MAX = 128 << 20,
    PROTECT_WARNINGS_MAX = 20,
};

/* Something that was set aside (a held file). */
struct protect_held {
    struct str path;  /* absolute, the original path */
    struct str where; /* absolute, the new path; no value: it could not be moved */
    struct str what;  /* "a hook", "the settings core.fsmonitor, alias.x" */
    int errnum;       /* error number if it could not be moved */
    struct str why;   /* reason as text, in place of an error number */
};

struct protect_options {
    const struct str *roots; /* writable directories; absolute, resolved */
    size_t n_roots;
    const struct str *own; /* cordon's own paths, never set aside; absolute, clean */
    size_t n_own;
    const char *home;           /* the user's home, whose git settings may name hooks; or NULL */
    const struct str *settings; /* the user's settings files, existing or not; absolute, clean */
    size_t n_settings;
    const char *sessions; /* directory for the state of open sessions; NULL: not saved */
    bool autorun; /* also protect files that take effect without being started (repo/autorun.h) */
    const struct str *writable; /* except these, and those below them; absolute, clean */
    size_t n_writable;
    bool idle; /* nothing runs: save no state, leave the remains of other sessions alone */
    /* Returns true if the user has accepted these bytes of a hook or of settings at this absolute
     * path. May be NULL. */
    bool (*accepted)(void *context, struct str path, struct str bytes);
    void *context;
};

struct protect_root;
struct watch_list;
struct autorun;

struct protect {
    struct arena arena;
    struct arena facts;  /* known state of the roots */
    struct arena stamps; /* from the last check */
    struct protect_options options;
    struct protect_root *roots;
    size_t n_roots;
    struct protect_held held[PROTECT_HELD_MAX];
    size_t n_held;            /* listed */
    size_t n_unnamed;         /* not listed for lack of room */
    size_t n_reported;        /* total so far */
    size_t n_new;             /* in the last check */
    bool news;                /* the last check set something aside, or found something removed */
    bool cut;                 /* the roots could not be searched completely */
    bool names_cut;           /* not all names in settings could be followed */
    bool busy;                /* commands of earlier calls still run; set by the caller */
    bool no_mounts;           /* the sandbox cannot mount parts read-only; set by the caller */
    bool unchecked;           /* a command may have run since the last check */
    bool stuck;               /* the last check failed to move something */
    bool checked;             /* changes from now on are the user's */
    struct watch_list *watch; /* parts that no mount protects; NULL: none */
    struct autorun *autorun;  /* NULL: not looked for */
    struct str warnings[PROTECT_WARNINGS_MAX];
    size_t n_warnings;
    const char *unkept;  /* why the session state is not in a file; NULL: it is, or need not be */
    const char *session; /* name of the state file; NULL: none */
    int session_fd;
    bool made_home; /* the parent directory of the state directory did not exist */
};

/* Leaves out roots that do not exist. First sets aside the remains of an earlier session in
 * them. */
struct protect *protect_new(const struct protect_options *options);
void protect_free(struct protect *p); /* accepts NULL */

/* Without mounts, returns false (E_SANDBOX_UNAVAILABLE) if the user's settings or cordon's own
 * directory are where the command can write. */
MUST_USE bool protect_allows(const struct protect *p, struct err *err);

/* Call before a command or a tool changes anything: the present state is the user's. */
void protect_begin(struct protect *p);

/* Does the same and returns the paths that must not change now, absolute and in the arena. */
size_t protect_kept(struct protect *p, struct arena *a, struct str **ret_paths);

/* Sets aside forbidden changes and lists everything that is still held. Unless commands still run
 * (busy), changes until the next begin are the user's. */
void protect_check(struct protect *p);

/* A tool is about to write this file with the user's consent: it is not reported. */
void protect_expect(struct protect *p, struct str path);

/* Returns true if file-writing tools must not write this file: it is in a protected part of a
 * repository on its path, or named by the settings of one. The path is resolved and is below the
 * only root of the options. */
bool protect_refuses(const struct protect_options *options, struct str path);

/* Prefix of a line that is not about something set aside. */
#define PROTECT_WARNING "[warning] "

/* Appends one line for each held file and each warning, for people and models. */
void protect_print(const struct protect *p, struct buf *text);

/* Adds the same to a result: "held": [{"path","held","what"}], "warnings": ["…"]; omits a member
 * that would be empty. Existing warnings stay. */
void protect_add_json(const struct protect *p, json_t *object);

#endif
