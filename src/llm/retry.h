/* Whether, and how long from now, a failed request is tried again. Pure: time and chance are given.
 *
 * At most 4 times and 20 s of waiting in all. x-should-retry decides if it is there; else
 * connection failures, streams cut off, 408, 409, 429 and 500 and above are tried again. What the
 * service asks for (retry-after-ms, retry-after in seconds or as a date) is obeyed if it fits into
 * the time, and is a failure that says so otherwise; without it 0.5 s doubled each time, less up to
 * a quarter.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_RETRY_H
#define LLM_RETRY_H

#include "base/err.h"
#include "base/str.h"

enum {
    RETRY_MOST = 4,
    RETRY_TOTAL_MS = 20 * 1000,
};

struct retry {
    unsigned most; /* how often at most */
    unsigned attempt;
    uint64_t waited_ms;
};

struct retry_failure {
    long status; /* 0: no answer, or a stream that broke */
    bool broken; /* connection, or a stream without its end */
    struct str should_retry, retry_after_ms, retry_after; /* headers; no value: none */
    uint64_t wall_ms;                                     /* now, for a date */
    uint32_t chance;                                      /* any number */
};

enum retry_verdict {
    RETRY_AGAIN,    /* after *ret_delay_ms; it is counted */
    RETRY_NEVER,    /* would fail again */
    RETRY_USED_UP,  /* tried often enough, or waited long enough */
    RETRY_TOO_LONG, /* the service asks for *ret_delay_ms, which is more than we wait */
};

enum retry_verdict retry_next(
    struct retry *retry, const struct retry_failure *failure, uint64_t *ret_delay_ms);

#endif
