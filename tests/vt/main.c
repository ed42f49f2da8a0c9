/* Cases for the terminal: bytes in; cells, cursor, answers and events out. `vt FILE.vt…` prints
 * TAP, one test for each case; a case that crashes fails, and the others run (isolate.h).
 *
 *     == CUP stops at the edges of the screen
 *     size 5 10
 *     feed "\e[99;99Hx"
 *     row 4 "         x"
 *     cursor 4 9 pending
 *
 * Every case is run in three ways side by side: each `feed` whole, byte by byte, and in random cuts
 * (always the same ones). Everything visible is compared after each, and each check is made on all
 * three. Sequences that are unknown or unanswered, and answers, must be named by the case: others
 * are failures. Rows and columns count from 0; a row below 0 is in the scrollback, -1 the newest.
 * "A|A-B" is a number or a range.
 *
 * A text is in quotes, with \e \n \r \t \a \b \v \f \\ \" \xNN (a byte) \u{NNNN} (a code point). A
 * line that begins with '#' is a comment.
 *
 *     size ROWS COLS [scrollback N] [wcwidth] [onlcr] [may-resize]   else 5 10, scrollback 100
 *     feed TEXT [xTIMES]
 *     end                               no more bytes come (term_feed_end)
 *     resize ROWS COLS                  as the user does it
 *     crash                             ends this program, for tests/isolate
 *
 *     row A|A-B TEXT                    blanks at the end do not count
 *     screen                            then lines "|text", raw; the rows after them are blank
 *     cell A|A-B A|A-B [TEXT] LOOK…     " " is an empty cell, "" the right half of a wide one
 *          wide, tail (a right half), fg= bg= ul= with ansi:N index:N rgb:R,G,B, bold faint italic
 *          blink rapid inverse conceal strike overline underline underline=double (single, curly,
 *          dotted, dashed) link=URI link-id=ID; anything that is not named must be absent
 *     cursor ROW COL [hidden] [pending] [blink|steady] [block|underline|bar]
 *     wraps ROW yes|no                  continues in the next row
 *     history N                         lines of scrollback
 *     is-size ROWS COLS
 *     reply TEXT                        all that was answered since the last `reply`
 *     reply-starts TEXT                 the same, but only its beginning
 *     event KIND [ROWS COLS] [TEXT]     the oldest of its kind that was not named yet: title icon
 *          bell unknown unanswered replaced truncated clipboard resize (with a size) frame query
 *     events KIND N                     how many there are that were not named yet
 *     unknown TEXT [N]                  such a sequence, N times all in all
 *     unknowns N                        kinds of them, instead of naming each
 *     unanswered TEXT [N]
 *     title TEXT; icon TEXT
 *     alternate, frame, reverse, middle, graphemes yes|no     the alternate screen, 2026, DECSCNM,
 *                                       within a sequence, 2027
 *     input WORD…                       the modes of keyboard and mouse, in this order:
 *          cursor-keys keypad backspace newline paste focus scroll alternate modify=N format=N
 *          kitty=N mouse=x10|normal|button|any coding=utf8|sgr|urxvt|pixels
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "isolate.h"
#include "vt.h"

#include <errno.h>
#include <stdarg.h>

enum {
    FILE_MAX = 4 << 20,
    CASE_ARENA = 64 << 20,
    SCROLLBACK = 100,
};

static struct isolated *progress;
static size_t n_tests, first; /* tests before `first` have run */
static int n_files;
static char **files;

bool run_fail(struct run *r, const char *format, ...)
{
    va_list args;
    r->failures++;
    printf("# %s:%u: ", r->file, r->line);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    return false;
}

void run_start(struct run *r)
{
    if (r->started)
        return;
    r->started = true;
    for (enum way way = 0; way < WAYS; way++)
        machine_start(&r->machines[way], way, &r->options, r->seed);
}

/* Words --------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The number after \x or \u; false if it is not a number. */
static bool take_number(struct str *s, bool braces, uint32_t *ret_value)
{
    uint32_t value = 0;
    size_t i = braces, digits = 0;
    if (braces && (s->n == 0 || s->p[0] != '{'))
        return false;
    for (; i < s->n && hex_digit(s->p[i]) >= 0 && digits < (braces ? 6 : 2); i++, digits++)
        value = value << 4 | (uint32_t)hex_digit(s->p[i]);
    if (braces && (i >= s->n || s->p[i++] != '}' || !utf8_is_scalar(value)))
        return false;
    if (digits == 0 || (!braces && digits != 2))
        return false;
    *s = str_skip(*s, i);
    *ret_value = value;
    return true;
}

/* Parses an escape after its backslash. */
static bool take_escape(struct str *s, struct buf *b)
{
    static const char names[] = "enrtabvf\\\"", bytes[] = "\x1B\n\r\t\a\b\v\f\\\"";
    char utf8[UTF8_MAX];
    uint32_t value;
    if (s->n == 0)
        return false;
    char c = s->p[0];
    *s = str_skip(*s, 1);
    const char *at = c ? strchr(names, c) : NULL;
    if (at) {
        buf_add_byte(b, bytes[at - names]);
        return true;
    }
    if ((c != 'x' && c != 'u') || !take_number(s, c == 'u', &value))
        return false;
    if (c == 'x')
        buf_add_byte(b, (char)value);
    else
        buf_add(b, utf8, utf8_write(value, utf8));
    return true;
}

/* Parses a text after its opening quote. */
static bool take_quoted(struct run *r, struct str *s, struct str *ret_text)
{
    AUTO_BUF struct buf b = BUF_INIT(FILE_MAX);
    while (s->n && s->p[0] != '"') {
        char c = s->p[0];
        *s = str_skip(*s, 1);
        if (c != '\\')
            buf_add_byte(&b, c);
        else if (!take_escape(s, &b))
            return run_fail(r, "no such escape");
    }
    if (s->n == 0)
        return run_fail(r, "the quote is not closed");
    *s = str_skip(*s, 1);
    *ret_text = arena_str(r->arena, buf_str(&b));
    return true;
}

static bool split_words(
    struct run *r, struct str s, struct shell_word words[WORDS_MAX], size_t *ret_n)
{
    size_t n = 0;
    for (;;) {
        while (s.n && s.p[0] == ' ')
            s = str_skip(s, 1);
        if (s.n == 0)
            break;
        if (n == WORDS_MAX)
            return run_fail(r, "too many words");
        words[n].quoted = s.p[0] == '"';
        if (words[n].quoted) {
            s = str_skip(s, 1);
            if (!take_quoted(r, &s, &words[n].text))
                return false;
        } else {
            ptrdiff_t end = str_find(s, ' ');
            words[n].text = end < 0 ? s : str_head(s, (size_t)end);
            s = str_skip(s, words[n].text.n);
        }
        n++;
    }
    *ret_n = n;
    return true;
}

/* Cases --------------------------------------------------------------------------------------- */

static void run_line(struct run *r, struct str line)
{
    struct shell_word words[WORDS_MAX];
    size_t n = 0;
    if (r->in_screen && str_starts_with(line, STR("|"))) {
        directive_screen_line(r, str_skip(line, 1));
        return;
    }
    if (r->in_screen)
        directive_screen_end(r);
    if (line.n == 0 || line.p[0] == '#')
        return;
    if (split_words(r, line, words, &n) && n)
        directive_run(r, words, n);
}

static bool is_heading(struct str line)
{
    return str_starts_with(line, STR("== "));
}

/* Whether the next test is to be run, after the one that crashed; the progress is noted. */
static bool next_test(const char *file, struct str name)
{
    char text[256];
    size_t index = n_tests++;
    if (index < first)
        return false;
    snprintf(text, sizeof(text), "%s: " STR_FMT, file, STR_ARG(name));
    isolate_begin(progress, index, text);
    return true;
}

static struct str skip_case(struct str text, unsigned *line)
{
    struct str one, rest;
    while (text.n && !is_heading(text) && str_cut(text, '\n', &one, &rest)) {
        ++*line;
        text = rest;
    }
    return text;
}

/* Runs from after the heading to the next one; returns the rest. */
static struct str run_case(const char *file, struct str name, struct str text, unsigned *line)
{
    if (!next_test(file, name))
        return skip_case(text, line);
    AUTO_ARENA struct arena arena = ARENA_INIT(CASE_ARENA);
    struct run r = {
        .options = {.rows = 5, .cols = 10, .scrollback = SCROLLBACK},
        .seed = UINT64_C(0x9E3779B97F4A7C15) ^ *line,
        .arena = &arena,
        .file = file,
        .line = *line,
    };
    struct str one, rest;
    while (text.n && !is_heading(text)) {
        if (!str_cut(text, '\n', &one, &rest))
            break;
        r.line = ++*line;
        run_line(&r, one);
        text = rest;
    }
    if (r.in_screen)
        directive_screen_end(&r);
    directive_end(&r);
    for (enum way way = 0; r.started && way < WAYS; way++)
        machine_stop(&r.machines[way]);
    progress->failed += r.failures > 0;
    printf("%sok %zu - %s: " STR_FMT "\n", r.failures ? "not " : "", progress->ran, file,
        STR_ARG(name));
    return text;
}

/* A file that can't be used counts as one test. */
static void refuse_file(const char *path, unsigned line, const char *why)
{
    if (!next_test(path, STR("")))
        return;
    printf("# %s:%u: %s\nnot ok %zu - %s\n", path, line, why, progress->ran, path);
    progress->failed++;
}

static void run_file(const char *path)
{
    AUTO_FREE char *bytes = base_alloc(FILE_MAX);
    FILE *f = fopen(path, "rb");
    if (!f) {
        refuse_file(path, 0, strerror(errno));
        return;
    }
    struct str text = str_n(bytes, fread(bytes, 1, FILE_MAX, f)), line;
    const char *slash = strrchr(path, '/');
    unsigned number = 0;
    fclose(f);
    while (str_cut(text, '\n', &line, &text)) {
        number++;
        if (is_heading(line)) {
            text = run_case(slash ? slash + 1 : path, str_skip(line, 3), text, &number);
        } else if (line.n && line.p[0] != '#') {
            refuse_file(path, number, "not in a case");
        }
    }
}

static void run_all(struct isolated *state)
{
    progress = state;
    first = state->next;
    for (int i = 0; i < n_files; i++)
        run_file(files[i]);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    n_files = argc - 1;
    files = argv + 1;
    return isolate_run(run_all, NULL);
}
