/* Finds the place most similar to lines that were not found. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/near.h"

#include "base/utf8.h"
#include "tool/fold.h"

enum {
    WANTED_MAX = 64, /* wanted lines to consider */
    VOTES_MAX = 64,  /* places that one line may vote for */
    LINES_SEEN = 1 << 20,
    SHOWN = 120, /* bytes of a line to show */
    BLOCK_LINES = 8,
    LIKE_PERCENT = 50,
};

/* Lines too short to identify a place. */
static bool is_common(struct str line)
{
    return fold_trim(line).n < 2;
}

/* Length of the common prefix and suffix, in percent of the longer line. */
static size_t likeness(struct str a, struct str b)
{
    size_t start = 0, end = 0, shorter = MIN(a.n, b.n), longer = MAX(a.n, b.n);
    while (start < shorter && a.p[start] == b.p[start])
        start++;
    while (end < shorter - start && a.p[a.n - 1 - end] == b.p[b.n - 1 - end])
        end++;
    return longer ? 100 * (start + end) / longer : 0;
}

struct vote {
    ptrdiff_t at;
    size_t count;
};

struct votes {
    struct vote v[WANTED_MAX * VOTES_MAX];
    size_t n;
};

static int near_by_place(const void *a, const void *b)
{
    const struct vote *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static size_t near_distance(ptrdiff_t at, size_t expected)
{
    if (expected == SIZE_MAX)
        return 0;
    ptrdiff_t d = at - (ptrdiff_t)expected;
    return (size_t)(d < 0 ? -d : d);
}

/* Finds the place with the most votes. */
static bool elect(struct votes *votes, size_t expected, ptrdiff_t *ret_at)
{
    struct vote best = {0};
    qsort(votes->v, votes->n, sizeof(votes->v[0]), near_by_place);
    for (size_t i = 0, j; i < votes->n; i = j) {
        for (j = i; j < votes->n && votes->v[j].at == votes->v[i].at; j++)
            ;
        struct vote now = {votes->v[i].at, j - i};
        bool nearer = now.count == best.count &&
                      near_distance(now.at, expected) < near_distance(best.at, expected);
        if (now.count > best.count || nearer)
            best = now;
    }
    *ret_at = best.at;
    return best.count > 0;
}

static void near_collect_votes(const struct near *near, struct votes *votes)
{
    uint32_t hashes[WANTED_MAX];
    size_t spoken[WANTED_MAX] = {0}, n = MIN(near->n, (size_t)WANTED_MAX);
    for (size_t i = 0; i < n; i++)
        hashes[i] = fold_hash(near->wanted[i], FOLD_PUNCTUATION);
    for (size_t line = 0; line < MIN(near->lines->n, (size_t)LINES_SEEN); line++) {
        struct str text = lines_text(near->lines, line);
        if (is_common(text))
            continue;
        uint32_t hash = fold_hash(text, FOLD_PUNCTUATION);
        for (size_t i = 0; i < n; i++)
            if (hashes[i] == hash && spoken[i]++ < VOTES_MAX)
                votes->v[votes->n++] = (struct vote){(ptrdiff_t)line - (ptrdiff_t)i, 1};
    }
}

/* Fallback if no wanted line is there: finds the one most similar to the first distinctive line. */
static bool find_like(const struct near *near, ptrdiff_t *ret_at)
{
    size_t key = 0, best = LIKE_PERCENT - 1;
    while (key < near->n && is_common(near->wanted[key]))
        key++;
    if (key == near->n)
        return false;
    struct str wanted = fold_trim(near->wanted[key]);
    for (size_t line = 0; line < MIN(near->lines->n, (size_t)LINES_SEEN); line++) {
        size_t like = likeness(wanted, fold_trim(lines_text(near->lines, line)));
        if (like <= best)
            continue;
        best = like;
        *ret_at = (ptrdiff_t)line - (ptrdiff_t)key;
    }
    return best >= LIKE_PERCENT;
}

static void near_classify(struct near *near)
{
    bool blanks = true;
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < near->n; i++) {
        if (near->at + i >= near->lines->n) {
            near->kind = NEAR_TOO_LONG;
            near->first = i;
            return;
        }
        struct str text = lines_text(near->lines, near->at + i);
        if (fold_equal(text, near->wanted[i], FOLD_EXACT))
            continue;
        bool blank = fold_equal(text, near->wanted[i], FOLD_AROUND);
        if (first == SIZE_MAX || (blanks && !blank))
            first = i;
        blanks = blanks && blank;
        if (!blank)
            break;
    }
    near->kind = blanks ? NEAR_BLANKS : NEAR_CHANGED;
    near->first = first == SIZE_MAX ? 0 : first;
}

struct near near_find(
    const struct lines *lines, const struct str *wanted, size_t n, size_t expected_at)
{
    struct near near = {.lines = lines, .wanted = wanted, .n = n};
    AUTO_FREE struct votes *votes = base_alloc(sizeof(*votes));
    ptrdiff_t at;
    votes->n = 0;
    near_collect_votes(&near, votes);
    if (!elect(votes, expected_at, &at) && !find_like(&near, &at))
        return near;
    size_t before = at < 0 ? (size_t)-at : 0; /* wanted lines before the first line of the text */
    if (before) {
        near.at = 0;
        near.first = 0;
        near.kind = NEAR_CHANGED;
        return near;
    }
    near.at = (size_t)at;
    near_classify(&near);
    return near;
}

struct near near_at(const struct lines *lines, const struct str *wanted, size_t n, size_t at)
{
    struct near near = {.lines = lines, .wanted = wanted, .n = n, .at = at};
    near_classify(&near);
    return near;
}

static void near_add_line(struct buf *b, struct str line)
{
    struct str shown = str_head(line, SHOWN);
    utf8_add_printable(b, shown);
    if (shown.n < line.n)
        buf_add_z(b, "…");
}

static struct str near_actual_line(const struct near *near, size_t i)
{
    return near->at + i < near->lines->n ? lines_text(near->lines, near->at + i) : STR("");
}

void near_add_sentence(const struct near *near, struct buf *words)
{
    size_t line = near->at + near->first + 1;
    if (near->kind == NEAR_NOTHING) {
        buf_add_z(words, "; no similar text found");
        return;
    }
    buf_printf(words, "; the nearest is line %zu, ", near->at + 1);
    if (near->kind == NEAR_TOO_LONG) {
        buf_printf(words, "but the file ends with line %zu", near->lines->n);
        return;
    }
    buf_printf(words, "where line %zu %s: expected '", line,
        near->kind == NEAR_BLANKS ? "differs only in white space" : "differs");
    near_add_line(words, near->wanted[near->first]);
    buf_add_z(words, "', found '");
    near_add_line(words, near_actual_line(near, near->first));
    buf_add_byte(words, '\'');
}

/* Shows the first difference: common lines, expected lines (-), actual lines (+). */
void near_add_block(const struct near *near, struct buf *text)
{
    if (near->kind == NEAR_NOTHING)
        return;
    size_t from = near->first > 2 ? near->first - 2 : 0;
    size_t to = MIN(near->n, from + BLOCK_LINES);
    buf_printf(text,
        "The file from line %zu on, compared with the patch ('-' expected, '+' actual):\n",
        near->at + from + 1);
    for (size_t i = from; i < to; i++) {
        bool there = near->at + i < near->lines->n;
        if (there && str_eq(near->wanted[i], near_actual_line(near, i))) {
            buf_printf(text, "%6zu   ", near->at + i + 1);
            near_add_line(text, near->wanted[i]);
            buf_add_byte(text, '\n');
            continue;
        }
        buf_add_z(text, "       - ");
        near_add_line(text, near->wanted[i]);
        if (there) {
            buf_printf(text, "\n%6zu + ", near->at + i + 1);
            near_add_line(text, near_actual_line(near, i));
        } else {
            buf_add_z(text, "\n       + (end of file)");
        }
        buf_add_byte(text, '\n');
    }
}

json_t *near_json(const struct near *near)
{
    static const char *const kinds[] = {
        [NEAR_NOTHING] = NULL,
        [NEAR_BLANKS] = "white_space",
        [NEAR_CHANGED] = "changed_line",
        [NEAR_TOO_LONG] = "end_of_file",
    };
    if (near->kind == NEAR_NOTHING)
        return NULL;
    json_t *object = json_object();
    json_put(object, "line", json_integer((json_int_t)near->at + 1));
    json_put(object, "differs_at", json_integer((json_int_t)(near->at + near->first) + 1));
    json_put(object, "difference", json_string(kinds[near->kind]));
    json_put(object, "expected", json_text(str_head(near->wanted[near->first], SHOWN)));
    json_put(object, "actual", json_text(str_head(near_actual_line(near, near->first), SHOWN)));
    return object;
}
