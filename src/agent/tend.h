/* Terminals that tools left running, while the model is asked: a thread reads them, so that none of
 * their programs stands still because nobody takes what it prints, and their limits hold.
 *
 *     struct tend tend;
 *     tend_begin(&tend, box);
 *     ...nobody else touches the box...
 *     tend_end(&tend);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_TEND_H
#define AGENT_TEND_H

#include "tool/toolbox.h"

#include <pthread.h>

struct tend {
    struct toolbox *box;
    pthread_t thread;
    int over; /* an eventfd; -1: there is no thread, since there is nothing to read */
};

void tend_begin(struct tend *t, struct toolbox *box); /* NULL: no box */
void tend_end(struct tend *t);

#endif
