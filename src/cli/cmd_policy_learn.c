/* cordon policy learn: additions to a policy from what a run was denied. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "learn/additions.h"
#include "record/reader.h"

struct policy_learn_options {
    const char *from;
};

static bool policy_learn_run(struct cli *cli, const struct args *args, struct err *err)
{
    const struct policy_learn_options *options = args->options;
    AUTO_BUF struct buf text = BUF_INIT(ADDITIONS_MAX);
    AUTO_JSON json_t *run = NULL;
    if (!options->from)
        return err_set(
            err, E_CLI_INVALID_ARG, "--from RUN is required: the directory that --artifacts wrote");
    AUTO_FD int dir = record_open(options->from, err);
    if (dir < 0 || !record_object(dir, "run.json", &run, err))
        return false;
    const json_t *denied = json_object_get(run, "denied");
    if (!json_is_array(denied))
        return err_set(err, E_PROTOCOL,
            "run.json: denied: expected an array: the run was recorded by an older cordon");
    additions_add(&text, denied);
    if (!cli->json) {
        out_text(cli, buf_str(&text));
        return true;
    }
    json_t *object = json_object();
    json_put(object, "text", json_text(buf_str(&text)));
    json_put(object, "denied", json_incref((json_t *)denied));
    return out_json(cli, object, err);
}

static const struct opt policy_learn_opts[] = {
    OPT_STRING("from", 0, struct policy_learn_options, from, "RUN", ARG_DIR,
        "directory of a recorded run"),
};

static const struct example policy_learn_examples[] = {
    {"cordon exec --artifacts out --policy policy.yaml -- make; cordon policy learn --from out",
        "print what make was denied, as entries for the policy"},
    {"cordon exec --learn -- make", "both in one step"},
};

const struct cmd cmd_policy_learn = {
    .name = "learn",
    .summary = "propose policy additions from a run's denials",
    .about =
        "The run was confined, and its denials are in its record. Prints the policy entries that "
        "would allow the denied accesses, as YAML with comments, and those that no policy can "
        "allow. Nothing is run or changed. To learn from a run without a sandbox, use "
        "'cordon policy new --learn'.",
    .usage = "--from RUN",
    CMD_OPTS(policy_learn_opts, struct policy_learn_options),
    CMD_EXAMPLES(policy_learn_examples),
    .run = policy_learn_run,
};
