/* Waiting for a screen, exactly: conditions are tested when the screen has changed and when time
 * runs out, never in between, and not in the middle of a synchronized update.
 *
 *     struct wait w = {.session = s, .conditions = &c, .n = 1, .since = changes, .after_input =
 * true, .deadline_ms = clock_mono_ms() + 5000}; wait_run(&w, &result);      result.end ==
 * WAIT_HELD, result.matched_by "change"
 *
 * After something was sent, what is on the screen already is no answer. It is judged when it has
 * changed; or when the program has printed something that changes nothing (a bell, the same again)
 * and then nothing for WAIT_SETTLE_MS; or when for WAIT_SILENCE_MS nothing has come at all. A wait
 * without conditions is over after WAIT_SETTLE_MS of silence.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_WAIT_H
#define RUN_WAIT_H

#include "run/condition.h"

enum {
    WAIT_SETTLE_MS = 30,
    WAIT_SILENCE_MS = 1000,
};

struct wait {
    struct session *session;
    const struct condition *conditions; /* all must hold */
    size_t n;
    uint64_t since;     /* session_changes() before the action */
    uint64_t fed;       /* session_fed_bytes() before the action */
    uint64_t sent_ms;   /* when the action was sent */
    bool after_input;   /* the action sent something */
    bool change;        /* only a screen that has changed counts, until time is up */
    uint64_t settle_ms; /* and then nothing may change for so long; 0: no such wish */
    uint64_t deadline_ms;
};

enum wait_end {
    WAIT_HELD,
    WAIT_TIMEOUT,
    WAIT_EXITED, /* the command has ended, and the last screen does not satisfy them */
    WAIT_CANCELED,
    WAIT_FAILED, /* a budget: session_error() */
};

struct wait_result {
    enum wait_end end;
    const char *matched_by; /* "change", "frame", "quiet", "exit"; NULL: they did not hold */
};

void wait_run(const struct wait *w, struct wait_result *ret_result);

/* Tests each on the screen as it is; true if all hold. Results and words go to the arrays, if
 * given. */
bool wait_test(struct session *s, const struct condition *conditions, size_t n, bool *ret_held,
    struct buf *why);

/* Lets a session go on until something is reached, nothing comes for so long, or it is time. */
struct wait_follow {
    struct session *session;
    uint64_t until_ms, quiet_ms;
    bool (*reached)(void *context, struct session *session);
    void *context;
};
bool wait_follow(const struct wait_follow *f);

#endif
