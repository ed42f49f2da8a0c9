/* The wait loop. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/wait.h"

#include "base/clock.h"

enum {
    SCREEN_BYTES = 256 << 20, /* for a snapshot of the largest size */
};

/* Input that was just sent interrupts the quiet time, though it may have had no effect yet. */
static uint64_t quiet_ms(const struct session *s, uint64_t now)
{
    uint64_t last = MAX(session_changed_ms(s), session_sent_ms(s));
    return now > last ? now - last : 0;
}

bool wait_test(struct session *s, const struct condition *conditions, size_t n, bool *ret_held,
    struct buf *why)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(SCREEN_BYTES);
    struct snapshot screen;
    bool cells = false, all = true;
    for (size_t i = 0; i < n; i++)
        cells |= condition_needs_cells(&conditions[i]);
    snapshot_take(session_term(s), &arena, cells ? SNAPSHOT_CELLS : 0, &screen);
    const struct session_exit *exit = session_exit_of(s);
    const struct view view = {
        .screen = &screen,
        .exit = session_has_ended(s) ? exit : NULL,
        .quiet_ms = session_has_ended(s) ? UINT64_MAX : quiet_ms(s, clock_mono_ms()),
    };
    for (size_t i = 0; i < n; i++) {
        bool held = condition_holds(&conditions[i], &view, why ? &why[i] : NULL);
        if (ret_held)
            ret_held[i] = held;
        all &= held;
        if (!held && !ret_held)
            return false;
    }
    return all;
}

/* Returns the longest quiet time that the wait or one of its conditions asks for. */
static uint64_t wanted_quiet(const struct wait *w)
{
    uint64_t ms = w->settle_ms;
    for (size_t i = 0; i < w->n; i++)
        ms = MAX(ms, condition_quiet_ms(&w->conditions[i]));
    return ms;
}

struct wait_engine {
    const struct wait *w;
    uint64_t quiet;       /* required quiet time; 0: none */
    uint64_t frame_since; /* when an unfinished update was first seen; 0: none */
    enum session_news news;
};

static uint64_t last_activity(const struct wait *w)
{
    uint64_t sent = MAX(session_sent_ms(w->session), w->sent_ms);
    return MAX(session_changed_ms(w->session), sent);
}

/* Returns how long an unchanged screen must stay unchanged to count as the result of the input. */
static uint64_t wait_silence_ms(const struct wait *w)
{
    bool answered = session_fed_bytes(w->session) != w->fed;
    return w->n == 0 || answered ? WAIT_SETTLE_MS : WAIT_SILENCE_MS;
}

/* Whether the screen may be tested now. At the deadline it may, even in the middle of an update: no
 * later screen follows. */
static bool may_judge(struct wait_engine *e, uint64_t now)
{
    const struct wait *w = e->w;
    if (session_has_ended(w->session))
        return true;
    if (!term_in_frame(session_term(w->session)))
        e->frame_since = 0;
    else if (e->frame_since == 0)
        e->frame_since = now;
    bool last = now >= w->deadline_ms;
    if (!last && e->frame_since && now - e->frame_since < SESSION_FRAME_MS)
        return false;
    uint64_t quiet = now - MIN(now, last_activity(w));
    bool changed = session_changes(w->session) != w->since;
    if (!last && !changed && (w->change || (w->after_input && quiet < wait_silence_ms(w))))
        return false;
    return quiet >= w->settle_ms;
}

/* Returns when to look again even if nothing happens. */
static uint64_t wait_next_check(const struct wait_engine *e, uint64_t now)
{
    const struct wait *w = e->w;
    uint64_t at = w->deadline_ms, activity = last_activity(w);
    if (e->frame_since && e->frame_since + SESSION_FRAME_MS > now)
        at = MIN(at, e->frame_since + SESSION_FRAME_MS);
    if (w->after_input && activity + wait_silence_ms(w) > now)
        at = MIN(at, activity + wait_silence_ms(w));
    if (e->quiet && activity + e->quiet > now)
        at = MIN(at, activity + e->quiet);
    return at;
}

static const char *wait_reason(const struct wait_engine *e)
{
    if (session_has_ended(e->w->session))
        return "exit";
    if (e->news == SESSION_FRAME)
        return "frame";
    return e->news == SESSION_SCREEN && session_changes(e->w->session) != e->w->since ? "change"
                                                                                      : "quiet";
}

void wait_run(const struct wait *w, struct wait_result *ret_result)
{
    struct wait_engine e = {.w = w, .quiet = wanted_quiet(w), .news = SESSION_TIME};
    *ret_result = (struct wait_result){0};
    for (;;) {
        uint64_t now = clock_mono_ms();
        /* A condition that holds at once must not outlast the run-time budget. */
        if (now >= session_ends_ms(w->session))
            e.news = session_next(w->session, now);
        if (e.news != SESSION_FAILED && may_judge(&e, now) &&
            wait_test(w->session, w->conditions, w->n, NULL, NULL)) {
            ret_result->end = WAIT_HELD;
            ret_result->matched_by = wait_reason(&e);
            return;
        }
        ret_result->end = e.news == SESSION_EXITED     ? WAIT_EXITED
                          : e.news == SESSION_FAILED   ? WAIT_FAILED
                          : e.news == SESSION_CANCELED ? WAIT_CANCELED
                                                       : WAIT_TIMEOUT;
        if (ret_result->end != WAIT_TIMEOUT || now >= w->deadline_ms)
            return;
        e.news = session_next(w->session, wait_next_check(&e, now));
    }
}

bool wait_follow(const struct wait_follow *f)
{
    while (!f->reached(f->context, f->session)) {
        uint64_t now = clock_mono_ms();
        enum session_news news = session_next(f->session, MIN(f->until_ms, now + f->quiet_ms));
        if ((news != SESSION_SCREEN && news != SESSION_FRAME) || now >= f->until_ms)
            return f->reached(f->context, f->session);
    }
    return true;
}
