/* cordon box list: list boxes with their status and whether they have changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "box/list.h"
#include "cli/box_cmds.h"
#include "io/tty.h"
#include "path/exact.h"
#include "tui/columns.h"

struct box_list_options {
    bool names;
};

/* Terminal output ----------------------------------------------------------------------------- */

enum {
    NAME_LEAST = 8,
    NAME_MOST = 32,
    AGENT = 10,
    PLAIN_COLUMNS = 120,
    DIR_LEAST = 16,
};

static const struct {
    const char *title;
    unsigned width; /* 0: as wide as the longest entry, or the remaining width */
} columns[] = {
    {"NAME", 0},
    {"STATUS", 7},
    {"AGENT", AGENT},
    {"MODE", 7},
    {"CHANGES", 7},
    {"AGE", 12},
    {"DIRECTORY", 0},
};

static unsigned name_width(const struct box_listed *list, size_t n)
{
    size_t width = NAME_LEAST;
    for (size_t i = 0; i < n; i++)
        width = MAX(width, list[i].name.n);
    return (unsigned)MIN(width, (size_t)NAME_MOST);
}

static void box_list_add_row(
    struct cli *cli, const char *const *texts, unsigned name, struct str dir)
{
    struct buf *out = &cli->stdout_buf;
    unsigned whole = cli->to_terminal ? tty_size(STDOUT_FILENO).cols : PLAIN_COLUMNS, used = 0;
    for (size_t i = 0; i + 1 < ARRAY_LEN(columns); i++) {
        unsigned width = columns[i].width ? columns[i].width : name;
        columns_add(out, str_z(texts[i]), width);
        used += width + 2;
    }
    columns_dir(out, dir, MAX(whole > used ? whole - used : 0, (unsigned)DIR_LEAST));
    buf_add_byte(out, '\n');
}

static const char *changes_word(const struct box_listed *b)
{
    if (b->error.code)
        return "?";
    return b->meta.workdir.mode == BOX_RW ? "-" : b->changes ? "yes" : "no";
}

static void show_row(struct cli *cli, const struct box_listed *b, unsigned name, uint64_t now_ms)
{
    char ago[COLUMNS_AGO] = "?";
    uint64_t then_ms;
    if (clock_parse(b->meta.created_at, &then_ms))
        columns_ago(then_ms, now_ms, ago);
    const char *texts[] = {
        arena_strdup(cli->arena, b->name),
        b->error.code ? "broken" : box_status_names[b->status],
        b->has_meta ? arena_strdup(cli->arena, b->meta.agent) : "?",
        b->has_meta ? box_mode_name(b->meta.workdir.mode) : "?",
        changes_word(b),
        ago,
    };
    box_list_add_row(cli, texts, name, b->has_meta ? b->meta.workdir.host_path : STR("?"));
}

static void show_table(struct cli *cli, const struct box_listed *list, size_t n)
{
    const char *titles[ARRAY_LEN(columns)];
    unsigned name = name_width(list, n);
    uint64_t now_ms = clock_wall_ms();
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        titles[i] = columns[i].title;
    if (n == 0) {
        out_note(cli, "there are no boxes yet: create one with 'cordon box new NAME DIR'");
        return;
    }
    box_list_add_row(cli, titles, name, str_z(columns[ARRAY_LEN(columns) - 1].title));
    for (size_t i = 0; i < n; i++)
        show_row(cli, &list[i], name, now_ms);
}

/* ---------------------------------------------------------------------------------------------- */

static void box_list_print_names(struct cli *cli, const struct str_list *names)
{
    for (size_t i = 0; i < names->n; i++)
        out_name(cli, names->p[i], '\n');
}

static bool print_boxes(struct cli *cli, const struct box_list *list, struct err *err)
{
    if (cli->json)
        return out_json(cli, list_all_json(list), err);
    show_table(cli, list->p, list->n);
    for (size_t i = 0; i < list->n; i++)
        if (list->p[i].error.code)
            out_warn(cli, "%s", list->p[i].error.message);
    return true;
}

static bool box_list_run(struct cli *cli, const struct args *args, struct err *err)
{
    const struct box_list_options *options = args->options;
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    struct agent_rows rows;
    struct str_list names;
    if (!config_boxes(cli->arena, BOXES_LOOK, &boxes, err) ||
        !boxes_list(&boxes, cli->arena, &names, err))
        return false;
    if (options->names) {
        box_list_print_names(cli, &names);
        return true;
    }
    if (!config_box_rows(cli->arena, &rows, err))
        return false;
    AUTO(list_done) struct box_list list = {0};
    list_inspect(&boxes, &names, &rows, cli->arena, &list);
    return print_boxes(cli, &list, err);
}

static const struct opt list_opts[] = {
    OPT_SET("names", 0, struct box_list_options, names, "print only the names, one per line"),
};

static const struct example list_examples[] = {
    {"cordon box list", "list all boxes"},
    {"cordon box list --json | jq -r '.boxes[] | select(.changes) | .name'",
        "only boxes with changes to apply"},
};

const struct cmd cmd_box_list = {
    .name = "list",
    .summary = "list boxes with their status and changes",
    .about = "Prints for each box its name, status (running, idle, done, failed, stopped), "
             "agent, project mode (copy, overlay, rw), whether there are changes to apply, its "
             "age and the project's directory. A box that cannot be read is listed as broken, "
             "with the reason.",
    .usage = "",
    CMD_OPTS(list_opts, struct box_list_options),
    CMD_EXAMPLES(list_examples),
    .run = box_list_run,
};
