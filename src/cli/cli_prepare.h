/* Shared parts of exec, run and driver: option tables and messages. The rest is in job/prepare.h,
 * which the library also uses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CLI_PREPARE_H
#define CLI_CLI_PREPARE_H

#include "cli/cmd.h"
#include "job/prepare.h"
#include "job/trust.h"

/* Rows for the option table of a command whose options have a member `prepare`. */
#define PREPARE_OPTS(type)                                                                    \
    OPT_STRING("policy", 0, type, prepare.policy, "FILE", ARG_FILE,                           \
        "policy file, JSON or YAML; by default only this command and the programs that it "   \
        "needs may run, and the working directory may be read"),                              \
        OPT_ONE_OF("preset", 0, type, prepare.preset, "NAME", preset_names,                   \
            "a built-in policy: {choices}"),                                                  \
        OPT_STRING("root", 0, type, prepare.root, "DIR", ARG_DIR,                             \
            "working root of the preset; default: the current directory"),                    \
        OPT_STRING(                                                                           \
            "cwd", 0, type, prepare.cwd, "DIR", ARG_DIR, "working directory of the command"), \
        OPT_STRS("read", type, prepare.read, "PATH", ARG_FILE,                                \
            "also allow reading this file or directory; repeatable"),                         \
        OPT_STRS("write", type, prepare.write, "PATH", ARG_FILE,                              \
            "also allow reading and writing it; needs --ack-unsafe-write"),                   \
        OPT_STRS("allow-exec", type, prepare.exec, "PATH", ARG_FILE,                          \
            "also allow running this program, or the programs in this directory; a name "     \
            "without '/' is looked up in PATH"),                                              \
        OPT_STRS("allow-host", type, prepare.hosts, "HOST", ARG_ANY,                          \
            "let the command reach this host through a proxy: example.com, *.example.com, "   \
            "example.com:8443 or an address; repeatable"),                                    \
        OPT_STRING("artifacts", 0, type, prepare.artifacts, "DIR", ARG_DIR,                   \
            "write a record of the run to this directory")
#define PREPARE_UNSAFE_OPTS(type)                                                                  \
    OPT_SET("explain-policy", 0, type, prepare.explain,                                            \
        "print what would be granted, and by which mechanism; run nothing"),                       \
        OPT_ONE_OF("sandbox", 0, type, prepare.sandbox, "MODE", POLICY_SANDBOX_OPTIONS,            \
            "native, landlock (weaker; works without namespaces) or none; default: from the "      \
            "policy, or the settings"),                                                            \
        OPT_SET(                                                                                   \
            "no-sandbox", 0, type, prepare.no_sandbox, "enforce nothing; same as --sandbox none"), \
        OPT_SET("ack-unsafe-sandbox", 0, type, prepare.ack.sandbox,                                \
            "acknowledge running with no sandbox or a weaker one"),                                \
        OPT_SET("enable-network", 0, type, prepare.network,                                        \
            "allow the command to use the host's network"),                                        \
        OPT_SET("ack-unsafe-network", 0, type, prepare.ack.network, "acknowledge network access"), \
        OPT_SET("ack-unsafe-sockets", 0, type, prepare.ack.sockets,                                \
            "acknowledge access to the host's Unix sockets, if the policy allows it"),             \
        OPT_SET("ack-unsafe-write", 0, type, prepare.ack.write,                                    \
            "acknowledge that the policy grants write access"),                                    \
        OPT_SET("ack-inexact-limits", 0, type, prepare.ack.inexact,                                \
            "acknowledge limits that this machine cannot enforce exactly"),                        \
        OPT_SET("strict-write", 0, type, prepare.strict_write,                                     \
            "also require --ack-unsafe-write for --artifacts"),                                    \
        OPT_SET("no-denials", 0, type, prepare.no_denials,                                         \
            "do not collect what the sandbox denies while the command runs")

/* Headings for both. */
#define PREPARE_GROUPS                                   \
    {"policy", "Policy and record"},                     \
    {                                                    \
        "explain-policy", "Sandbox and acknowledgements" \
    }

/* Prints what the policy would grant. */
MUST_USE bool prepare_explain(struct cli *cli, struct prepared *p, struct err *err);

/* Applies the user's sandbox settings. Call before the policy is prepared. */
MUST_USE bool prepare_settings(struct cli *cli, struct prepared *x, struct err *err);

/* Makes cordon's own files read-only for the command. Call before the plan is made. */
void prepare_own(struct cli *cli, struct prepared *x);

/* Reports files left in repositories by the command that are now held. Call after the run. */
void prepare_tell_held(struct cli *cli, const struct prepared *x);
/* The same for the lines of protect_print(). */
void prepare_warn_lines(struct cli *cli, struct str text);

/* Reports hosts that the proxy refused. Call after the run. */
void prepare_tell_refused(struct cli *cli, const struct prepared *x);

/* Callback for prepared.is_trusted: whether the user trusts the scenario (cordon trust). */
struct prepare_trust {
    struct cli *cli;
    const struct scenario *scenario;
    const char *path;
};
bool prepare_is_trusted(void *context, const char **ret_note);

/* Prints warnings before the command runs. */
void prepare_warn(struct cli *cli, const struct prepared *p);

/* Prints what was denied, in at most three lines: to a command that failed, or else of protected
 * files, which programs may not take for a failure. */
void prepare_tell_denied(struct cli *cli, const struct prepared *p, bool failed);

/* Reports a record that is incomplete, and sets the exit status. */
void prepare_tell_record(struct cli *cli, const struct prepared *p);

#endif
