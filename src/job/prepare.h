/* Turns a command and its options into something that can be run: the policy, the changes that
 * options make to it, the verdict, the plan, the record.
 *
 *     struct prepared p = {.arena = arena, .options = &options, .argv = argv, ...};
 *     bool ok = prepare_policy(&p, err) && prepare_run(&p, err) && ...job/job.h...;
 *     prepared_done(&p);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_PREPARE_H
#define JOB_PREPARE_H

#include "job/consent.h"
#include "record/artifacts.h"
#include "session/confined.h"

struct prepare_options {
    const char *policy;
    const char *preset;
    const char *root;
    const char *cwd;
    const char *artifacts;
    struct str_list read, write, exec, hosts; /* added to the policy; as typed */
    bool explain;                             /* for the CLI command: explain instead of running */
    const char
        *sandbox; /* one of POLICY_SANDBOX_OPTIONS, instead of the policy's; NULL: not given */
    bool no_sandbox, network, strict_write;
    bool no_denials; /* don't collect what is denied while it runs */
    struct consent ack;
};

/* The entries of a list of the policy that options added. */
struct prepare_added {
    size_t first, n;
};

/* Everything needed to run a command, in the order in which it becomes known. */
struct prepared {
    struct arena *arena;
    const struct prepare_options *options;
    const char *const *argv;    /* as typed; terminated by NULL */
    const struct policy *given; /* a scenario's own policy; options->policy takes precedence */
    enum consent_author author; /* author of that policy */
    struct str origin;          /* directory of the document that contains it; may have no value */
    const char *document;       /* argument for `cordon trust`; NULL: none */
    struct str unused_dir;      /* a working directory that no policy may name; no value: none */
    const char *unused_why;     /* the reason */
    /* Returns true if the user has trusted that document permanently; may be NULL. If such trust
     * has ended, the reason goes to *ret_note. */
    bool (*is_trusted)(void *context, const char **ret_note);
    void *trust_context;
    struct str start;    /* working directory set by a scenario; options->cwd takes precedence */
    struct str replays;  /* a recording that is replayed: not written, and hidden */
    const char *program; /* the program for argv[0]; NULL: argv[0] itself */
    const char *const *environ; /* environment that a policy may inherit from; NULL: our own */
    struct str cwd;             /* our own working directory */
    struct confined confined;   /* policy, verdict, plan and environment */
    struct prepare_added read, write, exec;
    struct buf refused; /* report of the proxy, if there was one */
    bool landlock; /* the user's settings choose and acknowledge it, unless overridden by a flag */
    bool by_settings; /* the settings chose landlock */
    struct policy_host host;
    struct consent_needs needs; /* missing acknowledgements */
    const char *trust_note;
    struct str hidden;
    struct str_list own; /* files that the command must not change: see prepare_keep() */
    size_t cap_own;
    struct protect *protect; /* protected repositories in writable directories; NULL: none */
    bool (*accepts)(void *context, struct str path,
        struct str bytes); /* protect_options.accepted; may be NULL */
    void *accepts_context;
    struct str_list settings; /* protect_options.settings */
    const char *sessions;     /* protect_options.sessions */
    bool idle;                /* protect_options.idle */
    struct artifacts artifacts;
    struct err record_error; /* why the record is incomplete; no code: it is complete */
};

/* Makes a file or directory that controls this or a later run (a scenario, settings) read-only
 * inside, wherever it is. The policy is added automatically. */
void prepare_keep(struct prepared *p, struct str path);

/* Loads, edits and validates the policy; denials are in the verdict, missing acknowledgements
 * first. */
MUST_USE bool prepare_policy(struct prepared *p, struct err *err);

/* Returns true if the verdict allows the command; otherwise the error has every missing
 * acknowledgement, or the first denial. */
MUST_USE bool prepared_ok(const struct prepared *p, struct err *err);

/* Makes only the plan; the verdict must allow the command. */
MUST_USE bool prepare_plan(struct prepared *p, struct err *err);

/* Makes the record, the plan and the environment, if the verdict allows the command. */
MUST_USE bool prepare_run(struct prepared *p, struct err *err);

/* After the command has ended: sets aside its forbidden changes in repositories (repo/protect.h).
 * Otherwise prepared_done() does this. */
void prepare_check(struct prepared *p);

/* Returns the record, or NULL. */
struct artifacts *prepared_record(struct prepared *p);

/* Writes the last files of the record, if there is one. If it is incomplete, that becomes the
 * result's error, and is in `record_error`. */
void prepare_finish(struct prepared *p, json_t *result);
void prepared_done(struct prepared *p);

#endif
