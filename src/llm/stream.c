/* The stream of one answer: states, retries, and the message so far. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/id.h"
#include "llm/retry.h"
#include "llm/source.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

struct stream {
    pthread_mutex_t lock;             /* held during stream_next() */
    _Atomic(enum stream_state) state; /* may be read during stream_next() */
    struct attempt attempt;
    struct retry retry;
    bool whole;        /* the source is exhausted: events may be queued */
    struct err failed; /* the same for a failure; returned by stream_next() from then on */
    bool begun;
    atomic_bool closing;
};

bool provider_stream(struct provider *p, const struct llm_request *request,
    struct stream **ret_stream, struct err *err)
{
    if (!llm_request_check(request, err))
        return false;
    int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0)
        return err_errno(err, E_IO, errno, "cannot create an event descriptor");
    struct stream *s = base_alloc(sizeof(*s));
    *s = (struct stream){.state = STREAM_NEW};
    pthread_mutex_init(&s->lock, NULL);
    int most = p->options.max_retries;
    s->retry.most = most < 0 ? (unsigned)RETRY_MOST : (unsigned)most;
    s->attempt = (struct attempt){
        .provider = p,
        .request = request,
        .waiter = {p->options.cancel_fd, wake, p->options.deadline_ms},
        .answer = answer_new(),
    };
    *ret_stream = s;
    return true;
}

/* Failure ------------------------------------------------------------------------------------- */

static struct str stream_header(const char *text)
{
    return text[0] ? str_z(text) : (struct str){0};
}

static enum retry_verdict stream_decide_retry(
    struct stream *s, const struct err *reason, uint64_t *ret_delay_ms)
{
    const struct source_failure *f = &s->attempt.failure;
    struct retry_failure failure = {
        .status = f->status,
        .broken = f->broken,
        .should_retry = stream_header(f->should_retry),
        .retry_after_ms = stream_header(f->retry_after_ms),
        .retry_after = stream_header(f->retry_after),
        .wall_ms = clock_wall_ms(),
    };
    if (reason->code != E_PROVIDER)
        return RETRY_NEVER;
    if (f->decided && !failure.should_retry.p)
        failure.should_retry = f->again ? STR("true") : STR("false");
    id_random(&failure.chance, sizeof(failure.chance));
    return retry_next(&s->retry, &failure, ret_delay_ms);
}

static void stream_append_message(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);
static void stream_append_message(struct err *err, const char *format, ...)
{
    struct buf b = BUF_INIT(64 * 1024);
    va_list args;
    va_start(args, format);
    buf_add_z(&b, err->message);
    buf_vprintf(&b, format, args);
    va_end(args);
    free(err->message);
    err->message = buf_take(&b);
}

/* Adds details for the user to a final failure. */
static void stream_explain_failure(struct stream *s, enum retry_verdict verdict, uint64_t asked_ms)
{
    const struct source_failure *f = &s->attempt.failure;
    struct err *e = &s->failed;
    if (e->code != E_PROVIDER)
        return;
    if (s->retry.attempt)
        stream_append_message(e, " (tried %u times)", s->retry.attempt + 1);
    if (verdict == RETRY_TOO_LONG)
        stream_append_message(e,
            "; the service asks to wait for %llu s, which is longer than the maximum: try "
            "again later",
            (unsigned long long)(asked_ms + 999) / 1000);
    if (f->status)
        err_ctx_int(e, "status", f->status);
    if (f->retry_after[0])
        err_ctx(e, "retry_after", "%s", f->retry_after);
    if (f->request_id[0])
        err_ctx(e, "request_id", "%s", f->request_id);
    err_ctx_int(e, "attempts", s->retry.attempt + 1);
}

static enum stream_step stream_give_up(struct stream *s, struct err *err)
{
    bool aborted = s->failed.code == E_CANCELED;
    s->state = s->closing ? STREAM_CLOSED : STREAM_ERROR;
    answer_stop(s->attempt.answer, aborted ? STOP_ABORTED : STOP_ERROR, STR(""));
    s->attempt.provider->source->end(&s->attempt);
    err_copy(err, &s->failed);
    return STREAM_FAILED;
}

/* Starts another attempt; false if the failure is final. */
static bool stream_try_again(struct stream *s)
{
    struct attempt *a = &s->attempt;
    const struct provider_options *o = &a->provider->options;
    uint64_t delay_ms = 0;
    enum retry_verdict verdict = stream_decide_retry(s, &s->failed, &delay_ms);
    if (verdict != RETRY_AGAIN) {
        stream_explain_failure(s, verdict, delay_ms);
        return false;
    }
    struct retry_notice notice = {s->retry.attempt, delay_ms, &s->failed};
    a->provider->source->end(a);
    if (o->on_retry)
        o->on_retry(o->context, &notice);
    AUTO_ERR struct err interrupted = {0};
    if (!waiter_sleep(&a->waiter, delay_ms, &interrupted)) {
        err_done(&s->failed);
        err_move(&s->failed, &interrupted);
        return false;
    }
    err_done(&s->failed);
    s->failed = (struct err){0};
    answer_free(a->answer);
    a->answer = answer_new();
    a->failure = (struct source_failure){0};
    return true;
}

/* Pulling ------------------------------------------------------------------------------------- */

/* Events received before a failure or the end are returned first. */
static enum stream_step stream_advance(
    struct stream *s, struct llm_event *ret_event, struct err *err)
{
    struct attempt *a = &s->attempt;
    for (;;) {
        if (answer_take_event(a->answer, ret_event))
            return STREAM_EVENT;
        if (s->whole) {
            s->state = STREAM_COMPLETE;
            a->provider->source->end(a);
            return STREAM_END;
        }
        if (s->failed.code) {
            if (!stream_try_again(s))
                return stream_give_up(s, err);
            continue;
        }
        enum source_step step = a->provider->source->pull(a, &s->failed);
        s->whole = step == SOURCE_WHOLE;
    }
}

static enum stream_step stream_next_event(
    struct stream *s, struct llm_event *ret_event, struct err *err)
{
    enum stream_state state = s->state;
    switch (state) {
    case STREAM_NEW:
        s->state = STREAM_STREAMING;
        s->begun = true;
        return stream_advance(s, ret_event, err);
    case STREAM_STREAMING:
        return stream_advance(s, ret_event, err);
    case STREAM_COMPLETE:
        return STREAM_END;
    case STREAM_ERROR:
        err_copy(err, &s->failed);
        return STREAM_FAILED;
    default:
        err_set(err, E_CANCELED, "the stream was closed");
        return STREAM_FAILED;
    }
}

enum stream_step stream_next(struct stream *s, struct llm_event *ret_event, struct err *err)
{
    pthread_mutex_lock(&s->lock);
    enum stream_step step = stream_next_event(s, ret_event, err);
    pthread_mutex_unlock(&s->lock);
    return step;
}

bool stream_message(struct stream *s, json_t **ret_message, struct err *err)
{
    pthread_mutex_lock(&s->lock);
    bool begun = s->begun;
    if (begun)
        *ret_message = answer_message(s->attempt.answer);
    pthread_mutex_unlock(&s->lock);
    return begun || err_set(err, E_PROTOCOL, "a stream has no message before its first event");
}

enum stream_state stream_state(const struct stream *s)
{
    return s->state;
}

void stream_close(struct stream *s)
{
    /* A thread in stream_next() wakes up and releases the lock at once. */
    const uint64_t one = 1;
    s->closing = true;
    ssize_t woken = write(s->attempt.waiter.close_fd, &one, sizeof(one));
    (void)woken;
    pthread_mutex_lock(&s->lock);
    if (s->state == STREAM_NEW || s->state == STREAM_STREAMING) {
        answer_stop(s->attempt.answer, STOP_ABORTED, STR(""));
        s->state = STREAM_CLOSED;
    }
    s->attempt.provider->source->end(&s->attempt);
    pthread_mutex_unlock(&s->lock);
}

void stream_free(struct stream *s)
{
    if (!s)
        return;
    stream_close(s);
    answer_free(s->attempt.answer);
    err_done(&s->failed);
    close(s->attempt.waiter.close_fd);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
