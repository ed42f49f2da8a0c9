/* The `cordon box` commands, one file each, and functions they share.
 *
 *     const struct box_risk risk = {.act = "Destroy 'a'", .running = true, .yes = o->yes};
 *     if (!box_use_risk(cli, &risk, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_BOX_CMDS_H
#define CLI_BOX_CMDS_H

#include "boxd/start.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "config/boxes.h"

extern const struct cmd cmd_box_apply;
extern const struct cmd cmd_box_destroy;
extern const struct cmd cmd_box_diff;
extern const struct cmd cmd_box_doctor;
struct box_doctor;
/* Without the check named `except`; NULL: all. */
void box_doctor_print(struct cli *cli, const struct box_doctor *d, const char *except);
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

/* Warns about each limit of a box just started that is enforced less strictly than requested. */
void box_use_gaps(struct cli *cli, const struct box *box);
void box_use_warn_gaps(struct cli *cli, const struct str_list *gaps);

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

/* Of an option that lasts until the box ends. */
#define BOX_NO_DENIALS_HELP "do not collect what the sandbox denies, until the box is stopped"

/* With this process's environment and the size of its terminal. */
struct start_options box_use_start_options(const struct box *box);
/* Starts the agent of a box that is not running. */
MUST_USE bool box_use_start(const struct box *box, bool with_prompt, struct err *err);

#endif
