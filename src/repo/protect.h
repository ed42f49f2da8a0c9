/* Repositories against what runs beside them. Commands may commit, branch and stash; what makes git
 * run programs or look elsewhere (repo/parts.h) stays as it was.
 *
 *     struct protect *p = protect_new(&options);      looks for repositories
 *     n = protect_kept(p, &arena, &paths);            for host_plan(): read-only inside; begins
 *     ...a command runs...
 *     protect_check(p);                               what it left is set aside
 *     for (size_t i = 0; i < p->n_held; i++) ... p->held[i] ...
 *     protect_free(p);
 *
 * With options.sessions, a session that is cut off between begin and check is checked by the next
 * one (repo/unfinished.h).
 *
 * In a repository that was there at first, parts that exist are kept by the kernel. A part that was
 * not there, and everything in repositories that were made since, is looked at after each command,
 * on the host and without git: a hook, a setting that neither `git init` nor `git clone` writes, a
 * file that leads to another repository, an entry for such a repository in the index of one around
 * it are moved to `cordon-held` in the repository. They are named until the user moves them.
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
    PROTECT_HELD_MAX = 200, /* named; more are set aside and counted */
    PROTECT_FILE_MAX = 1 << 20,
    PROTECT_INDEX_MAX = 64 << 20,
    PROTECT_WARNINGS_MAX = 20,
};

/* Something that was set aside. */
struct protect_held {
    struct str path;  /* absolute, as it was */
    struct str where; /* absolute, where it lies now; no value: it could not be moved */
    struct str what;  /* "a hook", "the settings core.fsmonitor, alias.x" */
    int errnum;       /* why it could not be moved */
    struct str why;   /* the same in words, where no error number says it */
};

struct protect_options {
    const struct str *roots; /* directories that can be written; absolute, resolved */
    size_t n_roots;
    const struct str *own; /* what belongs to cordon itself is not set aside; absolute, clean */
    size_t n_own;
    const char *home;           /* of the user, whose git settings may name hooks; or NULL */
    const struct str *settings; /* files of the user's settings, there or not; absolute, clean */
    size_t n_settings;
    const char *sessions; /* directory for the state of open sessions; NULL: none is kept */
    bool idle; /* nothing runs: no state is kept, and what other sessions left is not touched */
    /* Whether the user has agreed to these bytes of a hook or of settings at this absolute path.
     * May be NULL. */
    bool (*accepted)(void *context, struct str path, struct str bytes);
    void *context;
};

struct protect_root;
struct watch;

struct protect {
    struct arena arena;
    struct arena facts;  /* what is known of the roots */
    struct arena stamps; /* of the last check */
    struct protect_options options;
    struct protect_root *roots;
    size_t n_roots;
    struct protect_held held[PROTECT_HELD_MAX];
    size_t n_held;       /* named */
    size_t n_unnamed;    /* for which there was no room */
    size_t n_reported;   /* ever */
    size_t n_new;        /* of the last check */
    bool news;           /* the last check set aside, or found removed, something */
    bool cut;            /* not all of the roots could be looked at */
    bool names_cut;      /* not all names that settings give could be looked at */
    bool busy;           /* commands of earlier calls still run: for the caller to set */
    bool no_mounts;      /* the sandbox can't keep parts from changes: for the caller to set */
    bool unchecked;      /* a command may have run since the last check */
    bool stuck;          /* the last check could not move something */
    bool checked;        /* what changes from now on is the user's */
    struct watch *watch; /* parts that no mount keeps; NULL: none */
    struct str warnings[PROTECT_WARNINGS_MAX];
    size_t n_warnings;
    const char *unkept;  /* why the state of the session is in no file; NULL: it is, or need not */
    const char *session; /* name of the file with the state; NULL: none */
    int session_fd;
    bool made_home; /* the directory above the file's was not there */
};

/* Roots that are gone are left out. What an earlier session left in them is set aside first. */
struct protect *protect_new(const struct protect_options *options);
void protect_free(struct protect *p); /* accepts NULL */

/* False without mounts, if the user's settings or cordon's own directory lie where the command can
 * write: E_SANDBOX_UNAVAILABLE. */
MUST_USE bool protect_allows(const struct protect *p, struct err *err);

/* Before anything is changed by a command or a tool: what is there is the user's. */
void protect_begin(struct protect *p);

/* The same, and what must not be changed now, as absolute paths in the arena. */
size_t protect_kept(struct protect *p, struct arena *a, struct str **ret_paths);

/* Sets aside what must not stay; lists what lies aside still. Unless commands still run (busy),
 * what happens until the next beginning is the user's. */
void protect_check(struct protect *p);

/* Whether a file that tools write must be left alone: a part of a repository on the way to it, or
 * named by settings of one. The path is resolved and starts at the only root of the options. */
bool protect_refuses(const struct protect_options *options, struct str path);

/* Begins a line about something else than what was set aside. */
#define PROTECT_WARNING "[warning] "

/* One line for each, for people and models. */
void protect_tell(const struct protect *p, struct buf *text);

/* The same as members of a result: "held": [{"path","held","what"}], "warnings": ["…"]; neither
 * if there is nothing to tell. Warnings that are there stay. */
void protect_put(const struct protect *p, json_t *object);

#endif
