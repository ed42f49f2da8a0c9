/* From a command and what is wished of it to something that can be run: the policy, what the wishes
 * change in it, the verdict, the plan, the record.
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
#include "sandbox/plan.h"

struct prepare_options {
    const char *policy;
    const char *preset;
    const char *root;
    const char *cwd;
    const char *artifacts;
    bool explain;        /* for the command: nothing is run */
    const char *sandbox; /* one of prepare_sandboxes, instead of the policy's; NULL: none given */
    bool no_sandbox, network, strict_write;
    struct consent ack;
};

/* "native", "landlock", "none"; ends in NULL. */
extern const char *const prepare_sandboxes[];
MUST_USE enum policy_sandbox prepare_sandbox_mode(const char *name);

/* Everything that a run of a command needs, in the order in which it becomes known. */
struct prepared {
    struct arena *arena;
    const struct prepare_options *options;
    const char *const *argv;    /* as it was typed; ends in NULL */
    const struct policy *given; /* a scenario's own policy; options->policy goes before it */
    enum consent_author author; /* of that policy */
    struct str origin;          /* the directory of the document that it is in; may have no value */
    const char *document;       /* what `cordon trust` is to be given for it; NULL: nothing */
    /* Whether the user has trusted that document once and for all; may be NULL. A reason why such
     * trust has ended goes to *ret_note. */
    bool (*is_trusted)(void *context, const char **ret_note);
    void *trust_context;
    struct str start;           /* where a scenario says that it starts; options->cwd goes first */
    struct str replays;         /* a recording that is replayed: not written, and hidden */
    const char *program;        /* what argv[0] means; NULL: itself */
    const char *const *environ; /* what a policy may inherit from; NULL: our own */
    struct str cwd;             /* our own */
    struct policy policy;
    bool landlock;    /* the user's settings choose and acknowledge it, unless a flag says more */
    bool by_settings; /* so they did */
    struct policy_host host;
    struct verdict verdict;
    struct consent_needs needs; /* acknowledgements that are missing */
    const char *trust_note;
    struct plan plan;
    const char *const *envp;
    struct str hidden;
    struct str_list own;     /* files that the command must not change: see prepare_keep() */
    struct protect *protect; /* repositories below a preset's root; NULL: none */
    bool (*accepts)(void *context, struct str path,
        struct str bytes); /* protect_options.accepted; may be NULL */
    void *accepts_context;
    struct str_list settings; /* protect_options.settings */
    const char *sessions;     /* protect_options.sessions */
    bool idle;                /* protect_options.idle */
    struct artifacts artifacts;
    struct err record_error; /* why the record is not whole; no code: it is */
};

/* A file or directory that steers this or a later run (a scenario, settings) is read-only inside,
 * wherever it lies. The policy is one by itself. */
void prepare_keep(struct prepared *p, struct str path);

/* The policy, edited and judged; denials are in the verdict, missing acknowledgements first. */
MUST_USE bool prepare_policy(struct prepared *p, struct err *err);

/* Whether that allows it: false with every missing acknowledgement, or the first denial. */
MUST_USE bool prepared_ok(const struct prepared *p, struct err *err);

/* The plan alone, of a verdict that allows it. */
MUST_USE bool prepare_plan(struct prepared *p, struct err *err);

/* The record, the plan and the environment, if the verdict allows it. */
MUST_USE bool prepare_run(struct prepared *p, struct err *err);

/* After the command has ended: sets aside what it left in repositories (repo/protect.h). In any
 * case prepared_done() does. */
void prepare_check(struct prepared *p);

/* The record, or NULL. */
struct artifacts *prepared_record(struct prepared *p);

/* Writes the last files of the record, if there is one. If it can't be whole, that becomes the
 * result's error, and is in `record_error`. */
void prepare_finish(struct prepared *p, json_t *result);
void prepared_done(struct prepared *p);

#endif
