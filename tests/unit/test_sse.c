/* Server-sent events. Most of it is data: every tests/sse/NAME.case is a stream and its events
 * (tests/sse/README), read whole, in every two parts and byte by byte. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/json.h"
#include "cases.h"
#include "llm/sse.h"

enum {
    TEXT_MAX = 16 << 20,
};

/* Events as one text, so that two ways of reading compare with one another. */
static bool collect(void *context, const struct sse_event *event, struct err *err)
{
    struct buf *b = context;
    (void)err;
    buf_printf(b, "%zu:", event->name.n);
    buf_add_str(b, event->name);
    buf_printf(b, " %zu:", event->id.n);
    buf_add_str(b, event->id);
    buf_printf(b, " %zu:", event->data.n);
    buf_add_str(b, event->data);
    buf_add_byte(b, '\n');
    return true;
}

static void expect(struct buf *b, struct str name, struct str id, struct str data)
{
    AUTO_ERR struct err err = {0};
    struct sse_event event = {.name = name, .id = id, .data = data};
    CHECK(collect(b, &event, &err));
}

static void push(struct sse *sse, struct str bytes)
{
    AUTO_ERR struct err err = {0};
    /* Separate memory of exactly that size, for the sanitizer. */
    AUTO_FREE char *copy = base_alloc(bytes.n ? bytes.n : 1);
    if (bytes.n)
        memcpy(copy, bytes.p, bytes.n);
    CHECK_OK(sse_push(sse, str_n(copy, bytes.n), &err), &err);
}

/* In parts of this size; first is the size of the first one. */
static uint64_t read_cut(struct str bytes, size_t first, size_t part, struct buf *events)
{
    struct sse sse;
    sse_init(&sse, collect, events);
    push(&sse, str_head(bytes, first));
    for (size_t at = MIN(first, bytes.n); at < bytes.n; at += part)
        push(&sse, str_head(str_skip(bytes, at), part));
    uint64_t retry = sse.retry_ms;
    sse_done(&sse);
    return retry;
}

static void check_cuts(struct str bytes, struct str want, uint64_t retry)
{
    AUTO_BUF struct buf got = BUF_INIT(TEXT_MAX);
    CHECK_INT(read_cut(bytes, 1, 1, &got), retry);
    CHECK_STR(buf_str(&got), want);
    size_t step = 1 + bytes.n / 300; /* every cut of a short text */
    for (size_t first = 0; first <= bytes.n; first += step) {
        buf_reset(&got);
        CHECK_INT(read_cut(bytes, first, SIZE_MAX / 2, &got), retry);
        if (!CHECK_STR(buf_str(&got), want))
            return;
    }
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void unescape(struct str text, struct buf *b)
{
    static const char names[] = "nrt0\\", bytes[] = "\n\r\t\0\\";
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '\\') {
            buf_add_byte(b, text.p[i]);
        } else if (text.p[i + 1] == 'x') {
            buf_add_byte(b, (char)(digit(text.p[i + 2]) << 4 | digit(text.p[i + 3])));
            i += 3;
        } else {
            buf_add_byte(b, bytes[strchr(names, text.p[++i]) - names]);
        }
    }
}

static void read_event(struct str line, struct buf *want)
{
    struct str name, id, rest = line;
    AUTO_BUF struct buf data = BUF_INIT(TEXT_MAX);
    CHECK(str_cut(rest, ' ', &name, &rest));
    CHECK(str_cut(rest, ' ', &id, &rest));
    unescape(rest.p ? rest : STR(""), &data);
    expect(want, name, str_is(id, "-") ? STR("") : id, buf_str(&data));
}

static void check_case(void *context, struct str title, struct str text)
{
    (void)context, (void)title;
    AUTO_BUF struct buf bytes = BUF_INIT(TEXT_MAX), want = BUF_INIT(TEXT_MAX);
    struct str line, rest = text;
    uint64_t retry = UINT64_MAX;
    int64_t ms = 0;
    while (str_cut(rest, '\n', &line, &rest)) {
        if (str_starts_with(line, STR("< ")))
            unescape(str_skip(line, 2), &bytes);
        else if (str_starts_with(line, STR("> ")))
            read_event(str_skip(line, 2), &want);
        else if (str_starts_with(line, STR("retry ")))
            retry = str_to_int(str_skip(line, 6), 0, INT64_MAX, &ms) ? (uint64_t)ms : 0;
        else
            CHECK(line.n == 0 || line.p[0] == '#');
    }
    check_cuts(buf_str(&bytes), buf_str(&want), retry);
}

TEST(sse_cases)
{
    CHECK(cases_run("sse/*.case", check_case, NULL) > 20);
}

/* Chunks are Latin-1 text, or bytes in hex. */
static void add_chunk(const json_t *chunk, struct buf *bytes)
{
    struct str hex = json_str(json_object_get(chunk, "hex")), text = json_str(chunk);
    for (size_t i = 0; i + 1 < hex.n; i += 2)
        buf_add_byte(bytes, (char)(digit(hex.p[i]) << 4 | digit(hex.p[i + 1])));
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c >= 0xC0 && i + 1 < text.n)
            c = (unsigned char)(c << 6 | (text.p[++i] & 0x3F));
        buf_add_byte(bytes, (char)c);
    }
}

static void check_vector(const json_t *vector)
{
    AUTO_BUF struct buf bytes = BUF_INIT(TEXT_MAX), want = BUF_INIT(TEXT_MAX),
                        got = BUF_INIT(TEXT_MAX);
    const json_t *chunks = json_object_get(vector, "chunks"),
                 *events = json_object_get(vector, "events");
    for (size_t i = 0; i < json_array_size(chunks); i++)
        add_chunk(json_array_get(chunks, i), &bytes);
    bool ids = json_object_get(json_array_get(events, 0), "id") != NULL;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        struct str name = json_str(json_object_get(event, "event"));
        struct str id = json_str(json_object_get(event, "id"));
        expect(&want, name.n ? name : STR("message"), id.n ? id : STR(""),
            json_str(json_object_get(event, "data")));
    }
    uint64_t retry = read_cut(buf_str(&bytes), bytes.n, 1, &got);
    /* Vectors that do not cover ids leave them out, even if the stream has some. */
    if (ids || !memmem(bytes.p ? bytes.p : "", bytes.n, "id", 2))
        CHECK_STR(buf_str(&got), buf_str(&want));
    check_cuts(buf_str(&bytes), buf_str(&got), retry);
}

TEST(sse_public_vectors)
{
    const char *dir = getenv("CORDON_VECTORS");
    char path[4096];
    snprintf(path, sizeof(path), "%s/sse_vectors.json", dir ? dir : "");
    AUTO_FREE char *text = dir ? test_read(path) : NULL;
    if (!text) {
        test_skip("no public vectors here (CORDON_VECTORS)");
        return;
    }
    AUTO_JSON json_t *all = json_loads(text, JSON_ALLOW_NUL, NULL);
    CHECK_INT(json_array_size(all), 131);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *vector = json_array_get(all, i);
        test_row(i, json_string_value(json_object_get(vector, "name")));
        check_vector(vector);
    }
}

static bool refuse(void *context, const struct sse_event *event, struct err *err)
{
    (void)event;
    return ++*(int *)context < 2 || err_set(err, E_CANCELED, "enough");
}

TEST(sse_sink_stops_it)
{
    AUTO_ERR struct err err = {0};
    struct sse sse;
    int n = 0;
    sse_init(&sse, refuse, &n);
    CHECK(!sse_push(&sse, STR("data: a\n\ndata: b\n\ndata: c\n\n"), &err));
    CHECK_ERR(&err, E_CANCELED, "enough");
    CHECK_INT(n, 2);
    sse_done(&sse);
    sse_done(&(struct sse){0});
}

/* Pushes a part repeatedly until it is refused, or enough of it was taken. */
static bool flood(struct str part, size_t most, size_t *ret_taken, struct err *err)
{
    AUTO_BUF struct buf events = BUF_INIT(TEXT_MAX);
    struct sse sse;
    bool ok = true;
    sse_init(&sse, collect, &events);
    for (*ret_taken = 0; ok && *ret_taken < most; *ret_taken += part.n)
        ok = sse_push(&sse, part, err);
    sse_done(&sse);
    return ok;
}

TEST(sse_has_limits)
{
    enum {
        PART = 1 << 20,
    };
    static const struct {
        const char *start, *end, *part;
    } rows[] = {
        {"", "", "a line of the answer is longer than 64 MiB"},
        {"data: ", "\n", "an event of the answer is longer than 64 MiB"},
    };
    AUTO_FREE char *text = base_alloc(PART);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        size_t taken;
        test_row(i, rows[i].part);
        memset(text, 'x', PART);
        memcpy(text, rows[i].start, strlen(rows[i].start));
        memcpy(text + PART - strlen(rows[i].end), rows[i].end, strlen(rows[i].end));
        CHECK(!flood(str_n(text, PART), (size_t)SSE_LINE_MAX * 2, &taken, &err));
        CHECK_ERR(&err, E_PROVIDER, rows[i].part);
        CHECK(taken >= SSE_LINE_MAX && taken <= SSE_LINE_MAX + 2 * PART);
    }
    /* Comments and unknown fields are limited only by the length of a line: they may continue
     * forever. */
    AUTO_ERR struct err err = {0};
    size_t taken;
    memset(text, ':', PART);
    text[PART - 1] = '\n';
    CHECK_OK(flood(str_n(text, PART), (size_t)SSE_LINE_MAX * 2, &taken, &err), &err);
}

static bool count(void *context, const struct sse_event *event, struct err *err)
{
    (void)event;
    (void)err;
    ++*(size_t *)context;
    return true;
}

/* With any line breaks and any cuts: if it were not linear, this would take hours. */
TEST(sse_is_linear)
{
    enum {
        EVENTS = 1 << 19,
    };
    static const char *const events[] = {"data:x\r\r", "data:x\n\n", ":\rdata\n\r"};
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        AUTO_BUF struct buf bytes = BUF_INIT(TEXT_MAX);
        for (size_t k = 0; k < EVENTS; k++)
            buf_add_z(&bytes, events[i]);
        for (size_t part = 1; part <= bytes.n; part = part == 1 ? bytes.n : part + 1) {
            AUTO_ERR struct err err = {0};
            struct sse sse;
            size_t n = 0;
            sse_init(&sse, count, &n);
            test_row(i, part == 1 ? "byte by byte" : "whole");
            for (size_t at = 0; at < bytes.n; at += part)
                if (!CHECK_OK(sse_push(&sse, str_n(bytes.p + at, part), &err), &err))
                    break;
            CHECK_INT(n, EVENTS);
            sse_done(&sse);
        }
    }
}
