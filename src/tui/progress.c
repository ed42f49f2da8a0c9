/* Progress line on a terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/progress.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "io/timed_write.h"
#include "io/tty.h"

#include <time.h>

enum {
    TEXT_MAX = 4096,
    LINE_MAX_BYTES = 4 * TEXT_MAX,
    MARGIN = 16, /* columns for the time and separators */
};

/* Truncates by bytes, which are never fewer than columns: a longer line would wrap. */
static struct str progress_truncate(struct str text, size_t columns)
{
    size_t n = MIN(text.n, columns);
    while (n && n < text.n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
        n--;
    return str_head(text, n);
}

static void progress_write(const struct progress *p, struct str text)
{
    struct write_deadline none = {.until_ms = 0, .cancel = -1};
    bool written UNUSED = timed_write(p->fd, text, &none);
}

static void progress_draw(struct progress *p)
{
    AUTO_BUF struct buf line = BUF_INIT(LINE_MAX_BYTES);
    size_t columns = tty_size(p->fd).cols, used = p->more.n + MARGIN;
    struct str what = progress_truncate(buf_str(&p->what), columns > used ? columns - used : 0);
    uint64_t seconds = (clock_mono_ms() - p->begun_ms) / 1000;
    buf_printf(&line, "\r\033[K\033[2m" STR_FMT "%s  %llu s%s" STR_FMT "\033[0m", STR_ARG(what),
        what.n < p->what.n ? "…" : "", (unsigned long long)seconds, p->more.n ? "  " : "",
        STR_ARG(progress_truncate(buf_str(&p->more), columns)));
    progress_write(p, buf_str(&line));
}

static void *progress_thread(void *context)
{
    struct progress *p = context;
    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&p->change, &p->lock, &until);
        if (p->shown && !p->over)
            progress_draw(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void progress_start(struct progress *p, int fd)
{
    pthread_condattr_t monotonic;
    *p = (struct progress){.fd = fd,
        .begun_ms = clock_mono_ms(),
        .what = BUF_INIT(TEXT_MAX),
        .more = BUF_INIT(TEXT_MAX)};
    const char *term = getenv("TERM");
    if (!isatty(fd) || !term || strcmp(term, "dumb") == 0)
        return;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    p->on = pthread_create(&p->clock, NULL, progress_thread, p) == 0;
}

void progress_stop(struct progress *p)
{
    if (p->on) {
        progress_hide(p);
        pthread_mutex_lock(&p->lock);
        p->over = true;
        pthread_cond_signal(&p->change);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->clock, NULL);
        pthread_cond_destroy(&p->change);
        pthread_mutex_destroy(&p->lock);
    }
    p->on = false;
    buf_done(&p->what);
    buf_done(&p->more);
}

void progress_show(struct progress *p, struct str what, struct str more)
{
    if (!p->on)
        return;
    pthread_mutex_lock(&p->lock);
    buf_reset(&p->what);
    buf_reset(&p->more);
    utf8_add_printable(&p->what, str_head(what, TEXT_MAX / 8));
    utf8_add_printable(&p->more, str_head(more, TEXT_MAX / 8));
    p->shown = true;
    progress_draw(p);
    pthread_mutex_unlock(&p->lock);
}

void progress_hide(struct progress *p)
{
    if (!p->on)
        return;
    pthread_mutex_lock(&p->lock);
    if (p->shown)
        progress_write(p, STR("\r\033[K"));
    p->shown = false;
    pthread_mutex_unlock(&p->lock);
}
