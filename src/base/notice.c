/* Warnings for the user from code that does not print. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/notice.h"

#include "base/buf.h"

#include <stdarg.h>

enum {
    NOTICE_MAX = 1 << 18,
};

void notice_send(struct notices notices, const char *format, ...)
{
    AUTO_BUF struct buf text = BUF_INIT(NOTICE_MAX);
    va_list args;
    if (!notices.put)
        return;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    notices.put(notices.context, buf_str(&text));
}
