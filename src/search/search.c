/* Directory search: a walk fills batches, threads search them, results are merged in order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "search/search.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>

enum {
    PATHS_MAX = 64 << 20,  /* bytes of paths in one batch */
    TEXT_ROOM = 64 * 1024, /* for the line that exceeds the limit */
    THREADS_EACH = 2,      /* per processor, because some threads wait for the disk */
    LOOK_MS = 50,          /* interval at which a waiting thread checks the stop condition */
};

enum batch_state {
    BATCH_FREE,
    BATCH_READY,
    BATCH_AT_WORK,
    BATCH_DONE,
};

struct search_file_batch {
    enum batch_state state;
    int dir_fd;
    size_t dir_n;     /* length of the paths' directory prefix, including the '/' */
    struct buf paths; /* NUL-terminated */
    size_t at[SEARCH_BATCH_FILES], length[SEARCH_BATCH_FILES];
    struct found found[SEARCH_BATCH_FILES];
    struct buf text;
    size_t n;
    size_t searched;
};

struct search_state {
    const struct search_options *options;
    struct search_summary *summary;
    struct matcher_plan *plan;
    struct stop stop;
    pthread_mutex_t lock; /* protects the members below, except batches in BATCH_AT_WORK */
    pthread_cond_t changed;
    struct search_file_batch *batches; /* ring buffer */
    uint64_t filled;                   /* batches queued by the walk */
    uint64_t taken;                    /* batches taken by searching threads */
    uint64_t merged;                   /* batches reported */
    bool all_filled;
    bool enough;
    pthread_t threads[SEARCH_THREADS_MAX];
    size_t n_threads;
};

static size_t text_max(const struct search_options *o)
{
    return o->text_max ? o->text_max : SEARCH_TEXT;
}

/* Scans for one line more than the limit to detect that there are more matches. */
static struct scan *new_scan(struct search_state *s)
{
    const struct search_options *o = s->options;
    struct scan_options options = {
        .limit = o->limit + 1,
        .context = o->context,
        .text_max = text_max(o),
    };
    return scan_new(s->plan, &options, &s->stop);
}

static struct search_file_batch *batch_of(const struct search_state *s, uint64_t number)
{
    return &s->batches[number % SEARCH_BATCHES];
}

/* Searching a batch --------------------------------------------------------------------------- */

static struct str batch_path(const struct search_file_batch *b, size_t i)
{
    return str_n(b->paths.p + b->at[i], b->length[i]);
}

/* Searches a file by its name in its directory. Its type can have changed since the walk saw it. */
static void search_file(struct scan *scan, int dir_fd, const char *name, struct found *found)
{
    struct stat st;
    AUTO_FD int fd =
        openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        bool gone = errno == ENOENT || errno == ELOOP || errno == ENXIO;
        found->end = gone ? SCAN_NO_FILE : SCAN_FAILED;
        found->errnum = errno;
        return;
    }
    if (S_ISREG(st.st_mode))
        scan_fd(scan, fd, (size_t)st.st_size, found);
    else
        found->end = SCAN_NO_FILE;
}

static void search_batch(struct search_state *s, struct scan *scan, struct search_file_batch *b)
{
    size_t matches = 0;
    b->searched = 0;
    buf_reset(&b->text);
    for (size_t i = 0; i < b->n; i++) {
        struct found *f = &b->found[i];
        *f = (struct found){.lines = f->lines, .cap = f->cap, .text = &b->text};
        if (stop_asked(&s->stop) || matches > s->options->limit)
            continue;
        search_file(scan, b->dir_fd, b->paths.p + b->at[i] + b->dir_n, f);
        matches += f->matches;
        b->searched += f->end == SCAN_ALL && !stop_asked(&s->stop);
    }
    close(b->dir_fd);
    b->dir_fd = -1;
}

/* Reports finished batches in order, up to the first unfinished one. Called with the lock held. */
static void search_merge(struct search_state *s)
{
    for (; s->merged < s->filled; s->merged++) {
        struct search_file_batch *b = batch_of(s, s->merged);
        if (b->state != BATCH_DONE)
            return;
        b->state = BATCH_FREE;
        for (size_t i = 0; i < b->n && !s->enough; i++) {
            const struct found *f = &b->found[i];
            struct search_file file = {batch_path(b, i), f};
            if (f->end == SCAN_FAILED)
                walk_problems_add(&s->summary->problems, file.path, f->errnum);
            if (f->matches == 0 && f->gave_up == 0)
                continue;
            s->summary->matches += f->matches;
            s->enough = !s->options->file(s->options->context_ptr, &file);
        }
        s->summary->files += b->searched;
        if (s->enough)
            stop_ask(&s->stop);
    }
}

/* Searches the next batch; returns false if none is queued. Called with the lock held; releases it
 * while searching. */
static bool search_next_batch(struct search_state *s, struct scan *scan)
{
    if (s->taken == s->filled)
        return false;
    struct search_file_batch *b = batch_of(s, s->taken++);
    b->state = BATCH_AT_WORK;
    pthread_mutex_unlock(&s->lock);
    search_batch(s, scan, b);
    pthread_mutex_lock(&s->lock);
    b->state = BATCH_DONE;
    search_merge(s);
    pthread_cond_broadcast(&s->changed);
    return true;
}

static void *work_until_end(void *argument)
{
    struct search_state *s = argument;
    struct scan *scan = new_scan(s);
    pthread_mutex_lock(&s->lock);
    while (search_next_batch(s, scan) || !s->all_filled)
        if (s->taken == s->filled && !s->all_filled)
            pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    scan_free(scan);
    return NULL;
}

/* Filling batches ----------------------------------------------------------------------------- */

static unsigned search_thread_count(const struct search_options *o)
{
    cpu_set_t set;
    unsigned n = o->threads;
    if (n == 0 && sched_getaffinity(0, sizeof(set), &set) == 0)
        n = THREADS_EACH * (unsigned)CPU_COUNT(&set);
    return MIN(MAX(n, 1u), (unsigned)SEARCH_THREADS_MAX);
}

/* Starts the other threads with all signals blocked. Continues with fewer if creation fails. */
static void start_threads(struct search_state *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    unsigned wanted = search_thread_count(s->options) - 1;
    while (s->n_threads < wanted &&
           pthread_create(&s->threads[s->n_threads], NULL, work_until_end, s) == 0)
        s->n_threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wait_a_little(struct search_state *s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * 1000 * 1000;
    if (until.tv_nsec >= 1000 * 1000 * 1000) {
        until.tv_nsec -= 1000 * 1000 * 1000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&s->changed, &s->lock, &until);
    (void)stop_now(&s->stop);
}

/* Queues the current batch for searching; on return the next one is free. */
static void search_publish_batch(struct search_state *s, struct scan *scan)
{
    pthread_mutex_lock(&s->lock);
    batch_of(s, s->filled++)->state = BATCH_READY;
    pthread_cond_broadcast(&s->changed);
    if (s->filled == 2)
        start_threads(s);
    while (s->filled - s->merged == SEARCH_BATCHES)
        if (!search_next_batch(s, scan))
            wait_a_little(s);
    pthread_mutex_unlock(&s->lock);
    struct search_file_batch *next = batch_of(s, s->filled);
    next->n = 0;
    buf_reset(&next->paths);
}

static bool same_directory(const struct search_file_batch *b, const struct walk_entry *e)
{
    size_t dir_n = e->path.n - e->name.n;
    return b->n == 0 || (b->dir_n == dir_n && memcmp(b->paths.p + b->at[0], e->path.p, dir_n) == 0);
}

static bool search_add_file(struct search_state *s, struct scan *scan, const struct walk_entry *e)
{
    struct search_file_batch *b = batch_of(s, s->filled);
    if (b->n == SEARCH_BATCH_FILES || !same_directory(b, e)) {
        search_publish_batch(s, scan);
        b = batch_of(s, s->filled);
    }
    if (b->n == 0) {
        b->dir_fd = fcntl(e->dir_fd, F_DUPFD_CLOEXEC, 0);
        b->dir_n = e->path.n - e->name.n;
        if (b->dir_fd < 0)
            return false;
    }
    b->at[b->n] = b->paths.n;
    b->length[b->n] = e->path.n;
    buf_add(&b->paths, e->path.p, e->path.n + 1);
    BUG_ON(!buf_ok(&b->paths));
    b->n++;
    return true;
}

static bool walk_files(struct search_state *s, struct scan *scan, struct walk *w, struct err *err)
{
    const struct search_options *o = s->options;
    const struct walk_entry *e;
    for (uint64_t seen = 0; !stop_asked(&s->stop); seen++) {
        if (!walk_next(w, &e, err))
            return false;
        if (!e)
            return true;
        if (seen % 256 == 0 && stop_now(&s->stop))
            return true;
        if (e->type != DT_REG || e->closed || (o->wanted && !o->wanted(o->context_ptr, e->path)))
            continue;
        if (!search_add_file(s, scan, e))
            return err_errno(
                err, E_IO, errno, "cannot duplicate the file descriptor of a directory");
    }
    return true;
}

/* Queues the last batch, helps to search the remaining ones and joins the threads. */
static void search_finish(struct search_state *s, struct scan *scan)
{
    struct search_file_batch *last = batch_of(s, s->filled);
    pthread_mutex_lock(&s->lock);
    if (last->n > 0) {
        last->state = BATCH_READY;
        s->filled++;
    }
    s->all_filled = true;
    pthread_cond_broadcast(&s->changed);
    while (search_next_batch(s, scan))
        continue;
    while (s->merged < s->filled)
        wait_a_little(s);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->n_threads; i++)
        pthread_join(s->threads[i], NULL);
}

/* Entry points -------------------------------------------------------------------------------- */

static bool search_init(struct search_state *s, const struct search_options *options,
    struct search_summary *summary, struct err *err)
{
    *s = (struct search_state){
        .options = options,
        .summary = summary,
        .stop = {.cancel = options->cancel},
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
    };
    s->stop.deadline_ns = clock_mono_ns() + options->budget_ms * 1000 * 1000;
    return matcher_plan_new(options->pattern, &options->how, &s->plan, err);
}

static void search_close(struct search_state *s)
{
    s->summary->stopped = s->enough;
    s->summary->late = s->stop.late && !s->enough;
    s->summary->cancelled = s->stop.cancelled && !s->enough;
    for (size_t i = 0; s->batches && i < SEARCH_BATCHES; i++) {
        struct search_file_batch *b = &s->batches[i];
        buf_done(&b->paths);
        buf_done(&b->text);
        for (size_t k = 0; k < SEARCH_BATCH_FILES; k++)
            free(b->found[k].lines);
    }
    free(s->batches);
    matcher_plan_free(s->plan);
}

static struct search_file_batch *new_batches(const struct search_options *options)
{
    struct search_file_batch *batches = base_alloc(SEARCH_BATCHES * sizeof(*batches));
    for (size_t i = 0; i < SEARCH_BATCHES; i++)
        batches[i] = (struct search_file_batch){.dir_fd = -1,
            .paths = BUF_INIT(PATHS_MAX),
            .text = BUF_INIT(text_max(options) + TEXT_ROOM)};
    return batches;
}

bool search_dir(int dir_fd, const struct search_options *options, struct search_summary *summary,
    struct err *err)
{
    struct search_state s;
    AUTO_WALK struct walk *w = NULL;
    AUTO_WALK_PROBLEMS struct walk_problems walked = {0}; /* threads write the summary */
    struct walk_options walk = {.ignore = true, .problems = &walked};
    if (!search_init(&s, options, summary, err))
        return false;
    bool ok = walk_open(dir_fd, &walk, &w, err);
    if (ok) {
        struct scan *scan = new_scan(&s);
        s.batches = new_batches(options);
        ok = walk_files(&s, scan, w, err);
        if (!ok)
            stop_ask(&s.stop);
        search_finish(&s, scan);
        scan_free(scan);
    }
    for (size_t i = 0; i < MIN(walked.n, (size_t)WALK_PROBLEMS_KEPT); i++)
        walk_problems_add(&summary->problems, str_z(walked.kept[i].path), walked.kept[i].errnum);
    summary->problems.n += walked.n - MIN(walked.n, (size_t)WALK_PROBLEMS_KEPT);
    search_close(&s);
    return ok;
}

bool search_one(int fd, struct str path, const struct search_options *options,
    struct search_summary *summary, struct err *err)
{
    struct search_state s;
    struct stat st;
    if (!search_init(&s, options, summary, err))
        return false;
    struct scan *scan = new_scan(&s);
    AUTO_BUF struct buf text = BUF_INIT(text_max(options) + TEXT_ROOM);
    struct found found = {.text = &text};
    scan_fd(scan, fd, fstat(fd, &st) == 0 ? (size_t)st.st_size : 0, &found);
    if (found.end == SCAN_FAILED)
        walk_problems_add(&summary->problems, path, found.errnum);
    summary->files = found.end == SCAN_ALL;
    summary->matches = found.matches;
    s.enough = !options->file(options->context_ptr, &(struct search_file){path, &found});
    free(found.lines);
    scan_free(scan);
    search_close(&s);
    return true;
}
