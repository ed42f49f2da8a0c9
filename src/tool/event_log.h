/* Events of tool calls, appended to a file: one line of JSON each.
 *
 *     struct event_log log = EVENT_LOG_INIT;
 *     if (!event_log_open(&log, path, warnings, err)) return false;
 *     toolbox_options.events = event_log_sink(&log);
 *     event_log_close(&log);
 *
 * Tools never wait for the file, which may be a pipe: lines that cannot be written are dropped, and
 * the first such failure is reported as a warning.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_EVENT_LOG_H
#define TOOL_EVENT_LOG_H

#include "base/buf.h"
#include "base/notice.h"
#include "tool/tool_event.h"

enum {
    EVENT_LOG_LINE_MAX = 1 << 20, /* maximum length of an event */
};

struct event_log {
    int fd;
    const char *path;
    struct notices warnings;
    bool lost;       /* and a warning was sent */
    struct buf rest; /* unwritten rest of an event */
    size_t rest_at;
};

#define EVENT_LOG_INIT ((struct event_log){.fd = -1, .rest = BUF_INIT(EVENT_LOG_LINE_MAX)})

/* `path` must remain valid. */
MUST_USE bool event_log_open(
    struct event_log *log, const char *path, struct notices warnings, struct err *err);
void event_log_close(struct event_log *log);
struct tool_event_sink event_log_sink(struct event_log *log);

#endif
