/* Approval questions on the controlling terminal, whatever standard input and output are.
 *
 *     struct ask_tty ask = ASK_TTY_INIT;
 *     if (ask_tty_open(&ask))
 *         options.approve.ask = ask_tty_question, options.approve.context = &ask;
 *     ...toolbox_open()...
 *     ask.box = box;
 *     ask_tty_close(&ask);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_ASK_TTY_H
#define TOOL_ASK_TTY_H

#include "tool/toolbox.h"

struct ask_tty {
    int fd;
    struct toolbox *box; /* its sessions are read while waiting */
};

#define ASK_TTY_INIT ((struct ask_tty){.fd = -1})

/* Returns false if there is no terminal, or standard error is not one. */
MUST_USE bool ask_tty_open(struct ask_tty *ask);
void ask_tty_close(struct ask_tty *ask);

/* For approve_options.ask. */
enum approve_answer ask_tty_question(
    void *ask, const struct approve_question *question, struct str rule);

#endif
