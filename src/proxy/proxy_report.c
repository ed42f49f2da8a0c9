/* Log of refused requests. The number of lines is limited, as a box can cause any number of
 * refusals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/proxy_report.h"

#include "base/clock.h"
#include "base/fnv.h"
#include "base/json.h"

#include <poll.h>

enum {
    LINE_MAX_BYTES = 4096, /* PIPE_BUF: written atomically */
};

static bool report_is_repeat(struct proxy_report *r, struct str host, uint16_t port)
{
    uint64_t now = clock_mono_ms(),
             hash = fnv_add(fnv_add(FNV_START, host), str_n((const char *)&port, sizeof(port)));
    for (size_t i = 0; i < REPORT_RECENT; i++)
        if (r->recent[i].hash == hash && r->recent[i].until_ms > now)
            return true;
    r->recent[r->next].hash = hash;
    r->recent[r->next].until_ms = now + REPORT_AGAIN_MS;
    r->next = (r->next + 1) % REPORT_RECENT;
    return false;
}

void report_refusal(struct proxy_report *r, struct str host, uint16_t port, const char *why)
{
    struct pollfd out = {.fd = r->fd, .events = POLLOUT};
    AUTO_BUF struct buf line = BUF_INIT(LINE_MAX_BYTES);
    char time[CLOCK_RFC3339];
    host = str_head(host, REPORT_HOST_MAX);
    if (r->fd < 0 || r->lines >= REPORT_LINES_MAX || report_is_repeat(r, host, port))
        return;
    if (++r->lines == REPORT_LINES_MAX) {
        host = STR("");
        port = 0;
        why = "too many refusals: further ones are not listed";
    }
    clock_rfc3339(clock_wall_ms(), time);
    AUTO_JSON json_t *entry = json_object();
    json_put(entry, "time", json_string(time));
    json_put(entry, "host", json_text(host));
    json_put(entry, "port", json_integer(port));
    json_put(entry, "why", json_text(str_z(why)));
    json_add_compact(&line, entry);
    buf_add_byte(&line, '\n');
    if (!buf_ok(&line) || poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT))
        return;
    if (write(r->fd, line.p, line.n) != (ssize_t)line.n)
        r->fd = -1; /* partial line: nothing must follow it */
}
