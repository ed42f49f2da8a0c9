/* A record as a page and as an asciicast: the files of fuzz_files.h. For any contents, the page is
 * its own markup with data that contain none, and every part of the data can be read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_files.h"

#include "trace/cast.h"
#include "trace/page.h"

static const char *const names[] = {"transcript.log", "events.jsonl", "run.json", "scenario.json",
    "replay-1/diff.json", "replay-1/run.json", "replay-1/transcript.log", NULL};
static const char *const places[] = {"replay-1", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str cut_at(struct str *rest, const char *separator)
{
    struct str s = *rest;
    const char *at = memmem(s.p, s.n, separator, strlen(separator));
    BUG_ON(!at);
    struct str head = str_head(s, (size_t)(at - s.p));
    *rest = str_skip(s, head.n + strlen(separator));
    return head;
}

/* No markup, and no control character except for the line breaks that separate it. */
static void check_inert(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        BUG_ON(c == '<' || c == '>' || c == '&' || c == 0x7F || (c < 0x20 && c != '\n'));
    }
    BUG_ON(s.n && (memmem(s.p, s.n, "\xE2\x80\xA8", 3) || memmem(s.p, s.n, "\xE2\x80\xA9", 3)));
}

static json_t *parse(struct str s)
{
    json_error_t ignored; /* deeper than a document may be: it contains documents */
    return json_loadb(
        s.p, s.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &ignored);
}

static size_t check_lines(struct str s, bool (*is_right)(const json_t *))
{
    struct str line;
    size_t n = 0;
    check_inert(s);
    for (; str_cut(s, '\n', &line, &s); n++) {
        AUTO_JSON json_t *value = parse(line);
        BUG_ON(!value || !is_right(value));
    }
    return n;
}

static bool is_text(const json_t *value)
{
    return json_is_string(value);
}

static bool is_any(const json_t *value)
{
    return value;
}

static void check_data(struct str data, size_t n_rows)
{
    static const char *const lists[] = {"steps", "events", "replays", "marks"};
    AUTO_JSON json_t *tree = parse(data);
    check_inert(data);
    BUG_ON(str_find(data, '\n') >= 0 || !json_is_object(tree));
    BUG_ON(!json_is_object(json_object_get(tree, "run")));
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        BUG_ON(!json_is_array(json_object_get(tree, lists[i])));
    BUG_ON((size_t)json_integer_value(json_object_get(tree, "n_rows")) != n_rows);
}

static void check_page(struct str page, const struct trace *t)
{
    struct str head = str_z(page_head), tail = str_z(page_tail);
    BUG_ON(!str_starts_with(page, head) || !str_ends_with(page, tail));
    struct str rest = str_n(page.p + head.n, page.n - head.n - tail.n);
    struct str data = cut_at(&rest, "</script>\n<script id=\"rows\" type=\"text/plain\">");
    struct str rows = cut_at(&rest, "</script>\n<script id=\"text\" type=\"text/plain\">");
    size_t n_rows = check_lines(rows, is_any);
    BUG_ON(check_lines(rest, is_text) != t->timeline.n);
    check_data(data, n_rows);
}

/* A header, then lines of a time that does not go back, a kind and a text. */
static void check_cast(struct str cast)
{
    struct str line;
    double last = 0;
    bool ok = str_cut(cast, '\n', &line, &cast);
    BUG_ON(!ok);
    AUTO_JSON json_t *header = parse(line);
    BUG_ON(json_integer_value(json_object_get(header, "version")) != 2);
    while (str_cut(cast, '\n', &line, &cast)) {
        AUTO_JSON json_t *entry = parse(line);
        struct str kind = json_str(json_array_get(entry, 1));
        double at = json_number_value(json_array_get(entry, 0));
        BUG_ON(json_array_size(entry) != 3 || !json_is_string(json_array_get(entry, 2)));
        BUG_ON(!str_is(kind, "o") && !str_is(kind, "r") && !str_is(kind, "m"));
        BUG_ON(at < last);
        last = at;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ERR struct err err = {0};
    AUTO(trace_close) struct trace t = TRACE_NONE;
    AUTO_BUF struct buf page = BUF_INIT(2 * (size_t)PAGE_BYTES_MAX), cast = BUF_INIT(1 << 30);
    files_open(names, places);
    files_write(str_n((const char *)data, size));
    if (!trace_open(files_dir, &t, &err)) {
        BUG_ON(err.code != E_PROTOCOL && err.code != E_IO && err.code != E_NOT_FOUND);
        return 0;
    }
    cast_write(&t, &cast);
    BUG_ON(!buf_ok(&cast));
    check_cast(buf_str(&cast));
    if (page_write(&t, PAGE_AT_END, &page, &err))
        check_page(buf_str(&page), &t);
    return 0;
}
