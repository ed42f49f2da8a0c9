/* cuts FILE…: each recording is fed whole, then cut at each of 1,000 random places, then in 100
 * ways into pieces of random length; the snapshot, every cell of it, must be the same byte by byte.
 * Prints TAP. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/file.h"
#include "term/snapshot_json.h"

#include <fcntl.h>

enum {
    PLACES = 1000,
    WAYS = 50,
    PIECE_MAX = 300,
    RECORDING_MAX = 64 << 20,
    JSON_MAX = 64 << 20,
};

static uint64_t seed = 1;

static size_t below(size_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(seed >> 33) % n;
}

/* The visible result after all the bytes, and the answers. */
struct outcome {
    struct arena arena;
    struct snapshot screen;
    struct buf replies;
    unsigned scrollback;
};

static void outcome_done(struct outcome *o)
{
    arena_done(&o->arena);
    buf_done(&o->replies);
}

static void outcome_take(struct term *t, struct outcome *o)
{
    *o = (struct outcome){.arena = ARENA_INIT(JSON_MAX), .replies = BUF_INIT(TERM_REPLIES_MAX + 1)};
    snapshot_take(t, &o->arena, SNAPSHOT_CELLS, &o->screen);
    buf_add_str(&o->replies, term_replies(t));
    o->scrollback = term_scrollback(t);
    term_free(t);
}

static struct term *begin(void)
{
    return term_new(&(struct term_options){.rows = 24, .cols = 80, .scrollback = 1000});
}

/* Feeds the bytes up to `place`, then the rest. */
static void cut_once(struct str bytes, size_t place, struct outcome *o)
{
    struct term *t = begin();
    term_feed(t, str_head(bytes, place));
    term_feed(t, str_skip(bytes, place));
    outcome_take(t, o);
}

static void cut_often(struct str bytes, struct outcome *o)
{
    struct term *t = begin();
    while (bytes.n) {
        size_t n = MIN(below(PIECE_MAX) + 1, bytes.n);
        term_feed(t, str_head(bytes, n));
        bytes = str_skip(bytes, n);
    }
    outcome_take(t, o);
}

static void add_json(const struct outcome *o, struct buf *b)
{
    AUTO_JSON json_t *json = snapshot_json(&o->screen, "snapshot");
    json_add_compact(b, json);
}

static bool same(struct outcome *a, const struct outcome *b, bool byte_by_byte)
{
    struct snapshot_diff diff;
    snapshot_diff(&a->screen, &b->screen, &a->arena, &diff);
    if (diff.size || diff.cursor || diff.title || diff.screen || diff.n_rows ||
        a->screen.hash != b->screen.hash || a->scrollback != b->scrollback ||
        !str_eq(buf_str(&a->replies), buf_str(&b->replies)))
        return false;
    if (!byte_by_byte)
        return true;
    AUTO_BUF struct buf x = BUF_INIT(JSON_MAX), y = BUF_INIT(JSON_MAX);
    add_json(a, &x);
    add_json(b, &y);
    return str_eq(buf_str(&x), buf_str(&y));
}

static bool check(struct str bytes)
{
    AUTO(outcome_done) struct outcome whole;
    bool ok = true;
    cut_once(bytes, bytes.n, &whole);
    for (int i = 0; ok && i < PLACES + WAYS; i++) {
        AUTO(outcome_done) struct outcome other;
        size_t place = below(bytes.n + 1);
        if (i < PLACES)
            cut_once(bytes, place, &other);
        else
            cut_often(bytes, &other);
        ok = same(&whole, &other, i % 20 == 0 || i >= PLACES);
        if (!ok)
            printf("# cut %s %zu of %zu\n", i < PLACES ? "at" : "into pieces, the last at", place,
                bytes.n);
    }
    return ok;
}

int main(int argc, char **argv)
{
    bool all = argc > 1;
    for (int i = 1; i < argc; i++) {
        AUTO_BUF struct buf bytes = BUF_INIT(RECORDING_MAX);
        AUTO_ERR struct err err = {0};
        AUTO_FD int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
        bool ok = fd >= 0 && file_read(fd, RECORDING_MAX - 1, argv[i], &bytes, &err) &&
                  bytes.n > 1000 && check(buf_str(&bytes));
        const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
        printf("%sok %d - %s, %zu bytes, cut at %d places\n", ok ? "" : "not ", i, name, bytes.n,
            PLACES);
        all &= ok;
    }
    printf("1..%d\n", argc - 1);
    return all ? 0 : 1;
}
