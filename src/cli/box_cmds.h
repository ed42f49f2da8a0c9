/* The commands of `cordon box`, one file each, and how each begins.
 *
 *     AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
 *     if (!box_use_open(cli, args->v[0], BOX_USE_CHANGE, &use, err))
 *         return false;
 *     ... use.box, use.boxes ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_BOX_CMDS_H
#define CLI_BOX_CMDS_H

#include "box/box.h"
#include "box/state.h"
#include "cli/cmd.h"
#include "cli/out.h"

extern const struct cmd cmd_box_apply;
extern const struct cmd cmd_box_destroy;
extern const struct cmd cmd_box_diff;
extern const struct cmd cmd_box_doctor;
extern const struct cmd cmd_box_list;
extern const struct cmd cmd_box_new;
extern const struct cmd cmd_box_prune;
extern const struct cmd cmd_box_reset;
extern const struct cmd cmd_box_show;
extern const struct cmd cmd_box_stop;
extern const struct cmd cmd_box_start;
extern const struct cmd cmd_box_log;
extern const struct cmd cmd_box_exec;
extern const struct cmd cmd_box_attach;

enum {
    BOX_PATHS_MAX = 10 * 1000, /* arguments of diff and apply */
};

/* Opens $CORDON_HOME/sandboxes. */
MUST_USE bool box_use_boxes(
    struct cli *cli, enum boxes_use use, struct boxes *ret_boxes, struct err *err);

/* The agents of the user's settings. */
MUST_USE bool box_use_rows(struct cli *cli, struct agent_rows *ret_rows, struct err *err);

struct box_use {
    struct boxes boxes;
    struct box box;
    int lock; /* -1: not held */
};

#define BOX_USE_NONE ((struct box_use){BOXES_NONE, BOX_NONE, -1})

enum {
    BOX_USE_LOOK = 0,
    BOX_USE_CHANGE = 1 << 0,   /* holds its lock */
    BOX_USE_NO_AGENT = 1 << 1, /* its agent is not needed: a row that is gone is an empty one */
};

/* A box by its name. E_NOT_FOUND, E_CLI_INVALID_ARG for what can't be one; E_CONFLICT: another
 * command has its lock. */
MUST_USE bool box_use_open(
    struct cli *cli, const char *name, unsigned purpose, struct box_use *ret_use, struct err *err);
void box_use_done(struct box_use *use);

/* A change of files that was cut off is made whole: of the project, and of the box's copy of it.
 * Until then nobody can tell what is applied. */
MUST_USE bool box_use_recover(struct cli *cli, const struct box *box, struct err *err);

const char *box_mode_name(enum box_mode mode); /* "copy" */

/* Limits of a box that was just started which are kept less well than was asked: warns of each, and
 * gives the list. */
struct str_list box_use_gaps(struct cli *cli, const struct box *box);

/* Asks on the terminal, and waits for a line. E_APPROVAL_REQUIRED: there is none; the remedy says
 * what to give instead. E_CANCELED: the answer was not yes. */
MUST_USE bool box_use_consent(
    struct cli *cli, const char *question, const char *remedy, struct err *err);

/* What a person at a terminal is asked about before a box is reset, destroyed or replaced. */
struct box_risk {
    const char *act; /* "Destroy 'a'" */
    bool running;
    bool abandon; /* what was not applied is lost */
    bool yes;     /* it was said already */
};

/* Elsewhere the options have said it all. E_CANCELED: the answer was not yes. */
MUST_USE bool box_use_risk(struct cli *cli, const struct box_risk *risk, struct err *err);

/* Starts the agent of a box that does not run. */
MUST_USE bool box_use_start(
    struct cli *cli, const struct box *box, bool with_prompt, struct err *err);
/* Only for commands of `exec`: ends with the last of them. */
MUST_USE bool box_use_start_idle(const struct box *box, struct err *err);

/* Recordings that are more than the newest few: how many there are, or were deleted. */
size_t box_use_old_runs(struct cli *cli, const struct box *box, bool only_count);

/* What is to be said of a proxy that ended by itself; NULL: nothing. */
const char *box_use_proxy_ended(struct cli *cli, const struct box_state *state);

/* Nothing of the box runs any more; *ret_ran says whether something did. */
MUST_USE bool box_use_stop(
    const struct box *box, uint64_t grace_ms, bool *ret_ran, struct err *err);

#endif
