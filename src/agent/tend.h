/* A thread that reads the terminals left running by tools while the model is asked, so that their
 * programs do not block on output that is not read, and their limits are enforced.
 *
 *     struct tend tend;
 *     tend_begin(&tend, box);
 *     ...nothing else may use the toolbox...
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
    int over; /* an eventfd; -1: no thread, since there is nothing to read */
};

void tend_begin(struct tend *t, struct toolbox *box); /* NULL: no toolbox */
void tend_end(struct tend *t);

#endif
