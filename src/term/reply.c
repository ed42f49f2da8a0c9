/* Answers to the program, in a bounded queue. An answer that does not fit is dropped whole: a
 * partial one would be interpreted as key presses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

#include <stdarg.h>

enum {
    REPLY_MAX = 8 * 1024,
};

static void vreply(
    struct term *t, const char *start, const char *end, const char *format, va_list args)
{
    AUTO_BUF struct buf b = BUF_INIT(REPLY_MAX);
    buf_add_z(&b, start);
    buf_vprintf(&b, format, args);
    buf_add_z(&b, end);
    if (buf_ok(&b) && t->replies.n + b.n <= TERM_REPLIES_MAX)
        buf_add_str(&t->replies, buf_str(&b));
    else
        term_no_answer(t);
    term_tell(t, TERM_EVENT_QUERY, buf_str(&b), 0);
}

void reply(struct term *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vreply(t, "", "", format, args);
    va_end(args);
}

void reply_csi(struct term *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vreply(t, t->c1_replies ? "\x9B" : "\x1B[", "", format, args);
    va_end(args);
}

void reply_dcs(struct term *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vreply(t, t->c1_replies ? "\x90" : "\x1BP", t->c1_replies ? "\x9C" : "\x1B\\", format, args);
    va_end(args);
}

/* Uses the query's terminator. */
void reply_osc(struct term *t, const char *format, ...)
{
    const char *st = t->c1_replies ? "\x9C" : "\x1B\\";
    va_list args;
    va_start(args, format);
    vreply(t, t->c1_replies ? "\x9D" : "\x1B]", t->parser.bell ? "\a" : st, format, args);
    va_end(args);
}
