/* Many files, two threads. */
#include "path/split.h"

#include <pthread.h>

struct half {
    size_t from, to;
    split_fn run;
    void *context;
    struct err err;
    bool ok;
};

static void *run_half(void *arg)
{
    struct half *h = arg;
    h->ok = true;
    for (size_t i = h->from; i < h->to && h->ok; i++)
        h->ok = h->run(h->context, i, &h->err);
    return NULL;
}

bool split_run(size_t n, split_fn run, void *context, struct err *err)
{
    return split_run_at(n, n / 2, run, context, err);
}

bool split_run_at(size_t n, size_t middle, split_fn run, void *context, struct err *err)
{
    middle = n < SPLIT_MIN ? n : MIN(middle, n);
    struct half first = {0, middle, run, context, {0}, false};
    struct half second = {middle, n, run, context, {0}, false};
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
