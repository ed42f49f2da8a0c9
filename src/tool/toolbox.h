/* Where tools work: the roots that they may touch, how commands are confined, who is asked, who is
 * told.
 *
 *     struct toolbox_options options = {.mode = TOOLBOX_RESTRICTED, .dir = "."};
 *     struct toolbox *box;
 *     if (!toolbox_open(&options, &box, err)) return false;
 *     ...tool_call(box, ...)...
 *     toolbox_close(box);          ends what still runs
 *
 * No path is used as a string: tools open through the boundary and get descriptors.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_TOOLBOX_H
#define TOOL_TOOLBOX_H

#include "base/id.h"
#include "path/boundary.h"
#include "path/stamp.h"
#include "policy/policy.h"
#include "tool/approve.h"
#include "tool/event.h"

enum {
    TOOLBOX_FILE_MAX = 64 << 20, /* bytes of a file that is read whole */
};

enum toolbox_mode {
    TOOLBOX_RESTRICTED,   /* the working directory, exactly */
    TOOLBOX_WORKSPACE,    /* the project to read, an agent's workspace to write */
    TOOLBOX_UNRESTRICTED, /* any path */
    TOOLBOX_MODES,
};

struct tool_result;
struct writer_plan;

/* Who keeps what is about to be replaced. `begin` may refuse; after it there is always an `end`,
 * unless the process ends before. */
struct toolbox_keeper {
    bool (*begin)(void *context, const struct writer_plan *plan, struct err *err);
    void (*end)(void *context, bool changed);
    void *context;
};

struct toolbox_options {
    enum toolbox_mode mode;
    int root_fd;      /* restricted: the root; workspace: the project; unrestricted: not used */
    int workspace_fd; /* workspace: where it may write */
    const char *cwd;  /* where relative paths start; absolute */
    const char *home; /* the user's, or NULL */
    const char *journal_dir;     /* for the writer */
    const char *log_dir;         /* for output that was cut; made when it is needed */
    const struct policy *policy; /* for commands; NULL: made from the mode */
    const struct str *own;       /* files that commands must not change; absolute, clean */
    size_t n_own;
    bool no_sandbox; /* acknowledged by the caller */
    bool landlock;   /* the weaker sandbox, acknowledged by the caller */
    struct approve_options approve;
    struct tool_event_sink events;
    struct toolbox_keeper keeper; /* no functions: nobody */
    struct remote *remote;        /* where calls are carried out (tool/remote.h); NULL: here */
    int signals;                  /* -1, or a signalfd: the call at work is to end */
    bool one_call;                /* sessions end with the call that starts them */
    /* What was set aside when the last command had ended (repo/protect.h). May be NULL. */
    void (*tell_held)(void *context, struct str text);
    void *held_context;
    /* What of it the user has agreed to (protect_options.accepted). May be NULL. */
    bool (*accepts)(void *context, struct str path, struct str bytes);
    void *accepts_context;
    struct str_list settings; /* protect_options.settings */
    const char *sessions;     /* protect_options.sessions */
    /* What a call has made of files (tool/plan.h), before its result is there. May be NULL. */
    void (*tell_diff)(void *context, struct str diff);
    void *diff_context;
    /* A signal ends what a tool does that waits for nothing: this is its result. In a thread of its
     * own; tells of it, and ends the process. NULL: such a tool goes on to its end. */
    void (*called_off)(void *context, const struct tool_result *result);
    void *context;
};

struct toolbox {
    const struct toolbox_options *options;
    struct boundary *boundary;
    struct approve approve;
    struct str root;      /* what results are relative to; unless unrestricted */
    struct str workspace; /* of that mode */
    struct str approved;  /* where a person or a rule lets the call at work write; no value: all */
    struct str planned;   /* the diff that a person said yes to; no value: nobody was asked */
    bool by_user;         /* the call is a person's own: nobody is asked */
    int signal;           /* that a call took from `signals`, the last one; 0: none */
    uint64_t calls;
    char id[ID_SIZE];               /* tells its events from those of others */
    struct guard *guard;            /* of the call at work, or NULL */
    struct tool_sessions *sessions; /* of exec_command; NULL: none yet */
    struct protect *protect;        /* repositories; NULL: no command ran yet */
    bool made_parts;                /* the call at work wrote names that make a repository */
};

extern const char *const toolbox_mode_names[TOOLBOX_MODES + 1]; /* ends in NULL */

/* The options must live as long as the box. */
MUST_USE bool toolbox_open(
    const struct toolbox_options *options, struct toolbox **ret_box, struct err *err);
void toolbox_close(struct toolbox *box); /* accepts NULL */

/* What a path leads to, and whether it may be written. E_FS_VIOLATION otherwise. */
MUST_USE bool toolbox_resolve(struct toolbox *box, struct str path, bool to_write, struct arena *a,
    struct resolved *ret_resolved, struct err *err);

/* Opens a directory, with these flags; the hint is put behind the message about what is none.
 * E_NOT_FOUND for what is not there. */
MUST_USE int toolbox_open_dir(struct toolbox *box, struct str path, int flags, const char *hint,
    struct arena *a, struct resolved *ret_where, struct err *err);

/* Opens a regular file that was resolved, to read; the path is for messages. E_NOT_FOUND for what
 * is not there, E_IO for what is no file. */
MUST_USE int toolbox_open_file(
    const struct resolved *where, struct str path, struct stat *ret_st, struct err *err);

/* The same, read whole. */
struct tool_file {
    struct resolved where;
    struct stamp stamp;
    struct buf content;
};
#define AUTO_TOOL_FILE AUTO(tool_file_done)
void tool_file_done(struct tool_file *file);
MUST_USE bool toolbox_read(struct toolbox *box, struct str path, bool to_write, struct arena *a,
    struct tool_file *ret_file, struct err *err);

/* Whether somebody wants the call at work to end, for tools that go through many files; context is
 * the box. Nobody need ask where a guard looks (tool/guard.h). */
bool toolbox_called_off(void *box);

/* How results name it: relative to the root where it lies in it. */
struct str toolbox_name(const struct toolbox *box, const struct resolved *where);

/* Looks for repositories below these directories, the first time. */
void toolbox_protect(struct toolbox *box, const struct str *roots, size_t n);
/* After a call: sets aside what must not stay, and says so in the result. */
void toolbox_check(struct toolbox *box, struct tool_result *result);

/* A writer for the root that holds this; commits through the box's journal. */
struct writer;
struct writer_result;
MUST_USE bool toolbox_writer(
    struct toolbox *box, const struct resolved *where, struct writer **ret_writer, struct err *err);
/* The only way to commit: what is begun here no interruption cuts off. */
MUST_USE bool toolbox_commit(
    struct toolbox *box, struct writer *writer, struct writer_result *ret_written, struct err *err);

#endif
