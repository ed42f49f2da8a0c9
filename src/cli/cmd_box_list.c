/* cordon box list: all boxes. */
#include "box/meta.h"
#include "cli/box_cmds.h"

struct list_options {
    bool names;
};

static bool run_list(struct cli *cli, const struct args *args, struct err *err)
{
    const struct list_options *options = args->options;
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    struct str_list names;
    if (!box_use_boxes(cli, BOXES_LOOK, &boxes, err) ||
        !boxes_list(&boxes, cli->arena, &names, err))
        return false;
    for (size_t i = 0; i < names.n && options->names; i++)
        out_name(cli, names.p[i], '\n');
    return true;
}

static const struct opt list_opts[] = {
    OPT_SET("names", 0, struct list_options, names, "print the names only, one on each line"),
};

static const struct example list_examples[] = {
    {"cordon box list", "all of them, with what they do"},
};

const struct cmd cmd_box_list = {
    .name = "list",
    .summary = "list boxes, with what each does and has changed",
    .usage = "",
    CMD_OPTS(list_opts, struct list_options),
    CMD_EXAMPLES(list_examples),
    .run = run_list,
};
