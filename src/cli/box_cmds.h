/* The `cordon box` commands, one file each, and functions they share.
 *
 *     AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
 *     if (!box_use_open(cli, args->v[0], BOX_USE_CHANGE, &use, err))
 *         return false;
 *     ... use.box, use.boxes ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_BOX_CMDS_H
#define CLI_BOX_CMDS_H

#include "box/use.h"
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
    BOX_PATHS_MAX = 10 * 1000, /* path arguments of diff and apply */
};

/* Opens $CORDON_HOME/sandboxes. */
MUST_USE bool box_use_boxes(
    struct cli *cli, enum boxes_use use, struct boxes *ret_boxes, struct err *err);

/* Agents from the user's settings. */
MUST_USE bool box_use_rows(struct cli *cli, struct agent_rows *ret_rows, struct err *err);

/* Opens a box by name. Fails with E_NOT_FOUND, E_CLI_INVALID_ARG for an invalid name, or E_CONFLICT
 * if another command holds its lock. */
MUST_USE bool box_use_open(
    struct cli *cli, const char *name, unsigned purpose, struct box_use *ret_use, struct err *err);

/* Finishes or undoes an interrupted change of files, in the project and in the box's copy of it.
 * Until then it is unknown which changes are applied. */
MUST_USE bool box_use_recover(struct cli *cli, const struct box *box, struct err *err);

/* Warns about each limit of a box just started that is enforced less strictly than requested, and
 * returns the list. */
struct str_list box_use_gaps(struct cli *cli, const struct box *box);

/* Asks on the terminal and reads a line. Fails with E_APPROVAL_REQUIRED without a terminal
 * (`remedy` names the option to use instead), or with E_CANCELED if the answer is not yes. */
MUST_USE bool box_use_consent(
    struct cli *cli, const char *question, const char *remedy, struct err *err);

/* Question to ask on a terminal before a box is reset, destroyed or replaced. */
struct box_risk {
    const char *act; /* "Destroy 'a'" */
    bool running;
    bool abandon; /* unapplied changes will be lost */
    bool yes;     /* already confirmed with --yes */
};

/* Without a terminal, or with nothing at risk, returns true without asking: the options are enough.
 * Fails with E_CANCELED if the answer is not yes. */
MUST_USE bool box_use_risk(struct cli *cli, const struct box_risk *risk, struct err *err);

/* Starts the agent of a box that is not running. */
MUST_USE bool box_use_start(const struct box *box, bool with_prompt, struct err *err);
/* Starts a box for commands of `exec` only; it ends with the last of them. */
MUST_USE bool box_use_start_idle(const struct box *box, struct err *err);

#endif
