/* Many files, two threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/split.h"

#include <pthread.h>
#include <stdatomic.h>

struct split_half {
    size_t from, to;
    split_fn run;
    void *context;
    struct err err;
    bool ok;
};

static void *run_half(void *arg)
{
    struct split_half *h = arg;
    h->ok = true;
    for (size_t i = h->from; i < h->to && h->ok; i++)
        h->ok = h->run(h->context, i, &h->err);
    return NULL;
}

bool split_run(size_t n, split_fn run, void *context, struct err *err)
{
    size_t middle = n < SPLIT_MIN ? n : n / 2;
    struct split_half first = {0, middle, run, context, {0}, false};
    struct split_half second = {middle, n, run, context, {0}, false};
    pthread_t thread;
    bool both = middle < n && pthread_create(&thread, NULL, run_half, &second) == 0;
    run_half(&first);
    if (both)
        pthread_join(thread, NULL);
    else if (first.ok)
        run_half(&second);
    bool ok = first.ok && second.ok;
    if (!ok)
        err_move(err, first.ok ? &second.err : &first.err);
    err_done(&first.err);
    err_done(&second.err);
    return ok;
}

/* Batch size: about a directory of files, so that both threads are seldom in the same one. */
enum {
    BATCH = 64,
};

struct split_shared {
    atomic_size_t next;
    atomic_bool stop;
    size_t n;
    split_fn run;
    void *context;
    pthread_mutex_t lock;
    struct err err; /* the first error */
};

static void split_fail(struct split_shared *s, struct err *err)
{
    atomic_store(&s->stop, true);
    pthread_mutex_lock(&s->lock);
    if (s->err.code == ERR_NONE)
        err_move(&s->err, err);
    pthread_mutex_unlock(&s->lock);
}

static void *split_worker(void *arg)
{
    struct split_shared *s = arg;
    for (;;) {
        size_t from = atomic_fetch_add(&s->next, BATCH);
        if (from >= s->n)
            return NULL;
        for (size_t i = from; i < MIN(from + BATCH, s->n); i++) {
            AUTO_ERR struct err err = {0};
            if (atomic_load(&s->stop))
                return NULL;
            if (!s->run(s->context, i, &err))
                split_fail(s, &err);
        }
    }
}

bool split_share(size_t n, split_fn run, void *context, struct err *err)
{
    struct split_shared s = {
        .n = n, .run = run, .context = context, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;
    bool both = n > BATCH && pthread_create(&thread, NULL, split_worker, &s) == 0;
    split_worker(&s);
    if (both)
        pthread_join(thread, NULL);
    return s.err.code == ERR_NONE || err_move(err, &s.err);
}
