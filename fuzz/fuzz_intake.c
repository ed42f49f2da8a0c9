/* HTTP requests and answers: the same whole and byte by byte. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/intake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void finish(struct intake *in, struct buf *seen)
{
    while (in->state == INTAKE_WHOLE) {
        buf_printf(seen, STR_FMT "|" STR_FMT "|%ld|%zu\n", STR_ARG(in->method), STR_ARG(in->target),
            in->code, in->body.n);
        intake_next(in);
    }
}

static void feed(struct str bytes, bool answers, size_t step, struct buf *seen)
{
    struct intake in;
    intake_init(&in);
    in.answers = answers;
    for (size_t at = 0; at < bytes.n; at += step) {
        intake_push(&in, str_head(str_skip(bytes, at), step));
        finish(&in, seen);
    }
    buf_printf(seen, "%d %u", (int)in.state, in.status);
    intake_done(&in);
}

static void compare(struct str bytes, bool answers)
{
    AUTO_BUF struct buf whole = BUF_INIT(1 << 20), pieces = BUF_INIT(1 << 20);
    feed(bytes, answers, bytes.n ? bytes.n : 1, &whole);
    feed(bytes, answers, 1, &pieces);
    BUG_ON(!str_eq(buf_str(&whole), buf_str(&pieces)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INTAKE_READ)
        return 0;
    compare(str_n((const char *)data, size), false);
    compare(str_n((const char *)data, size), true);
    return 0;
}
