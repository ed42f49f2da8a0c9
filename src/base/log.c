/* The debug log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/clock.h"
#include "base/utf8.h"

enum {
    LINE_MAX_BYTES = 8 * 1024,
};

static struct {
    enum log_level level;
    int fd;
} log_state = {LOG_OFF, 2};

static const char *const level_names[] = {"off", "warn", "info", "debug"};

void log_init(enum log_level level, int fd)
{
    log_state.level = level;
    log_state.fd = fd;
}

bool log_level_parse(struct str name, enum log_level *ret_level)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
        if (str_is(name, level_names[i])) {
            *ret_level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

bool log_enabled(enum log_level level)
{
    return level != LOG_OFF && level <= log_state.level;
}

void log_write(enum log_level level, const char *where, const char *format, ...)
{
    AUTO_BUF struct buf text = BUF_INIT(LINE_MAX_BYTES);
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (!buf_ok(&text))
        buf_add_z((buf_reset(&text), &text), "(a line too long to log)");

    AUTO_BUF struct buf line = BUF_INIT(8 * LINE_MAX_BYTES);
    char date[CLOCK_RFC3339];
    clock_rfc3339(clock_wall_ms(), date);
    buf_printf(&line, "%s %s %s: ", date, level_names[level], where);
    utf8_add_printable(&line, buf_str(&text));
    buf_add_byte(&line, '\n');
    /* Ignore write errors: logging must not stop the program. */
    ssize_t written UNUSED = write(log_state.fd, line.p, line.n);
}
