/* From a command line to something that can be run: the policy, what the flags change in it, the
 * verdict, the plan, the record. Shared by exec, run and driver.
 *
 *     struct prepared p = {.cli = cli, .options = &options->prepare, .argv = argv, ...};
 *     if (!prepare_policy(&p, err)) return false;
 *     if (options->prepare.explain) return prepare_explain(&p, err);
 *     bool ok = prepare_run(&p, err) && ...;
 *     prepared_done(&p);
 */
#ifndef CLI_PREPARE_H
#define CLI_PREPARE_H

#include "cli/cmd.h"
#include "policy/validate.h"
#include "record/artifacts.h"
#include "sandbox/plan.h"

struct prepare_options {
    const char *policy;
    const char *preset;
    const char *root;
    const char *cwd;
    const char *artifacts;
    bool explain;
    bool no_sandbox, ack_sandbox;
    bool network, ack_network;
    bool ack_write, strict_write;
};

/* Rows for the option table of a command whose options have a member `prepare`. */
#define PREPARE_OPTS(type)                                                                        \
    OPT_STRING("policy", 0, type, prepare.policy, "FILE", ARG_FILE,                               \
        "the policy, as JSON or YAML; default: this command alone, and the working directory to " \
        "read"),                                                                                  \
        OPT_ONE_OF("preset", 0, type, prepare.preset, "NAME", preset_names,                       \
            "a built-in policy: build, c, node, python, readonly or test"),                       \
        OPT_STRING("root", 0, type, prepare.root, "DIR", ARG_DIR,                                 \
            "the working root that the preset is for; default: the current directory"),           \
        OPT_STRING("cwd", 0, type, prepare.cwd, "DIR", ARG_DIR, "where the command starts"),      \
        OPT_STRING("artifacts", 0, type, prepare.artifacts, "DIR", ARG_DIR,                       \
            "write a record of the run there")
#define PREPARE_UNSAFE_OPTS(type)                                                             \
    OPT_SET("explain-policy", 0, type, prepare.explain,                                       \
        "print what would be granted, and by what; run nothing"),                             \
        OPT_SET("no-sandbox", 0, type, prepare.no_sandbox, "enforce nothing"),                \
        OPT_SET("ack-unsafe-sandbox", 0, type, prepare.ack_sandbox,                           \
            "yes, without a sandbox or with a weaker one"),                                   \
        OPT_SET("enable-network", 0, type, prepare.network, "let it use the host's network"), \
        OPT_SET("ack-unsafe-network", 0, type, prepare.ack_network, "yes, with the network"), \
        OPT_SET("ack-unsafe-write", 0, type, prepare.ack_write,                               \
            "yes, the policy's directories may be written"),                                  \
        OPT_SET("strict-write", 0, type, prepare.strict_write,                                \
            "artifacts, too, need the acknowledgement")

/* Everything that a run of a command needs, in the order in which it becomes known. */
struct prepared {
    struct cli *cli;
    const struct prepare_options *options;
    const char *const *argv;    /* as it was typed; ends in NULL */
    const struct policy *given; /* a scenario's own policy; --policy goes before it */
    struct str start;           /* where a scenario says that it starts; --cwd goes before it */
    struct str replays;         /* a recording that is replayed: not written, and hidden */
    const char *program;        /* what argv[0] means; NULL: itself */
    struct str cwd;             /* our own */
    struct policy policy;
    struct policy_host host;
    struct verdict verdict;
    struct plan plan;
    struct str hidden;
    struct artifacts artifacts;
};

/* The policy, edited and judged; denials are in the verdict. */
MUST_USE bool prepare_policy(struct prepared *p, struct err *err);

/* Prints what would be granted. */
MUST_USE bool prepare_explain(struct prepared *p, struct err *err);

/* The record and the plan, if the verdict allows it. */
MUST_USE bool prepare_run(struct prepared *p, struct err *err);

/* What people are to know before it runs. */
void prepare_warn(const struct prepared *p);

/* Writes the last files of the record, if there is one. If it can't be whole, that is the run's
 * error and exit status, and is said. */
void prepare_finish(struct prepared *p, json_t *result);
void prepared_done(struct prepared *p);

#endif
