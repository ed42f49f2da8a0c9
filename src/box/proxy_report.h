/* What was refused, for `box show`: a line of JSON each, as many as a person can want. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PROXY_REPORT_H
#define BOX_PROXY_REPORT_H

#include "base/str.h"

enum {
    REPORT_LINES_MAX = 1000,
    REPORT_RECENT = 64,
    REPORT_AGAIN_MS = 60 * 1000, /* the same host and port are told so often at most */
    REPORT_HOST_MAX = 255,
};

struct proxy_report {
    int fd; /* -1: nobody wants to know */
    size_t lines;
    struct {
        uint64_t hash, until_ms;
    } recent[REPORT_RECENT];
    size_t next;
};

/* Never waits: what the descriptor does not take at once is lost. */
void report_refusal(struct proxy_report *r, struct str host, uint16_t port, const char *why);

#endif
