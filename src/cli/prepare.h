/* Shared parts of exec, run and driver: option tables and messages. The rest is in job/prepare.h,
 * which the library also uses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PREPARE_H
#define CLI_PREPARE_H

#include "cli/cmd.h"
#include "job/prepare.h"
#include "job/trust.h"

/* Rows for the option table of a command whose options have a member `prepare`. */
#define PREPARE_OPTS(type)                                                                        \
    OPT_STRING("policy", 0, type, prepare.policy, "FILE", ARG_FILE,                               \
        "the policy, as JSON or YAML; default: this command alone, and the working directory to " \
        "read"),                                                                                  \
        OPT_ONE_OF("preset", 0, type, prepare.preset, "NAME", preset_names,                       \
            "a built-in policy: {choices}"),                                                      \
        OPT_STRING("root", 0, type, prepare.root, "DIR", ARG_DIR,                                 \
            "the working root that the preset is for; default: the current directory"),           \
        OPT_STRING("cwd", 0, type, prepare.cwd, "DIR", ARG_DIR, "where the command starts"),      \
        OPT_STRING("artifacts", 0, type, prepare.artifacts, "DIR", ARG_DIR,                       \
            "write a record of the run there")
#define PREPARE_UNSAFE_OPTS(type)                                                              \
    OPT_SET("explain-policy", 0, type, prepare.explain,                                        \
        "print what would be granted, and by what; run nothing"),                              \
        OPT_ONE_OF("sandbox", 0, type, prepare.sandbox, "MODE", prepare_sandboxes,             \
            "native, landlock (weaker: works where namespaces are refused) or none; default: " \
            "the policy's, or the settings'"),                                                 \
        OPT_SET("no-sandbox", 0, type, prepare.no_sandbox, "enforce nothing: --sandbox none"), \
        OPT_SET("ack-unsafe-sandbox", 0, type, prepare.ack.sandbox,                            \
            "yes, without a sandbox or with a weaker one"),                                    \
        OPT_SET("enable-network", 0, type, prepare.network, "let it use the host's network"),  \
        OPT_SET("ack-unsafe-network", 0, type, prepare.ack.network, "yes, with the network"),  \
        OPT_SET("ack-unsafe-sockets", 0, type, prepare.ack.sockets,                            \
            "yes, Unix sockets of the host may be reached, if the policy allows them"),        \
        OPT_SET("ack-unsafe-write", 0, type, prepare.ack.write,                                \
            "yes, the policy's directories may be written"),                                   \
        OPT_SET("ack-inexact-limits", 0, type, prepare.ack.inexact,                            \
            "yes, a limit that this machine can't keep exactly may be kept inexactly"),        \
        OPT_SET("strict-write", 0, type, prepare.strict_write,                                 \
            "artifacts, too, need the acknowledgement")

/* Prints what the policy would grant. */
MUST_USE bool prepare_explain(struct cli *cli, struct prepared *p, struct err *err);

/* Applies the user's sandbox settings. Call before the policy is prepared. */
MUST_USE bool prepare_settings(struct cli *cli, struct prepared *x, struct err *err);

/* Makes cordon's own files read-only for the command. Call before the plan is made. */
void prepare_own(struct cli *cli, struct prepared *x);

/* Reports files left in repositories by the command that are now held. Call after the run. */
void prepare_tell_held(struct cli *cli, const struct prepared *x);

/* Callback for prepared.is_trusted: whether the user trusts the scenario (cordon trust). */
struct prepare_trust {
    struct cli *cli;
    const struct scenario *scenario;
    const char *path;
};
bool prepare_is_trusted(void *context, const char **ret_note);

/* Prints warnings before the command runs. */
void prepare_warn(struct cli *cli, const struct prepared *p);

/* Reports a record that is incomplete, and sets the exit status. */
void prepare_tell_record(struct cli *cli, const struct prepared *p);

#endif
