/* Events of tool calls in a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

/* Writes as much as possible without blocking. Returns true if everything was written. */
static bool event_log_write_some(int fd, struct str text, size_t *at)
{
    while (*at < text.n) {
        ssize_t n = write(fd, text.p + *at, text.n - *at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        *at += (size_t)n;
    }
    return true;
}

/* Writes a line completely or not at all: the rest of a partial line is written before the next. */
static bool event_log_write_line(struct event_log *log, struct str line)
{
    size_t at = 0;
    if (!event_log_write_some(log->fd, buf_str(&log->rest), &log->rest_at))
        return false;
    buf_reset(&log->rest);
    log->rest_at = 0;
    if (event_log_write_some(log->fd, line, &at))
        return true;
    if (at > 0)
        buf_add_str(&log->rest, str_skip(line, at));
    return false;
}

/* A write failure does not stop a tool; only the first one is reported. */
static void event_log_add(void *context, const struct tool_event *event)
{
    struct event_log *log = context;
    AUTO_JSON json_t *object = tool_event_json(event);
    AUTO_BUF struct buf line = BUF_INIT(EVENT_LOG_LINE_MAX);
    json_add_compact(&line, object);
    buf_add_byte(&line, '\n');
    errno = EMSGSIZE;
    if ((buf_ok(&line) && event_log_write_line(log, buf_str(&line))) || log->lost)
        return;
    log->lost = true;
    notice_send(log->warnings, "cannot write events to '%s': %s; some events are missing",
        log->path, strerror(errno));
}

bool event_log_open(
    struct event_log *log, const char *path, struct notices warnings, struct err *err)
{
    /* Non-blocking: tools must not wait for the reader of a pipe. */
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    log->fd = open(path, flags, 0600);
    if (log->fd < 0)
        return err_errno(err, E_IO, errno, "cannot write events to '%s'", path);
    signal(SIGPIPE, SIG_IGN);
    log->path = path;
    log->warnings = warnings;
    return true;
}

void event_log_close(struct event_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
    buf_done(&log->rest);
}

struct tool_event_sink event_log_sink(struct event_log *log)
{
    return (struct tool_event_sink){event_log_add, log};
}
