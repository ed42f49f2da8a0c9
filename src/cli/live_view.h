/* The picture of a scenario that runs: a title, the program's screen, the steps, a line of help.
 *
 *     struct live_state s = {...};
 *     live_draw(&s, canvas);
 */
#ifndef CLI_LIVE_VIEW_H
#define CLI_LIVE_VIEW_H

#include "run/runner.h"
#include "tui/canvas.h"

enum {
    LIVE_ERROR_MAX = 1024,
};

enum live_mark {
    LIVE_PENDING,
    LIVE_RUNNING,
    LIVE_PASSED,
    LIVE_FAILED,
    LIVE_ERRORED,
    LIVE_SKIPPED,
};

struct live_step {
    enum live_mark mark;
    uint64_t started_ms, duration_ms;
};

struct live_state {
    const struct scenario *scenario;
    const char *name;
    const struct term *term; /* what the program shows */
    struct live_step *steps;
    size_t current; /* the step that runs, or ran last */
    uint64_t started_ms, now_ms;
    bool over;
    enum exec_status status;
    char error[LIVE_ERROR_MAX]; /* of the step that did not pass */
    /* How far the list was moved by hand; follows the current step otherwise. */
    bool moved;
    size_t top;
    unsigned list_rows; /* as it was drawn */
};

void live_draw(struct live_state *s, struct canvas *c);

#endif
