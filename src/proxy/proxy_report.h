/* Log of refused requests for `box show`: one line of JSON each, in limited number. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_PROXY_REPORT_H
#define PROXY_PROXY_REPORT_H

#include "base/str.h"

enum {
    REPORT_LINES_MAX = 1000,
    REPORT_RECENT = 64,
    REPORT_AGAIN_MS = 60 * 1000, /* minimum interval between reports of the same host and port */
    REPORT_HOST_MAX = 255,
};

struct proxy_report {
    int fd; /* -1: disabled */
    size_t lines;
    struct {
        uint64_t hash, until_ms;
    } recent[REPORT_RECENT];
    size_t next;
};

/* Never blocks: lines that cannot be written immediately are dropped. */
void report_refusal(struct proxy_report *r, struct str host, uint16_t port, const char *why);

#endif
