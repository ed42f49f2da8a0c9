/* Untrusted text in columns and lines of a terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/columns.h"

#include "base/utf8.h"
#include "term/unicode.h"

#include <time.h>

/* Text ---------------------------------------------------------------------------------------- */

unsigned columns_cut(struct buf *out, struct str text, unsigned columns)
{
    AUTO_BUF struct buf shown = BUF_INIT(12 * text.n + 16);
    utf8_add_printable(&shown, text);
    struct str rest = buf_str(&shown);
    unsigned used = 0, whole = 0; /* whole: columns of the part that leaves room for the ellipsis */
    size_t at = 0, fits = 0;
    while (at < rest.n && used <= columns) {
        uint32_t cp = 0;
        size_t n = utf8_decode(str_skip(rest, at), &cp);
        at += n ? n : 1;
        used += unicode_width(unicode_class(cp));
        if (used + 1 <= columns) {
            fits = at;
            whole = used;
        }
    }
    if (used <= columns) {
        buf_add_str(out, rest);
        return used;
    }
    buf_add_str(out, str_head(rest, fits));
    buf_add_z(out, columns ? "…" : "");
    return whole + (columns ? 1 : 0);
}

void columns_add(struct buf *out, struct str text, unsigned columns)
{
    unsigned used = columns_cut(out, text, columns);
    buf_printf(out, "%*s", (int)(columns - used + 2), "");
}

void columns_lines(struct buf *out, struct str text, const char *indent, size_t most)
{
    struct str line;
    size_t n = 0;
    while (str_cut(text, '\n', &line, &text)) {
        if (n++ == most) {
            buf_printf(out, "%s…\n", indent);
            return;
        }
        buf_add_z(out, line.n ? indent : "");
        utf8_add_printable(out, str_trim_end(line, '\r'));
        buf_add_byte(out, '\n');
    }
}

void columns_dir(struct buf *out, struct str cwd, unsigned columns)
{
    struct str home = str_z(getenv("HOME"));
    AUTO_BUF struct buf b = BUF_INIT(cwd.n + 8);
    bool below =
        home.n > 1 && str_starts_with(cwd, home) && (cwd.n == home.n || cwd.p[home.n] == '/');
    buf_add_z(&b, below ? "~" : "");
    buf_add_str(&b, below ? str_skip(cwd, home.n) : cwd);
    columns_cut(out, buf_str(&b), columns);
}

/* Time ---------------------------------------------------------------------------------------- */

void columns_ago(uint64_t then_ms, uint64_t now_ms, char text[COLUMNS_AGO])
{
    static const struct {
        uint64_t below, unit;
        const char *words;
    } steps[] = {
        {3600, 60, "%llu min ago"},
        {48 * 3600, 3600, "%llu h ago"},
        {30 * 86400, 86400, "%llu days ago"},
    };
    uint64_t seconds = now_ms > then_ms ? (now_ms - then_ms) / 1000 : 0;
    if (seconds < 60) {
        snprintf(text, COLUMNS_AGO, "just now");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (seconds < steps[i].below) {
            snprintf(
                text, COLUMNS_AGO, steps[i].words, (unsigned long long)(seconds / steps[i].unit));
            return;
        }
    time_t then = (time_t)(then_ms / 1000);
    struct tm tm;
    if (!localtime_r(&then, &tm) || strftime(text, COLUMNS_AGO, "%Y-%m-%d", &tm) == 0)
        snprintf(text, COLUMNS_AGO, "?");
}
