/* A line on a terminal that shows the current activity and elapsed time; nothing elsewhere.
 *
 *     struct progress p;
 *     progress_start(&p, STDERR_FILENO);
 *     progress_show(&p, "shell make", "3.1k tokens");
 *     progress_hide(&p);                 before anything else is printed
 *     progress_stop(&p);
 *
 * A thread updates the time. Writes never block: output that the terminal has no room for is
 * dropped.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_PROGRESS_H
#define TUI_PROGRESS_H

#include "base/buf.h"

#include <pthread.h>

struct progress {
    bool on; /* `fd` is a terminal */
    int fd;
    uint64_t begun_ms;
    pthread_t clock;
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t change;
    bool over, shown;
    struct buf what, more; /* printable */
};

void progress_start(struct progress *p, int fd);
void progress_stop(struct progress *p);

/* Makes untrusted text printable. */
void progress_show(struct progress *p, struct str what, struct str more);
void progress_hide(struct progress *p);

#endif
