/* cordon box show: print all information about a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "box/facts.h"
#include "cli/box_cmds.h"
#include "path/exact.h"
#include "tui/columns.h"

enum {
    PROMPT_LINES = 5,
    LINE_COLUMNS = 400,
    RUNS_SHOWN = 5,
    DENIED_SHOWN = 5,
};

/* Terminal output ----------------------------------------------------------------------------- */

/* Prints "key         text", with the text made printable. */
static void box_show_print_row(struct cli *cli, const char *key, const char *format, ...)
    PRINTF_LIKE(3, 4);
static void box_show_print_row(struct cli *cli, const char *key, const char *format, ...)
{
    AUTO_BUF struct buf text = BUF_INIT(1 << 20);
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    buf_printf(&cli->stdout_buf, "%-12s", key);
    columns_cut(&cli->stdout_buf, buf_str(&text), LINE_COLUMNS);
    buf_add_byte(&cli->stdout_buf, '\n');
}

static void add_size(uint64_t bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t i = 0;
    for (; value >= 1024 && i + 1 < ARRAY_LEN(units); i++)
        value /= 1024;
    snprintf(text, 32, i ? "%.1f %s" : "%.0f %s", value, units[i]);
}

static const char *box_show_ago(struct cli *cli, struct str when)
{
    char text[COLUMNS_AGO];
    uint64_t ms;
    if (!clock_parse(when, &ms))
        return "at an unknown time";
    columns_ago(ms, clock_wall_ms(), text);
    return arena_printf(cli->arena, "%s", text);
}

static void show_status(struct cli *cli, const struct box_facts *f)
{
    const struct box_state *s = &f->state;
    AUTO_BUF struct buf b = BUF_INIT(64 * 1024);
    buf_add_z(&b, box_status_names[s->status]);
    if (s->signal)
        buf_printf(&b, ", by signal %lld", (long long)s->signal);
    else if (s->exit_code >= 0)
        buf_printf(&b, ", exit status %lld", (long long)s->exit_code);
    if (s->started_at.n)
        buf_printf(&b, ", started %s", box_show_ago(cli, s->started_at));
    if (s->ended_at.n)
        buf_printf(&b, ", ended %s", box_show_ago(cli, s->ended_at));
    box_show_print_row(cli, "status", "%s", buf_z(&b));
    if (s->error.n)
        box_show_print_row(cli, "", STR_FMT, STR_ARG(s->error));
}

static void show_dirs(struct cli *cli, const struct box *box)
{
    static const char *const ways[] = {[BOX_COPY] = "copy",
        [BOX_OVERLAY] = "overlay, not copied",
        [BOX_RW] = "used directly, writable (:rw)"};
    const struct box_workdir *w = &box->meta.workdir;
    box_show_print_row(cli, "directory", STR_FMT ", %s", STR_ARG(w->host_path), ways[w->mode]);
    if (box->setup.layering == BOX_LAYERS_SECOND_COPY)
        box_show_print_row(
            cli, "", "its changes are in a second copy: no overlay could be mounted");
    if (w->baseline_sha.n)
        box_show_print_row(cli, "", "created at commit " STR_FMT, STR_ARG(w->baseline_sha));
    for (size_t i = 0; i < box->setup.n_extras; i++)
        box_show_print_row(cli, i ? "" : "also", STR_FMT " (%s)",
            STR_ARG(box->setup.extras[i].path),
            box->setup.extras[i].writable ? "writable" : "read-only");
}

static void show_machine(struct cli *cli, const struct box_facts *f)
{
    const struct developer *m = &f->machine;
    box_show_print_row(cli, "home", STR_FMT, STR_ARG(box_home(f->box)));
    for (size_t i = 0; i < m->shown.n; i++)
        box_show_print_row(cli, i ? "" : "read-only", STR_FMT, STR_ARG(m->shown.p[i]));
    for (size_t i = 0; i < f->box->setup.caches.n; i++)
        box_show_print_row(cli, i ? "" : "caches", STR_FMT, STR_ARG(f->box->setup.caches.p[i]));
    for (size_t i = 0; i < m->n_omitted; i++)
        box_show_print_row(cli, i ? "" : "not shown", STR_FMT " (%s)", STR_ARG(m->omitted[i].dir),
            m->omitted[i].reason);
    for (size_t i = 0; i < m->n_hidden; i++)
        box_show_print_row(cli, i ? "" : "hidden", STR_FMT " (%s)", STR_ARG(m->hidden[i].path),
            m->hidden[i].reason);
}

/* The agent may be asking a question first, which only the user can answer. */
static const char *why_pending(const struct box_facts *f)
{
    bool runs = f->state.status == BOX_RUNNING || f->state.status == BOX_IDLE;
    return runs && f->state.prompt == BOX_PROMPT_PENDING
               ? ": the agent is not ready for it; use 'cordon box attach' to see whether it asks "
                 "a question"
               : "";
}

static void show_agent(struct cli *cli, const struct box_facts *f)
{
    const struct box_meta *m = &f->box->meta;
    AUTO_BUF struct buf words = BUF_INIT(1 << 20);
    for (size_t i = 0; i < f->box->setup.args.n; i++)
        buf_printf(&words, " " STR_FMT, STR_ARG(f->box->setup.args.p[i]));
    box_show_print_row(cli, "agent", STR_FMT "%s", STR_ARG(m->agent), buf_z(&words));
    if (m->model.n)
        box_show_print_row(cli, "model", STR_FMT, STR_ARG(m->model));
    if (!m->has_prompt)
        return;
    box_show_print_row(cli, "prompt", "%s%s", box_prompt_names[f->state.prompt], why_pending(f));
    columns_lines(&cli->stdout_buf, f->prompt, "            ", PROMPT_LINES);
}

static void show_network(struct cli *cli, const struct box_facts *f)
{
    static const char *const words[] = {[BOX_NETWORK_NONE] = "none",
        [BOX_NETWORK_ON] = "full access",
        [BOX_NETWORK_ALLOW] = "only"};
    AUTO_BUF struct buf hosts = BUF_INIT(1 << 20);
    for (size_t i = 0; i < f->hosts.n; i++)
        buf_printf(&hosts, "%s" STR_FMT, i ? ", " : " ", STR_ARG(f->hosts.p[i]));
    box_show_print_row(cli, "network", "%s%s", words[f->network], buf_z(&hosts));
    const char *ended = box_use_proxy_ended(&f->state, cli->arena);
    if (ended)
        box_show_print_row(cli, "", "%s", ended);
    for (size_t i = 0; i < f->n_refused; i++) {
        const struct facts_refused *r = &f->refused[i];
        box_show_print_row(cli, i ? "" : "refused", STR_FMT ":%llu, %llu time%s, last %s: " STR_FMT,
            STR_ARG(r->host), (unsigned long long)r->port, (unsigned long long)r->times,
            r->times == 1 ? "" : "s", box_show_ago(cli, r->last), STR_ARG(r->why));
    }
    for (size_t i = 0; i < f->box->meta.ports.n; i++)
        box_show_print_row(
            cli, i ? "" : "ports", STR_FMT " (host:box)", STR_ARG(f->box->meta.ports.p[i]));
}

/* Refused hosts are shown with the network. */
static void show_denied(struct cli *cli, const struct box_facts *f)
{
    AUTO_JSON json_t *list = facts_denied(f);
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list) && n < DENIED_SHOWN; i++) {
        const json_t *one = json_array_get(list, i);
        struct str op = json_str(json_object_get(one, "op"));
        long long times = json_integer_value(json_object_get(one, "count"));
        if (!str_is(op, "host"))
            box_show_print_row(cli, n++ ? "" : "denied",
                STR_FMT " " STR_FMT " (" STR_FMT "), %lld time%s", STR_ARG(op),
                STR_ARG(json_str(json_object_get(one, "target"))),
                STR_ARG(json_str(json_object_get(one, "rule"))), times, times == 1 ? "" : "s");
    }
}

static void show_limits(struct cli *cli, const struct box_facts *f)
{
    bool first = true;
    for (size_t i = 0; i < FACTS_LIMITS; i++) {
        char text[32];
        const struct facts_limit *limit = &facts_limits[i];
        uint64_t value = facts_limit(f, i);
        if (!value)
            continue;
        if (limit->unit == FACTS_MILLIS)
            snprintf(text, sizeof(text), "%g", (double)value / 1000);
        else if (limit->unit == FACTS_BYTES)
            add_size(value, text);
        else
            snprintf(text, sizeof(text), "%llu%s", (unsigned long long)value,
                limit->unit == FACTS_SECONDS ? " s" : "");
        box_show_print_row(cli, first ? "limits" : "", "%s %s", limit->name, text);
        first = false;
    }
    for (size_t i = 0; i < f->state.gaps.n; i++)
        box_show_print_row(cli, i ? "" : "weaker", STR_FMT, STR_ARG(f->state.gaps.p[i]));
}

static void show_changes(struct cli *cli, const struct box_facts *f)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    char size[32];
    static const char *const words[] = {
        [DELTA_ADDED] = "added",
        [DELTA_DELETED] = "deleted",
        [DELTA_MODIFIED] = "modified",
        [DELTA_MODE] = "with a changed mode",
        [DELTA_TYPE] = "with a changed type",
    };
    if (!f->has_changes)
        return;
    for (size_t i = 0; i < ARRAY_LEN(f->changes); i++)
        if (f->changes[i])
            buf_printf(&b, "%s%zu %s", b.n ? ", " : "", f->changes[i], words[i]);
    add_size(f->bytes, size);
    box_show_print_row(cli, "changes", "%s (%s on disk)", b.n ? buf_z(&b) : "none", size);
    if (f->never_applied)
        box_show_print_row(
            cli, "", "%zu devices or similar files, which prevent apply", f->never_applied);
    if (f->left_out)
        box_show_print_row(
            cli, "", "%zu sockets or named pipes, which apply leaves out", f->left_out);
    if (f->drift)
        box_show_print_row(cli, "", "%zu file%s changed in the project since the box was created",
            f->drift, f->drift == 1 ? "" : "s");
}

static void show_runs(struct cli *cli, const struct box_facts *f)
{
    size_t from = f->n_runs > RUNS_SHOWN ? f->n_runs - RUNS_SHOWN : 0;
    for (size_t i = from; i < f->n_runs; i++)
        box_show_print_row(
            cli, i == from ? "recordings" : "", "%s", facts_run_dir(f, f->runs[i], cli->arena));
    if (from)
        box_show_print_row(cli, "", "and %zu older ones", from);
}

static void show_text(struct cli *cli, const struct box_facts *f)
{
    box_show_print_row(cli, "box", STR_FMT, STR_ARG(f->box->name));
    show_status(cli, f);
    show_agent(cli, f);
    show_dirs(cli, f->box);
    show_machine(cli, f);
    show_changes(cli, f);
    show_network(cli, f);
    show_denied(cli, f);
    show_limits(cli, f);
    box_show_print_row(cli, "created", "%s, by cordon " STR_FMT,
        box_show_ago(cli, f->box->meta.created_at), STR_ARG(f->box->meta.cordon_version));
    box_show_print_row(cli, "stored in", STR_FMT, STR_ARG(f->box->path));
    show_runs(cli, f);
    for (size_t i = 0; i < f->n_problems; i++)
        out_warn(cli, "%s", f->problems[i]);
}

static bool box_show_run(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    struct box_facts *f = ARENA_NEW(cli->arena, struct box_facts, 1);
    if (!config_box_open(cli->arena, args->v[0], BOX_USE_NO_AGENT, &use, err))
        return false;
    facts_gather(cli->arena, &use.box, f);
    if (cli->json)
        return out_json(cli, facts_json(f, cli->arena), err);
    show_text(cli, f);
    return true;
}

static const struct example show_examples[] = {
    {"cordon box show fix-login", "its directories, network, limits, changes, recordings"},
    {"cordon box show fix-login --json | jq .network.refused", "refused connections"},
};

const struct cmd cmd_box_show = {
    .name = "show",
    .summary = "show details of a box",
    .about = "Prints its status and how its agent ended, the prompt, directories, the toolchains "
             "and other directories of the machine that it shows, those of PATH that it does not "
             "show, and hidden files with credentials, as of now, changes, the network with "
             "refused connections, limits and those "
             "that are weaker than "
             "requested, and its recordings, which 'cordon trace' converts.",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_BOX,
    CMD_EXAMPLES(show_examples),
    .run = box_show_run,
};
