/* Requests that the proxy of a run refused, for people and for the RunResult.
 *
 *     refused_list(buf_str(&p->refused), arena, &list);
 *
 * The report comes from a process that handles the command's requests: its texts are untrusted.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_REFUSED_H
#define JOB_REFUSED_H

#include "base/arena.h"
#include "base/json.h"

enum {
    REFUSED_HOSTS_MAX = 100, /* distinct ones that are listed */
};

struct refused_host {
    struct str host;
    uint16_t port;
    struct str why;
    uint64_t count;
    const char *fix; /* an option, or NULL */
};

struct refused_hosts {
    struct refused_host p[REFUSED_HOSTS_MAX];
    size_t n;
};

/* Reads the lines of a report (proxy/proxy.h); others are left out. */
void refused_list(struct str report, struct arena *a, struct refused_hosts *ret_list);

/* Appends {"op":"host","target","program","rule","fix","count"} to the result's list "denied". */
void refused_add_json(const struct refused_hosts *list, json_t *result);

#endif
