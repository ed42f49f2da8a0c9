/* Layout of a running scenario: a title, the program's screen, the steps, a line of help.
 *
 *     struct watch_state s = {...};
 *     watch_view_draw(&s, canvas);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WATCH_WATCH_VIEW_H
#define WATCH_WATCH_VIEW_H

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
    const struct term *term; /* the program's screen */
    struct watch_step *steps;
    size_t current; /* step that runs, or ran last */
    uint64_t started_ms, now_ms;
    bool over;
    enum exec_status status;
    char error[WATCH_ERROR_MAX]; /* error of the step that did not pass */
    /* Scroll position of the list if the user moved it; otherwise it follows the current step. */
    bool moved;
    size_t top;
    unsigned list_rows; /* rows of the list when last drawn */
};

void watch_view_draw(struct watch_state *s, struct canvas *c);

#endif
