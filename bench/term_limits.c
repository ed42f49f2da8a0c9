/* Limits that no output of a program may exceed: `bench_term_limits memory KIND COLS` prints the
 * peak of resident KiB with 10,000 lines of scrollback; `bench_term_limits linear KIND` the CPU
 * seconds of n bytes and of 2n, and n. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/utf8.h"
#include "term/term.h"

#include <stdio.h>
#include <time.h>

enum {
    PIECE = 64 * 1024,
    ROWS = 24,
    COLS = 80,
    LINES = 10 * 1000,
    MIB = 1 << 20,
};

/* A source of bytes: adds those of the next cell, or piece, for any number. */
typedef void source(struct buf *b, unsigned i, unsigned cols);

/* Memory -------------------------------------------------------------------------------------- */

static void distinct_styles(struct buf *b, unsigned i, unsigned cols)
{
    (void)cols;
    buf_printf(b, "\x1b[38;2;%u;%u;%u;48;2;%u;%u;%um#", i >> 16 & 255, i >> 8 & 255, i & 255,
        i & 255, i >> 16 & 255, i >> 8 & 255);
}

static void distinct_clusters(struct buf *b, unsigned i, unsigned cols)
{
    char bytes[UTF8_MAX];
    (void)cols;
    buf_add_z(b, "a");
    for (unsigned k = 0; k < 29; k++) {
        unsigned mark = 0x300 + (k < 8 ? i >> (k * 4) & 15 : (i * 31 + k) % 0x60);
        buf_add(b, bytes, utf8_write(mark, bytes));
    }
}

static void distinct_links(struct buf *b, unsigned i, unsigned cols)
{
    (void)cols;
    if (i % 16 == 0)
        buf_printf(b, "\x1b]8;id=%u;https://example.org/%0500u\x1b\\", i, i);
    buf_add_z(b, "x");
}

/* As long as a link can be, each with a different colour. */
static void long_links(struct buf *b, unsigned i, unsigned cols)
{
    buf_printf(b, "\x1b[38;2;%u;%u;%umx", i >> 16 & 255, i >> 8 & 255, i & 255);
    if (i % cols == 0)
        buf_printf(b, "\x1b]8;;https://example.org/%02000u\x1b\\", i);
}

static void everything(struct buf *b, unsigned i, unsigned cols)
{
    distinct_styles(b, i, cols);
    distinct_clusters(b, i, cols);
    distinct_links(b, i, cols);
}

static void wide_text(struct buf *b, unsigned i, unsigned cols)
{
    char bytes[UTF8_MAX];
    (void)cols;
    buf_add(b, bytes, utf8_write(0x4E00 + i % 20000, bytes));
}

static void titles(struct buf *b, unsigned i, unsigned cols)
{
    if (i % (4 * cols) == 0)
        buf_printf(
            b, "\x1b]2;%04000u\x07\x1b[22t\x1b[c\x1b[18t\x1bP+q%08000u\x1b\\\x1b[%u!Z", i, i, i);
    buf_add_z(b, "x");
}

static struct term *new_term(unsigned cols, unsigned scrollback)
{
    return term_new(&(struct term_options){.rows = ROWS, .cols = cols, .scrollback = scrollback});
}

/* Not getrusage(): its peak is also that of the parent before it became this program. */
static long peak_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof(line), f) && sscanf(line, "VmHWM: %ld", &kib) != 1) {
    }
    if (f)
        fclose(f);
    return kib;
}

static int memory(source *next, unsigned cols)
{
    AUTO_BUF struct buf b = BUF_INIT(2 * PIECE);
    struct term *t = new_term(cols, LINES);
    /* Half as many lines again as are kept: old ones must also make room. */
    for (unsigned i = 0; i < LINES / 2 * 3 * cols; i++) {
        next(&b, i, cols);
        if (b.n < PIECE)
            continue;
        term_feed(t, buf_str(&b));
        buf_reset(&b);
    }
    term_feed(t, buf_str(&b));
    long kib = peak_kib();
    term_free(t);
    printf("%ld\n", kib);
    return kib < 0;
}

/* Linearity ----------------------------------------------------------------------------------- */

static void many_parameters(struct buf *b, unsigned i, unsigned cols)
{
    (void)i;
    (void)cols;
    buf_add_z(b, "\x1b[");
    for (unsigned k = 0; k < 500; k++)
        buf_printf(b, "%u;", k);
    buf_add_z(b, "m");
}

static void escapes(struct buf *b, unsigned i, unsigned cols)
{
    (void)i;
    (void)cols;
    for (unsigned k = 0; k < 64; k++)
        buf_add_z(b, "\x1b\x1b\x1b\x1b");
}

static void osc_content(struct buf *b, unsigned i, unsigned cols)
{
    (void)cols;
    buf_printf(b, "%08u", i);
}

/* Sequences without a meaning: each is remembered or counted. */
static void unknown(struct buf *b, unsigned i, unsigned cols)
{
    (void)cols;
    buf_printf(b, "\x1b[%u%c%cz", i, (char)(' ' + i % 16), (char)(' ' + i / 16 % 16));
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double feed_times(const char *before, struct str content, size_t times)
{
    struct term *t = new_term(COLS, TERM_SCROLLBACK);
    double start = cpu_seconds();
    term_feed(t, str_z(before));
    for (size_t i = 0; i < times; i++)
        term_feed(t, content);
    term_feed(t, str_z("\x1b\\"));
    double seconds = cpu_seconds() - start;
    term_free(t);
    return seconds;
}

static int linear(source *next, const char *before, size_t mib)
{
    AUTO_BUF struct buf b = BUF_INIT(2 * MIB);
    double once = 1e9, twice = 1e9;
    for (unsigned i = 0; b.n < MIB; i++)
        next(&b, i, COLS);
    for (unsigned i = 0; i < 3; i++) {
        double one = feed_times(before, buf_str(&b), mib / 2);
        double two = feed_times(before, buf_str(&b), mib);
        once = MIN(once, one);
        twice = MIN(twice, two);
    }
    printf("%.6f %.6f %zu\n", once, twice, b.n * (mib / 2));
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        source *next;
        const char *before; /* fed before the timed part: the start of a string */
        size_t mib;         /* 0: for memory */
    } kinds[] = {
        {"styles", distinct_styles, NULL, 0},
        {"clusters", distinct_clusters, NULL, 0},
        {"links", distinct_links, NULL, 0},
        {"long-links", long_links, NULL, 0},
        {"everything", everything, NULL, 0},
        {"wide", wide_text, NULL, 0},
        {"titles", titles, NULL, 0},
        {"parameters", many_parameters, "", 64},
        {"osc", osc_content, "\x1b]2;", 1024},
        {"escapes", escapes, "", 64},
        {"unknown", unknown, "", 16},
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds) && argc >= 3; i++) {
        if (strcmp(argv[2], kinds[i].name) != 0)
            continue;
        if (kinds[i].mib)
            return linear(kinds[i].next, kinds[i].before, kinds[i].mib);
        return memory(kinds[i].next, argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : COLS);
    }
    fputs("usage: bench_term_limits memory|linear KIND [COLS]\n", stderr);
    return 2;
}
