/* Prints verdicts for people. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain_page.h"

enum {
    PAGE_LABEL = 14,
    PAGE_WIDTH = 80,
    PAGE_LINE_MAX = 64 * 1024,
};

void explain_denials(struct cli *cli, const struct denials *denials)
{
    for (size_t i = 0; i < denials->n; i++) {
        const struct denial *d = &denials->p[i];
        AUTO_BUF struct buf line = BUF_INIT(PAGE_LINE_MAX);
        out_styled(cli, OUT_RED, "denied:");
        buf_add_z(&line, " ");
        denial_add_text(d, d->value, &line);
        out_name(cli, buf_str(&line), '\n');
        out_text(cli, STR("  reason: "));
        out_name(cli, str_z(d->reason), '\n');
        out_text(cli, STR("  fix: "));
        out_name(cli, str_z(d->fix), '\n');
    }
}

/* Layout -------------------------------------------------------------------------------------- */

/* Prints a line of a section; its label only before the first line. */
static void page_line(struct cli *cli, const char **label, struct str text)
{
    const char *word = *label ? *label : "";
    out_styled(cli, OUT_BOLD, word);
    for (size_t i = strlen(word); i < PAGE_LABEL; i++)
        out_text(cli, STR(" "));
    out_name(cli, text, '\n');
    *label = NULL;
}

/* Items, as many on a line as fit; none is split. */
struct page_list {
    struct cli *cli;
    const char **label;
    const char *separator;
    struct buf line;
};

#define PAGE_LIST(cli, label, separator)               \
    {                                                  \
        cli, label, separator, BUF_INIT(PAGE_LINE_MAX) \
    }

static void page_item(struct page_list *list, struct str item)
{
    struct buf *line = &list->line;
    size_t n = line->n + strlen(list->separator) + item.n;
    if (line->n)
        buf_add_z(line, list->separator);
    if (line->n && n > PAGE_WIDTH - PAGE_LABEL) {
        page_line(list->cli, list->label, str_trim(buf_str(line)));
        buf_reset(line);
    }
    buf_add_str(line, item);
}

static void page_list_end(struct page_list *list)
{
    if (list->line.n)
        page_line(list->cli, list->label, buf_str(&list->line));
    buf_done(&list->line);
}

static void page_words(struct cli *cli, const char **label, struct str text)
{
    struct page_list list = PAGE_LIST(cli, label, " ");
    struct str word;
    while (str_cut(text, ' ', &word, &text))
        page_item(&list, word);
    page_list_end(&list);
}

static void page_bytes(struct buf *b, uint64_t n)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (n >= 1024 && n % 1024 == 0 && unit + 1 < ARRAY_LEN(units)) {
        n /= 1024;
        unit++;
    }
    buf_printf(b, "%llu %s", (unsigned long long)n, units[unit]);
}

/* Paths --------------------------------------------------------------------------------------- */

static bool page_is_toolchain(const struct confined *c, struct str given)
{
    for (size_t i = 0; i < c->developer.shown.n; i++)
        if (str_eq(c->developer.shown.p[i], given))
            return true;
    return false;
}

/* Prints the policy's own entries; with their targets if they are symlinks. Returns the number of
 * others, which the developer's machine adds. */
static size_t page_paths(struct cli *cli, const struct confined *c,
    const struct verdict_paths *paths, const char **label)
{
    struct page_list list = PAGE_LIST(cli, label, ", ");
    size_t others = 0;
    for (size_t i = 0; i < paths->n; i++) {
        const struct verdict_path *p = &paths->p[i];
        AUTO_BUF struct buf item = BUF_INIT(PAGE_LINE_MAX);
        if (page_is_toolchain(c, p->given)) {
            others++;
            continue;
        }
        buf_add_str(&item, p->given);
        if (p->is_dir && !str_ends_with(p->given, STR("/")))
            buf_add_z(&item, "/");
        if (!str_eq(p->given, p->resolved))
            buf_printf(&item, " -> " STR_FMT, STR_ARG(p->resolved));
        page_item(&list, buf_str(&item));
    }
    page_list_end(&list);
    return others;
}

static void page_toolchains(struct cli *cli, const struct confined *c, size_t n, const char **label)
{
    struct page_list list = PAGE_LIST(cli, label, ", ");
    if (n)
        page_line(cli, label, STR("your toolchains:"));
    for (size_t i = 0; n && i < c->developer.shown.n; i++)
        page_item(&list, c->developer.shown.p[i]);
    page_list_end(&list);
}

static void page_files(struct cli *cli, const struct confined *c)
{
    const struct verdict *v = &c->verdict;
    const char *read = "may read", *write = "may write", *run = "may run";
    size_t n = page_paths(cli, c, &v->read, &read);
    page_toolchains(cli, c, n, &read);
    page_words(cli, &read,
        plan_is_native(&c->plan)
            ? STR("and as in every sandbox: the system's libraries and data (/usr/lib, "
                  "/usr/share), files of /etc for names, locale and certificates")
            : STR("and the system's libraries and data"));
    page_paths(cli, c, &v->write, &write);
    if (v->write.n == 0)
        page_line(cli, &write, STR("no file of this machine"));
    AUTO_BUF struct buf own = BUF_INIT(PAGE_LINE_MAX);
    buf_printf(&own, "a private %s%s", c->plan.own_tmp ? "/tmp" : "directory for temporary files",
        c->developer.home.n ? " and home directory, empty at first" : ", empty at first");
    page_words(cli, &write, buf_str(&own));
    n = page_paths(cli, c, &v->exec, &run);
    if (n)
        page_line(cli, &run, STR("the programs of your toolchains"));
}

/* Other sections ------------------------------------------------------------------------------ */

static void page_environment(struct cli *cli, const struct confined *c)
{
    const char *label = "environment";
    struct page_list list = PAGE_LIST(cli, &label, ", ");
    for (const char *const *e = c->envp; e && *e; e++) {
        struct str name, value;
        str_cut(str_z(*e), '=', &name, &value);
        page_item(&list, name);
    }
    page_list_end(&list);
}

static void page_limits(struct cli *cli, const struct confined *c)
{
    const struct policy_budgets *b = &c->policy.budgets;
    const struct policy_limits *l = &c->policy.limits;
    const char *label = "limits";
    AUTO_BUF struct buf text = BUF_INIT(PAGE_LINE_MAX);
    buf_printf(&text, "%.3g s, ", (double)b->max_runtime_ms / 1000);
    page_bytes(&text, b->max_output_bytes);
    buf_printf(&text, " of output, %llu processes, ", (unsigned long long)l->processes);
    page_bytes(&text, l->memory_bytes);
    buf_printf(&text, " of memory for each process, %llu open files, files of ",
        (unsigned long long)l->open_files);
    page_bytes(&text, l->file_bytes);
    buf_add_z(&text, ", /tmp of ");
    page_bytes(&text, l->tmp_bytes);
    page_words(cli, &label, buf_str(&text));
}

static void page_network(struct cli *cli, const struct confined *c)
{
    const char *label = "network";
    struct page_list hosts = PAGE_LIST(cli, &label, ", ");
    for (size_t i = 0; i < c->plan.hosts.n; i++)
        page_item(&hosts, c->plan.hosts.p[i]);
    if (c->plan.hosts.n)
        page_line(cli, &label, STR("through a proxy, only these hosts:"));
    page_list_end(&hosts);
    if (c->plan.hosts.n)
        return;
    page_line(cli, &label,
        c->plan.own_network || !c->plan.sockets.inet
            ? STR("none")
            : STR("the host's: everything that it reads can be sent out"));
}

/* Directories of PATH that the command does not see, and files in those that it sees. */
static void page_omitted(struct cli *cli, const struct confined *c)
{
    const char *label = "not shown";
    for (size_t i = 0; i < c->developer.n_omitted; i++) {
        const struct developer_omission *o = &c->developer.omitted[i];
        AUTO_BUF struct buf line = BUF_INIT(PAGE_LINE_MAX);
        buf_printf(
            &line, STR_FMT "%s: %s", STR_ARG(o->dir), o->in_path ? " of PATH" : "", o->reason);
        page_line(cli, &label, buf_str(&line));
    }
    for (size_t i = 0; i < c->developer.n_hidden; i++) {
        const struct narrow_hidden *h = &c->developer.hidden[i];
        AUTO_BUF struct buf line = BUF_INIT(PAGE_LINE_MAX);
        buf_printf(&line, STR_FMT ": %s", STR_ARG(h->path), h->reason);
        page_line(cli, &label, buf_str(&line));
    }
}

static void page_mechanisms(struct cli *cli, const json_t *report)
{
    static const struct {
        const char *member, *label;
    } rows[] = {
        {"mode", "sandbox"},
        {"fs", "files"},
        {"exec", "programs"},
        {"net", "network"},
        {"processes", "processes"},
        {"environment", "environment"},
        {"terminal", "terminal"},
        {"limits", "limits"},
    };
    out_text(cli, STR("\nenforced by\n"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *label = rows[i].label;
        const json_t *text = json_object_get(report, rows[i].member);
        if (text)
            page_words(cli, &label, json_str(text));
    }
}

static void page_gaps(struct cli *cli, const json_t *report)
{
    const json_t *gaps = json_object_get(report, "gaps");
    const char *label = "gaps";
    out_text(cli, STR("\n"));
    if (json_array_size(gaps) == 0)
        page_line(cli, &label, STR("none known"));
    for (size_t i = 0; i < json_array_size(gaps); i++)
        page_words(cli, &label, json_str(json_array_get(gaps, i)));
}

void explain_page(struct cli *cli, const struct confined *c, const json_t *report)
{
    const char *command = "command", *start = "starts in";
    out_styled(cli, OUT_GREEN, "allowed");
    out_text(cli, STR("\n\n"));
    page_line(cli, &command, c->plan.command);
    page_line(cli, &start, c->plan.cwd.n ? c->plan.cwd : STR("/tmp"));
    page_files(cli, c);
    page_network(cli, c);
    page_environment(cli, c);
    page_limits(cli, c);
    page_omitted(cli, c);
    page_mechanisms(cli, report);
    page_gaps(cli, report);
}
