/* A thread that reads what programs left running by tools print, while the model or the user is
 * asked: so that they do not block on output that is not read, and the limits of terminals are
 * enforced.
 *
 *     struct output_reader reader;
 *     output_reader_begin(&reader, box);
 *     ...nothing else may use the toolbox...
 *     output_reader_end(&reader);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_OUTPUT_READER_H
#define AGENT_OUTPUT_READER_H

#include "tool/toolbox.h"

#include <pthread.h>

struct output_reader {
    struct toolbox *box;
    pthread_t thread;
    int over; /* an eventfd; -1: no thread, since there is nothing to read */
};

void output_reader_begin(struct output_reader *t, struct toolbox *box); /* NULL: no toolbox */
void output_reader_end(struct output_reader *t);

#endif
