/* Classifies lines of Markdown. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/mdline.h"

#include <strings.h>

enum {
    TAB = 4,
    FENCE_MIN = 3,
    RULE_MIN = 3,
    HEADINGS = 6,
    DIGITS_MAX = 9,
    BLANKS_MAX = 4, /* spaces after a marker; more begin a code block */
};

size_t mdline_indent(struct str line)
{
    size_t n = 0;
    while (n < line.n && line.p[n] == ' ')
        n++;
    return n;
}

bool mdline_blank(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] != ' ' && line.p[i] != '\t')
            return false;
    return true;
}

void mdline_expand(struct str line, struct buf *out)
{
    size_t i = 0, start = out->n;
    for (; i < line.n && memchr(" \t>*+-.)0123456789", line.p[i], 19); i++)
        if (line.p[i] == '\t')
            buf_add(out, "    ", TAB - (out->n - start) % TAB);
        else
            buf_add_byte(out, line.p[i]);
    buf_add_str(out, str_skip(line, i));
}

static size_t mdline_run_length(struct str line, char c)
{
    size_t n = 0;
    while (n < line.n && line.p[n] == c)
        n++;
    return n;
}

size_t mdline_fence(struct str line)
{
    size_t ticks = mdline_run_length(line, '`'), n = MAX(ticks, mdline_run_length(line, '~'));
    if (n < FENCE_MIN || (ticks && str_find(str_skip(line, n), '`') >= 0))
        return 0;
    return n;
}

bool mdline_fence_ends(struct str line, char fence, size_t length)
{
    size_t n = mdline_run_length(line, fence);
    return n >= length && mdline_blank(str_skip(line, n));
}

unsigned mdline_heading(struct str line, struct str *ret_text)
{
    size_t n = mdline_run_length(line, '#');
    struct str text = str_skip(line, n);
    if (n == 0 || n > HEADINGS || (text.n && text.p[0] != ' '))
        return 0;
    text = str_trim_end(str_skip(text, mdline_indent(text)), ' ');
    struct str open = str_trim_end(text, '#');
    if (open.n == 0 || open.p[open.n - 1] == ' ')
        text = str_trim_end(open, ' ');
    *ret_text = text;
    return (unsigned)n;
}

unsigned mdline_underline(struct str line)
{
    line = str_trim_end(line, ' ');
    if (line.n == 0)
        return 0;
    return mdline_run_length(line, '=') == line.n   ? 1
           : mdline_run_length(line, '-') == line.n ? 2
                                                    : 0;
}

bool mdline_rule(struct str line)
{
    size_t n = 0;
    if (line.n == 0 || !memchr("-_*", line.p[0], 3))
        return false;
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] != line.p[0] && line.p[i] != ' ')
            return false;
        n += line.p[i] == line.p[0];
    }
    return n >= RULE_MIN;
}

bool mdline_marker(struct str line, struct mdline_marker *ret_marker)
{
    struct mdline_marker m = {0};
    size_t n = 0;
    while (n < line.n && line.p[n] >= '0' && line.p[n] <= '9' && n < DIGITS_MAX)
        m.number = m.number * 10 + (unsigned)(line.p[n++] - '0');
    const char *marks = n ? ".)" : "-+*";
    if (n >= line.n || !strchr(marks, line.p[n]) || line.p[n] == 0)
        return false;
    m.mark = line.p[n++];
    struct str rest = str_skip(line, n);
    size_t blanks = mdline_indent(rest);
    m.empty = mdline_blank(rest);
    if (!m.empty && blanks == 0)
        return false;
    m.width = n + (m.empty || blanks > BLANKS_MAX ? 1 : blanks);
    *ret_marker = m;
    return true;
}

bool mdline_html(struct str line)
{
    static const char *const tags[] = {"a", "address", "article", "aside", "body", "br", "center",
        "dd", "details", "div", "dl", "dt", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
        "head", "header", "hr", "html", "iframe", "img", "li", "link", "main", "meta", "nav", "ol",
        "p", "pre", "script", "section", "style", "summary", "table", "tbody", "td", "textarea",
        "tfoot", "th", "thead", "title", "tr", "ul"};
    if (str_starts_with(line, STR("<!")) || str_starts_with(line, STR("<?")))
        return true;
    if (!str_starts_with(line, STR("<")))
        return false;
    line = str_skip(line, str_starts_with(line, STR("</")) ? 2 : 1);
    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        size_t n = strlen(tags[i]);
        if (line.n >= n && strncasecmp(line.p, tags[i], n) == 0 &&
            (line.n == n || memchr(" >/", line.p[n], 3)))
            return true;
    }
    return false;
}

/* Strips the outer bars of a table row. */
static struct str mdline_strip_bars(struct str line)
{
    line = str_trim_end(str_skip(line, mdline_indent(line)), ' ');
    if (str_starts_with(line, STR("|")))
        line = str_skip(line, 1);
    if (str_ends_with(line, STR("|")) && !str_ends_with(line, STR("\\|")))
        line.n--;
    return line;
}

size_t mdline_delimiters(struct str line)
{
    size_t columns = 0;
    struct str cell, rest = mdline_strip_bars(line);
    if (str_find(line, '-') < 0 || (str_find(line, '|') < 0 && str_find(line, ':') < 0))
        return 0;
    while (str_cut(rest, '|', &cell, &rest)) {
        cell = str_trim_end(str_skip(cell, mdline_indent(cell)), ' ');
        cell = str_skip(cell, str_starts_with(cell, STR(":")));
        cell.n -= str_ends_with(cell, STR(":"));
        if (cell.n == 0 || mdline_run_length(cell, '-') != cell.n)
            return 0;
        columns++;
    }
    return columns;
}

size_t mdline_cells(struct str line)
{
    size_t n = 1;
    line = mdline_strip_bars(line);
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '\\')
            i++;
        else
            n += line.p[i] == '|';
    }
    return n;
}
