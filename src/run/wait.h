/* Waits for a screen: conditions are tested when the screen has changed and at the deadline, never
 * in between, and not in the middle of a synchronized update.
 *
 *     struct wait w = {.session = s, .conditions = &c, .n = 1, .since = changes,
 *         .after_input = true, .deadline_ms = clock_mono_ms() + 5000};
 *     wait_run(&w, &result);      result.end == WAIT_HELD, result.matched_by "change"
 *
 * After input was sent, the screen that was already there does not count as an answer. The screen
 * is tested once it has changed; or once the program has printed something without visible effect
 * (a bell, the same text again) and then nothing for WAIT_SETTLE_MS; or after WAIT_SILENCE_MS
 * without any output. A wait without conditions ends after WAIT_SETTLE_MS of silence.
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
    bool change;        /* ignore an unchanged screen until the deadline */
    uint64_t settle_ms; /* then require this long without a change; 0: don't */
    uint64_t deadline_ms;
};

enum wait_end {
    WAIT_HELD,
    WAIT_TIMEOUT,
    WAIT_EXITED, /* the command has ended, and its last screen does not satisfy the conditions */
    WAIT_CANCELED,
    WAIT_FAILED, /* a budget was exceeded: session_error() */
};

struct wait_result {
    enum wait_end end;
    const char *matched_by; /* "change", "frame", "quiet", "exit"; NULL: conditions not met */
};

void wait_run(const struct wait *w, struct wait_result *ret_result);

/* Tests each condition on the current screen. Returns true if all hold. Stores the results and the
 * reasons for failure in the arrays, if given. */
bool wait_test(struct session *s, const struct condition *conditions, size_t n, bool *ret_held,
    struct buf *why);

/* Runs a session until `reached` returns true, nothing is printed for quiet_ms, or until_ms. */
struct wait_follow {
    struct session *session;
    uint64_t until_ms, quiet_ms;
    bool (*reached)(void *context, struct session *session);
    void *context;
};
bool wait_follow(const struct wait_follow *f);

#endif
