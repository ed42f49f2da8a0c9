/* cordon box doctor: check this machine's support for boxes, and for files left by crashes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/box_cmds.h"
#include "doctor/box_doctor.h"

struct box_doctor_options {
    bool fix;
};

void box_doctor_print(struct cli *cli, const struct box_doctor *d, const char *except)
{
    static const enum out_style styles[] = {OUT_GREEN, OUT_YELLOW, OUT_RED, OUT_YELLOW};
    for (size_t i = 0; i < d->n; i++) {
        const struct box_doctor_check *c = &d->checks[i];
        if (except && strcmp(c->name, except) == 0)
            continue;
        out_styled(cli, styles[c->health],
            arena_printf(cli->arena, "%-10s", box_doctor_health_names[c->health]));
        out_line(cli, "%-11s %s", c->name, c->detail);
        if (c->health != HEALTH_OK && c->remedy)
            out_line(cli, "          remedy: %s", c->remedy);
    }
}

static bool box_doctor_run(struct cli *cli, const struct args *args, struct err *err)
{
    const struct box_doctor_options *o = args->options;
    struct box_doctor d = {.arena = cli->arena, .warnings = out_notices(cli), .boxes = BOXES_NONE};
    if (!box_doctor_examine(&d, o->fix, err))
        return false;
    cli->status = d.unusable ? err_status(E_SANDBOX_UNAVAILABLE) : 0;
    if (cli->json)
        return out_json(cli, box_doctor_json(&d), err);
    box_doctor_print(cli, &d, NULL);
    return true;
}

static const struct opt doctor_opts[] = {
    OPT_SET("fix", 0, struct box_doctor_options, fix,
        "delete leftovers of crashed boxes, and complete or undo an interrupted apply"),
};

static const struct example doctor_examples[] = {
    {"cordon box doctor --fix", "clean up, and check this machine"},
};

const struct cmd cmd_box_doctor = {
    .name = "doctor",
    .summary = "check whether boxes work here, and list leftovers",
    .about = "The part of 'cordon doctor' about boxes: tests their requirements in $CORDON_HOME, "
             "where they are stored. Exit status: 0 if boxes can be used, 3 if not.",
    .usage = "",
    CMD_OPTS(doctor_opts, struct box_doctor_options),
    CMD_EXAMPLES(doctor_examples),
    .run = box_doctor_run,
};
