/* The picture of a scenario that runs: a title, the program's screen, the steps, a line of help.
 *
 *     struct watch_state s = {...};
 *     watch_draw(&s, canvas);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_WATCH_VIEW_H
#define CLI_WATCH_VIEW_H

#include "run/runner.h"
#include "tui/canvas.h"

enum {
    WATCH_ERROR_MAX = 1024,
};

enum watch_mark {
    WATCH_PENDING,
    WATCH_RUNNING,
    WATCH_PASSED,
    WATCH_FAILED,
    WATCH_ERRORED,
    WATCH_SKIPPED,
};

struct watch_step {
    enum watch_mark mark;
    uint64_t started_ms, duration_ms;
};

struct watch_state {
    const struct scenario *scenario;
    const char *name;
    const struct term *term; /* what the program shows */
    struct watch_step *steps;
    size_t current; /* the step that runs, or ran last */
    uint64_t started_ms, now_ms;
    bool over;
    enum exec_status status;
    char error[WATCH_ERROR_MAX]; /* of the step that did not pass */
    /* How far the list was moved by hand; follows the current step otherwise. */
    bool moved;
    size_t top;
    unsigned list_rows; /* as it was drawn */
};

void watch_draw(struct watch_state *s, struct canvas *c);

#endif
