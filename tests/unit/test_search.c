/* The search: methods of matching, byte sequences, files through the window, order, limits,
 * ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "search/search.h"
#include "tree.h"

#include <fcntl.h>
#include <sys/stat.h>

/* The method that is chosen for a pattern. */
TEST(search_ways)
{
    static const char bytes[] = "bytes", then_line[] = "bytes, then the line",
                      many[] = "many lines at once", lines[] = "line by line";
    static const struct {
        const char *pattern, *way;
        struct pattern_options how;
    } rows[] = {
        {"needle", bytes, {0}},
        {"needle", bytes, {.ignore_case = true}},
        {"task", then_line, {.ignore_case = true}}, /* s and k have variants beyond ASCII */
        {"(?i)hello", bytes, {0}},
        {"a.b", bytes, {.literal = true}},
        {"foo|bar|caf\xC3\xA9", bytes, {0}},
        {"pre(fix|pare)d", bytes, {0}},
        {"[a-z]{9}q[a-z]{2}z", bytes, {0}},
        {"^needle$", then_line, {0}},
        {"needle_[0-9]+_xy+z", then_line, {0}},
        {"\\w+_suffix", then_line, {0}},
        {"(one|two)+ needle", then_line, {0}},
        {"zq\\b", then_line, {0}},
        {"[a-z]+", many, {0}},
        {"\\s$", many, {0}},
        {"^", many, {0}},
        {"foo|", many, {0}},
        {"(foo)?", many, {0}},
        {"e.*t", many, {0}},
        {"(?=x)y", lines, {0}},
        {"(a)\\1", lines, {0}},
        {"a++b", lines, {0}},
        {"\\Qa.b\\E", lines, {0}},
        {"[[:alpha:]]x", lines, {0}},
        {"(?s)a.b", lines, {0}},
        {"(*LIMIT_MATCH=5)a", lines, {0}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        struct matcher_plan *plan;
        test_row(i, rows[i].pattern);
        if (!CHECK_OK(matcher_plan_new(str_z(rows[i].pattern), &rows[i].how, &plan, &err), &err))
            continue;
        CHECK_Z(matcher_plan_way(plan), rows[i].way);
        matcher_plan_free(plan);
    }
}

TEST(search_wrong_patterns)
{
    static const struct {
        const char *pattern, *part;
    } rows[] = {
        {"a(b", "invalid pattern at character 4: missing closing parenthesis"},
        {"*", "invalid pattern at character 1: quantifier does not follow a repeatable item"},
        {"a\\nb", "lines are searched one by one"},
        {"a\nb", "lines are searched one by one"},
        {"a\\C", "using \\C is disabled"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        struct pattern_options how = {0};
        struct matcher_plan *plan;
        test_row(i, rows[i].pattern);
        CHECK(!matcher_plan_new(str_z(rows[i].pattern), &how, &plan, &err));
        CHECK_ERR(&err, E_TOOL_VALIDATION, rows[i].part);
    }
}

/* Byte sequences ------------------------------------------------------------------------------ */

static uint32_t state = 7;

static unsigned any(unsigned n)
{
    state = state * 1664525 + 1013904223;
    return (state >> 16) % n;
}

static bool slow_find(const struct needle_set *set, struct str text, size_t from)
{
    for (size_t at = from; at < text.n; at++)
        for (size_t i = 0; i < set->n; i++) {
            size_t k = 0;
            while (k < set->runs[i].n && at + k < text.n &&
                   needle_class_has(&set->runs[i].at[k], (unsigned char)text.p[at + k]))
                k++;
            if (k == set->runs[i].n)
                return true;
        }
    return false;
}

TEST(search_needle_agrees_with_a_slow_one)
{
    static char text[300];
    for (size_t round = 0; round < 3000; round++) {
        struct needle_set set = {.n = 1 + any(12)};
        struct needle n;
        struct regex_match m;
        struct str s = str_n(text, any(sizeof(text)));
        for (size_t i = 0; i < sizeof(text); i++)
            text[i] = (char)("abc\xC3xyz "[any(8)]);
        for (size_t i = 0; i < set.n; i++) {
            set.runs[i].n = 1 + any(6);
            for (size_t k = 0; k < set.runs[i].n; k++)
                for (size_t c = 0; c <= any(2); c++)
                    needle_class_add(&set.runs[i].at[k], (unsigned char)"abc\xC3xyzqw"[any(9)]);
        }
        needle_init(&n, &set);
        size_t from = any(40);
        if (from > s.n)
            continue;
        bool want = slow_find(&set, s, from);
        CHECK(needle_find(&n, s, from, &m) == want);
        n.vectors = false;
        if (!CHECK(needle_find(&n, s, from, &m) == want))
            return;
        if (want &&
            !CHECK(m.start >= from && m.end <= s.n && slow_find(&set, str_head(s, m.end), m.start)))
            return;
    }
}

TEST(search_counts_lines)
{
    static char text[20000];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = any(3) ? 'x' : '\n';
    for (size_t n = 0; n < sizeof(text); n += 1 + n / 3) {
        size_t want = 0;
        for (size_t i = 0; i < n; i++)
            want += text[i] == '\n';
        CHECK_INT(needle_count_lines(str_n(text, n)), want);
    }
}

/* Searches ------------------------------------------------------------------------------------ */

static bool print_file(void *context, const struct search_file *file)
{
    struct buf *out = context;
    for (size_t i = 0; i < file->found->n; i++) {
        const struct found_line *l = &file->found->lines[i];
        struct str text = str_n(file->found->text->p + l->at, l->n);
        buf_printf(out, STR_FMT "%c%llu%c" STR_FMT "\n", STR_ARG(file->path), l->match ? ':' : '-',
            (unsigned long long)l->number, l->match ? ':' : '-', STR_ARG(text));
    }
    return true;
}

static bool enough(void *context, const struct search_file *file)
{
    (void)print_file(context, file);
    return false;
}

static struct search_options options_for(const char *pattern, struct buf *out)
{
    return (struct search_options){
        .pattern = str_z(pattern),
        .limit = 1000 * 1000,
        .text_max = 16 << 20,
        .budget_ms = 60 * 1000,
        .cancel = -1,
        .threads = 4,
        .context_ptr = out,
        .file = print_file,
    };
}

static void search(const struct search_options *options, struct search_summary *ret_summary)
{
    AUTO_ERR struct err err = {0};
    AUTO_FD int fd = tree_open(test_dir());
    struct search_summary summary = {0};
    CHECK_OK(search_dir(fd, options, &summary, &err), &err);
    walk_problems_done(&summary.problems);
    *ret_summary = summary;
}

/* More directories than are queued at once: the order is that of the bytes, whichever thread is
 * faster. */
TEST(search_order_with_threads)
{
    AUTO_BUF struct buf want = BUF_INIT(1 << 20);
    struct search_summary summary;
    for (int d = 100; d < 250; d++)
        for (int f = 10; f < 13; f++) {
            test_write(test_path("d%d/%d", d, f), "no\nhit\n");
            buf_printf(&want, "d%d/%d:2:hit\n", d, f);
        }
    for (int round = 0; round < 5; round++) {
        AUTO_BUF struct buf out = BUF_INIT(1 << 20);
        struct search_options options = options_for("hit", &out);
        search(&options, &summary);
        CHECK_STR(buf_str(&out), buf_str(&want));
        CHECK_INT(summary.files, 450);
        CHECK_INT(summary.matches, 450);
    }
}

TEST(search_ends)
{
    AUTO_BUF struct buf out = BUF_INIT(1 << 20);
    struct search_summary summary;
    for (int d = 100; d < 200; d++)
        test_write(test_path("d%d/f", d), "hit\n");
    struct search_options options = options_for("hit", &out);
    options.file = enough;
    search(&options, &summary);
    CHECK_Z(buf_z(&out), "d100/f:1:hit\n");
    CHECK(summary.stopped && !summary.late && !summary.cancelled);
    options = options_for("hit", &out);
    options.budget_ms = 0;
    search(&options, &summary);
    CHECK(summary.late && !summary.stopped && summary.files == 0);
    int ends[2];
    CHECK(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], "x", 1) == 1);
    options = options_for("hit", &out);
    options.cancel = ends[0];
    search(&options, &summary);
    CHECK(summary.cancelled && !summary.late);
    close(ends[0]);
    close(ends[1]);
}

/* Only regular files are opened, and no symlink is followed. */
TEST(search_only_files)
{
    AUTO_BUF struct buf out = BUF_INIT(1 << 20);
    struct search_summary summary;
    test_write(test_path("real"), "root\n");
    CHECK(symlink("/etc/passwd", test_path("link")) == 0);
    CHECK(symlink("/etc", test_path("links")) == 0);
    CHECK(mkfifo(test_path("pipe"), 0600) == 0);
    struct search_options options = options_for("root", &out);
    search(&options, &summary);
    CHECK_Z(buf_z(&out), "real:1:root\n");
}

/* Lines around matches where the window ends, lines longer than it, with correct line numbers. */
TEST(search_through_the_window)
{
    enum {
        LINES = 60 * 1000
    };
    AUTO_BUF struct buf text = BUF_INIT(8 << 20), want = BUF_INIT(8 << 20), out = BUF_INIT(8 << 20);
    struct search_summary summary;
    for (int i = 1; i <= LINES; i++)
        buf_printf(&text, "line %d%s\n", i, i % 1000 == 0 ? " hit" : "");
    test_write(test_path("f"), buf_z(&text));
    for (int i = 1000; i <= LINES; i += 1000)
        for (int k = i - 3; k <= i + 3 && k <= LINES; k++)
            buf_printf(&want, "f%c%d%cline %d%s\n", k == i ? ':' : '-', k, k == i ? ':' : '-', k,
                k == i ? " hit" : "");
    struct search_options options = options_for("hit$", &out);
    options.context = 3;
    search(&options, &summary);
    CHECK_STR(buf_str(&out), buf_str(&want));
}

TEST(search_lines_longer_than_the_window)
{
    AUTO_BUF struct buf text = BUF_INIT(8 << 20), out = BUF_INIT(1 << 20);
    struct search_summary summary;
    static const struct {
        const char *pattern, *want; /* numbers of lines */
    } rows[] = {
        {"hit", "2 4 "},
        {"^hit", ""},
        {"^yy", "2 "},
        {"hit$", "2 4 "},
        {"^last|next$", "3 "},
        {"x+hit", "4 "},
        {"(?=h)hit", "2 4 "},
    };
    buf_add_z(&text, "first\n");
    for (int i = 0; i < 2 * SCAN_WINDOW + 77; i++)
        buf_add_byte(&text, 'y');
    buf_add_z(&text, "hit\nnext\n");
    for (int i = 0; i < SCAN_WINDOW + 7; i++)
        buf_add_byte(&text, i == 5 ? '\xFF' : 'x');
    buf_add_z(&text, "hit");
    test_write(test_path("f"), buf_z(&text));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf numbers = BUF_INIT(1000);
        test_row(i, rows[i].pattern);
        buf_reset(&out);
        struct search_options options = options_for(rows[i].pattern, &out);
        search(&options, &summary);
        struct str line, rest = buf_str(&out);
        while (str_cut(rest, '\n', &line, &rest))
            if (line.n > 2)
                buf_printf(&numbers, "%ld ", strtol(line.p + 2, NULL, 10));
        CHECK_Z(buf_z(&numbers), rows[i].want);
    }
}

/* A long line is matched in parts, without a difference for the pattern. */
TEST(search_a_long_line_is_one_line)
{
    static const struct {
        const char *pattern;
        bool found;
    } rows[] = {
        {"hit", true},
        {"\\Ghit", false},
        {"(?:\\Ghit|zzz)", false},
        {"\\Gyy", true},
        {"(*COMMIT)[hx]it", false},
        {"y+(*SKIP)(*FAIL)|[yh]it", true},
        {"y+(*SKIP)(*FAIL)|yhit", false},
        {"(?<=y)hit", true},
        {"(?<!y)hit", false},
    };
    enum {
        BEFORE_MAX = 2500
    };
    AUTO_BUF struct buf text = BUF_INIT(BEFORE_MAX + 100), out = BUF_INIT(1 << 20);
    for (size_t before = 128; before < BEFORE_MAX; before += 128) { /* where parts begin */
        buf_reset(&text);
        for (size_t i = 0; i < before; i++)
            buf_add_byte(&text, 'y');
        buf_printf(&text, "hit%*s\n", (int)(BEFORE_MAX - before), "");
        test_write(test_path("f"), buf_z(&text));
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            struct search_summary summary;
            test_row(i, rows[i].pattern);
            struct search_options options = options_for(rows[i].pattern, &out);
            search(&options, &summary);
            CHECK_INT(summary.matches, rows[i].found);
        }
    }
}
