/* Decides whether and when to retry a failed request. Pure: time and randomness are parameters.
 *
 * At most 4 retries and 20 s of waiting in total. x-should-retry decides if present; otherwise
 * connection failures, truncated streams, 408, 409, 429 and 500 and above are retried. A delay
 * requested by the service (retry-after-ms, retry-after in seconds or as a date) is honoured if it
 * fits into the total, and is reported as a failure if not; without one the delay is 0.5 s, doubled
 * each time up to 8 s, less up to a quarter at random.
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
    unsigned most; /* maximum number of retries */
    unsigned attempt;
    uint64_t waited_ms;
};

struct retry_failure {
    long status; /* 0: no answer, or a truncated stream */
    bool broken; /* connection failure, or a truncated stream */
    struct str should_retry, retry_after_ms, retry_after; /* headers; no value: none */
    uint64_t wall_ms;                                     /* current time, for a date */
    uint32_t chance;                                      /* a random number */
};

enum retry_verdict {
    RETRY_AGAIN,    /* after *ret_delay_ms; the attempt is counted */
    RETRY_NEVER,    /* a retry would fail again */
    RETRY_USED_UP,  /* too many retries, or too long a wait */
    RETRY_TOO_LONG, /* the service asks for *ret_delay_ms, more than we wait */
};

enum retry_verdict retry_next(
    struct retry *retry, const struct retry_failure *failure, uint64_t *ret_delay_ms);

#endif
