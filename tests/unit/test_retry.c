/* When a request is retried, and after which delay. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/retry.h"
#include "test.h"

/* 2026-11-16 00:00:00 UTC */
static const uint64_t now_ms = 1794787200000;

struct row {
    const char *name;
    long status;
    bool broken;
    const char *should, *after_ms, *after;
    unsigned attempt;
    uint64_t waited_ms;
    uint32_t chance;
    enum retry_verdict verdict;
    uint64_t delay_ms; /* of RETRY_AGAIN and RETRY_TOO_LONG */
};

static const struct row rows[] = {
    {.name = "408", .status = 408, .verdict = RETRY_AGAIN, .delay_ms = 500},
    {.name = "409", .status = 409, .verdict = RETRY_AGAIN, .delay_ms = 500},
    {.name = "429", .status = 429, .verdict = RETRY_AGAIN, .delay_ms = 500},
    {.name = "500", .status = 500, .verdict = RETRY_AGAIN, .delay_ms = 500},
    {.name = "529", .status = 529, .verdict = RETRY_AGAIN, .delay_ms = 500},
    {.name = "broken", .broken = true, .verdict = RETRY_AGAIN, .delay_ms = 500},
    {.name = "400", .status = 400, .verdict = RETRY_NEVER},
    {.name = "401", .status = 401, .verdict = RETRY_NEVER},
    {.name = "403", .status = 403, .verdict = RETRY_NEVER},
    {.name = "404", .status = 404, .verdict = RETRY_NEVER},
    {.name = "413", .status = 413, .verdict = RETRY_NEVER},
    {.name = "a redirect", .status = 307, .verdict = RETRY_NEVER},
    {.name = "no reason", .verdict = RETRY_NEVER},
    {.name = "it says so",
        .status = 400,
        .should = "true",
        .verdict = RETRY_AGAIN,
        .delay_ms = 500},
    {.name = "it says not", .status = 529, .should = "false", .verdict = RETRY_NEVER},
    {.name = "it mumbles",
        .status = 529,
        .should = "maybe",
        .verdict = RETRY_AGAIN,
        .delay_ms = 500},

    {.name = "doubled", .status = 500, .attempt = 1, .verdict = RETRY_AGAIN, .delay_ms = 1000},
    {.name = "doubled twice",
        .status = 500,
        .attempt = 3,
        .verdict = RETRY_AGAIN,
        .delay_ms = 4000},
    {.name = "half the chance",
        .status = 500,
        .chance = 500,
        .verdict = RETRY_AGAIN,
        .delay_ms = 438},
    {.name = "all the chance",
        .status = 500,
        .chance = 1999,
        .verdict = RETRY_AGAIN,
        .delay_ms = 376},
    {.name = "4 tries", .status = 500, .attempt = 4, .verdict = RETRY_USED_UP},
    {.name = "20 s", .status = 500, .waited_ms = 19600, .verdict = RETRY_USED_UP},

    {.name = "seconds", .status = 429, .after = "3", .verdict = RETRY_AGAIN, .delay_ms = 3000},
    {.name = "blanks", .status = 429, .after = " 3 ", .verdict = RETRY_AGAIN, .delay_ms = 3000},
    {.name = "none", .status = 429, .after = "0", .verdict = RETRY_AGAIN, .delay_ms = 0},
    {.name = "a float", .status = 429, .after = "1.25", .verdict = RETRY_AGAIN, .delay_ms = 1250},
    {.name = "many places",
        .status = 429,
        .after = "0.1239999",
        .verdict = RETRY_AGAIN,
        .delay_ms = 123},
    {.name = "milliseconds",
        .status = 429,
        .after_ms = "40",
        .after = "9",
        .verdict = RETRY_AGAIN,
        .delay_ms = 40},
    {.name = "a float of them",
        .status = 429,
        .after_ms = "40.7",
        .verdict = RETRY_AGAIN,
        .delay_ms = 40},
    {.name = "a date",
        .status = 429,
        .after = "Mon, 16 Nov 2026 00:00:07 GMT",
        .verdict = RETRY_AGAIN,
        .delay_ms = 7000},
    {.name = "a date gone by",
        .status = 429,
        .after = "Sun, 15 Nov 2026 23:59:59 GMT",
        .verdict = RETRY_AGAIN,
        .delay_ms = 0},
    {.name = "no date",
        .status = 429,
        .after = "Mon, 16 Xxx 2026 00:00:07 GMT",
        .verdict = RETRY_AGAIN,
        .delay_ms = 500},
    {.name = "words", .status = 429, .after = "soon", .verdict = RETRY_AGAIN, .delay_ms = 500},
    {.name = "less than none",
        .status = 429,
        .after = "-1",
        .verdict = RETRY_AGAIN,
        .delay_ms = 500},
    {.name = "a point", .status = 429, .after = ".", .verdict = RETRY_AGAIN, .delay_ms = 500},
    {.name = "empty", .status = 429, .after = "", .verdict = RETRY_AGAIN, .delay_ms = 500},
    {.name = "the most", .status = 429, .after = "20", .verdict = RETRY_AGAIN, .delay_ms = 20000},
    {.name = "too long",
        .status = 429,
        .after = "21",
        .verdict = RETRY_TOO_LONG,
        .delay_ms = 21000},
    {.name = "too long with what was",
        .status = 429,
        .after = "20",
        .waited_ms = 1,
        .verdict = RETRY_TOO_LONG,
        .delay_ms = 20000},
    {.name = "a date too far",
        .status = 429,
        .after = "Mon, 16 Nov 2026 00:01:00 GMT",
        .verdict = RETRY_TOO_LONG,
        .delay_ms = 60000},
};

static struct str header(const char *z)
{
    return str_z(z);
}

TEST(retry_decides)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *r = &rows[i];
        test_row(i, r->name);
        struct retry retry = {.most = RETRY_MOST, .attempt = r->attempt, .waited_ms = r->waited_ms};
        const struct retry_failure failure = {
            .status = r->status,
            .broken = r->broken,
            .should_retry = header(r->should),
            .retry_after_ms = header(r->after_ms),
            .retry_after = header(r->after),
            .wall_ms = now_ms,
            .chance = r->chance,
        };
        uint64_t delay_ms = 0;
        CHECK_INT(retry_next(&retry, &failure, &delay_ms), r->verdict);
        CHECK_INT(delay_ms, r->delay_ms);
        bool counted = r->verdict == RETRY_AGAIN;
        CHECK_INT(retry.attempt, r->attempt + counted);
        CHECK_INT(retry.waited_ms, r->waited_ms + (counted ? delay_ms : 0));
    }
}

/* A huge number does not overflow into a short wait. */
TEST(retry_after_huge)
{
    const char *const huge[] = {"99999999999999999999999999", "18446744073709551617"};
    for (size_t i = 0; i < ARRAY_LEN(huge); i++) {
        struct retry retry = {.most = RETRY_MOST};
        uint64_t delay_ms = 0;
        test_row(i, huge[i]);
        const struct retry_failure failure = {.status = 429, .retry_after = str_z(huge[i])};
        CHECK_INT(retry_next(&retry, &failure, &delay_ms), RETRY_TOO_LONG);
    }
}
