/* Shared parts of exec, run and driver: explanations and warnings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_prepare.h"

#include "cli/explain_page.h"
#include "cli/out.h"
#include "config/config.h"
#include "config/own.h"
#include "job/refused.h"
#include "job/trust_held.h"
#include "policy/grants.h"
#include "repo/protect.h"
#include "sandbox/sandbox_report.h"

bool prepare_explain(struct cli *cli, struct prepared *x, struct err *err)
{
    bool allowed = x->confined.verdict.denials.n == 0;
    AUTO_JSON json_t *object = policy_explain(&x->confined.verdict);
    json_put(object, "policy", policy_to_json(&x->confined.policy));
    json_put(object, "sandbox_report", json_object());
    if (allowed) {
        x->idle = true;
        bool ok = prepare_plan(x, err);
        protect_free(x->protect);
        x->protect = NULL;
        if (!ok)
            return false;
        json_put(
            object, "sandbox_report", report_json(&x->confined.verdict, &x->confined.plan, NULL));
        json_put(object, "plan", plan_json(&x->confined.plan));
    }
    cli->status = allowed ? 0 : err_status(E_POLICY_DENIED);
    if (cli->json)
        return out_json(cli, json_take(&object), err);
    explain_denials(cli, &x->confined.verdict.denials);
    if (allowed)
        explain_page(cli, &x->confined, json_object_get(object, "sandbox_report"));
    return true;
}

bool prepare_is_trusted(void *context, const char **ret_note)
{
    const struct prepare_trust *x = context;
    struct arena *a = x->cli->arena;
    AUTO(trust_close) struct trust_store store = TRUST_STORE_NONE;
    AUTO_ERR struct err why = {0};
    const char *dir;
    struct trust trust;
    if (!config_state_path(a, "trust", &dir, &why) || !trust_open(dir, false, &store, &why) ||
        !trust_identify(x->scenario, x->path, a, &trust, &why)) {
        if (why.code != E_NOT_FOUND)
            *ret_note = arena_printf(a, "%s", why.message);
        return false;
    }
    if (trust_has(&store, &trust))
        return true;
    const char *changed = trust_changed(&store, &trust, a);
    if (changed)
        *ret_note = arena_printf(a, "it was trusted, but '%s' has changed since then", changed);
    return false;
}

bool prepare_settings(struct cli *cli, struct prepared *x, struct err *err)
{
    struct config config;
    AUTO_ERR struct err why = {0};
    if (config_load_user(cli->arena, &config, &why))
        x->landlock = config_is_weaker(&config);
    /* Ignore settings that cannot be read, as in another user's home: they could only weaken the
     * sandbox. */
    return why.code != E_CONFIG || err_move(err, &why);
}

/* A replay has no --cwd. */
static void warn_of_start(struct cli *cli, const struct prepared *x)
{
    const enum policy_sandbox mode = x->confined.plan.mode;
    const char *start = mode == POLICY_LANDLOCK     ? "a private directory for temporary files"
                        : mode == POLICY_NO_SANDBOX ? "/tmp"
                                                    : "its private /tmp";
    const char *fix = x->replays.p ? "" : "; use --cwd DIR for another directory";
    if (x->unused_dir.p)
        out_warn(cli,
            "'" STR_FMT "' cannot be the working directory (%s): the command starts in %s%s",
            STR_ARG(x->unused_dir), x->unused_why, start, fix);
    else
        out_warn(cli, "the policy has no fs.working_dir: the command starts in %s%s", start, fix);
}

void prepare_warn(struct cli *cli, const struct prepared *x)
{
    if (!x->confined.verdict.cwd.given.p)
        warn_of_start(cli, x);
    if (x->by_settings)
        out_warn(cli, CONFIG_WEAKER_WORDS);
    if (x->confined.plan.mode == POLICY_NO_SANDBOX)
        out_warn(cli, "NO SANDBOX: the policy is not enforced");
}

void prepare_own(struct cli *cli, struct prepared *x)
{
    struct str_list own = own_files(cli->arena);
    AUTO_ERR struct err ignored = {0};
    const char *trust;
    for (size_t i = 0; i < own.n; i++)
        prepare_keep(x, own.p[i]);
    x->settings = own_settings(cli->arena);
    if (config_state_path(cli->arena, "trust", &trust, &ignored)) {
        x->accepts = trust_held_accepts;
        x->accepts_context = (void *)trust;
    }
    if (!config_state_path(cli->arena, "repositories", &x->sessions, &ignored))
        x->sessions = NULL;
}

void prepare_warn_lines(struct cli *cli, struct str text)
{
    struct str line;
    while (str_cut(text, '\n', &line, &text)) {
        if (str_starts_with(line, STR(PROTECT_WARNING)))
            line = str_skip(line, strlen(PROTECT_WARNING));
        out_warn(cli, STR_FMT, STR_ARG(line));
    }
}

void prepare_tell_held(struct cli *cli, const struct prepared *x)
{
    AUTO_BUF struct buf text = BUF_INIT(1 << 20);
    if (x->protect)
        protect_print(x->protect, &text);
    prepare_warn_lines(cli, buf_str(&text));
}

static void prepare_note_lines(struct cli *cli, struct str text)
{
    struct str line;
    while (str_cut(text, '\n', &line, &text))
        out_note(cli, STR_FMT, STR_ARG(line));
}

void prepare_tell_denied(struct cli *cli, const struct prepared *x, bool failed)
{
    AUTO_BUF struct buf text = BUF_INIT(64 << 10);
    AUTO_JSON json_t *list =
        denied_json(x->confined.denied, &(struct denied_style){.home = x->host.home,
                                            .failed_only = failed,
                                            .or_others = failed,
                                            .kept_only = !failed});
    denied_add_lines(&text, list);
    prepare_note_lines(cli, buf_str(&text));
}

void prepare_tell_refused(struct cli *cli, const struct prepared *x)
{
    AUTO_BUF struct buf text = BUF_INIT(64 << 10);
    AUTO_JSON json_t *result = json_object();
    struct refused_hosts list;
    refused_list(buf_str(&x->refused), cli->arena, &list);
    refused_add_json(&list, result);
    denied_add_lines(&text, json_object_get(result, "denied"));
    prepare_note_lines(cli, buf_str(&text));
    if (list.n > DENIED_LINES)
        out_note(cli, "denied: %zu more hosts; --json lists them", list.n - (size_t)DENIED_LINES);
}

void prepare_tell_record(struct cli *cli, const struct prepared *x)
{
    if (!x->record_error.code)
        return;
    out_say_error(cli, &x->record_error);
    cli->status = err_status(x->record_error.code);
}
