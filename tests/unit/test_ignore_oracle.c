/* Random trees with random ignore files, compared with git path by path. CORDON_SEED selects the
 * run, CORDON_ROUNDS the number of trees. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "git_oracle.h"
#include "path/ignore.h"
#include "path/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    ROUNDS = 60,
    DIRS_MAX = 40,
    ENTRIES_MAX = 400,
    PATHS_MAX = 256 * 1024,
};

struct tree {
    char root[512];
    struct buf paths; /* each with a NUL, relative */
    size_t at[ENTRIES_MAX];
    bool is_dir[ENTRIES_MAX];
    size_t n;
};

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

#define PICK(list) ((list)[below((uint32_t)ARRAY_LEN(list))])

static const char *const names[] = {"a", "b", "ab", "foo", "bar", "foo.c", "bar.o", "a.b", "A",
    "x y", "sp ", "#h", "!n", "[x]", "b\\s", "\xC3\xA9", "\xFF", "\xE6\x97", "q?", "s*", "a-b",
    "..a", "t\tt", "c\r", "n\nl", "\v", "7", "z.tar.gz", "]", "-"};
static const char *const pieces[] = {"*", "**", "***", "?", "[ab]", "[!a]", "[^b]", "[a-f]", "[]x]",
    "[[:alpha:]]", "[[:space:]]", "[[:punct:]]", "[[:cntrl:]]", "[[:graph:]]", "[[:print:]]",
    "[[:xdigit:]]", "[[:x:]]", "[", "[a", "\\", "\\a", "\\*", "\\ ", "\\\\", "a", "b", "fo", "o",
    ".", ".c", "[\\]-a]", "[a\\-z]", "\xC3", "\xFF", "[\x80-\xFF]", "-", "]", "[[-]]", "[--0]",
    "[!]]"};

static void add_random_pattern(struct buf *b)
{
    static const char *const ends[] = {"", "", "", "", "/", "/", " ", "  ", "\\ ", "\r", "/ ",
        "/**", "/*", "**", "//", "\\", " \\", "\t"};
    static const char *const starts[] = {"", "", "", "", "!", "!", "/", "!/", "**/", "!**/", "\\!",
        "#", "\\#", " ", "./", "!!", "//"};
    static const char *const joins[] = {"", "/", "/", "/**/", "**/", "/**", "\\/", "*", "/*/"};
    buf_add_z(b, PICK(starts));
    size_t n = 1 + below(3);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_z(b, PICK(joins));
        if (below(5) < 3)
            buf_add_z(b, PICK(names));
        else
            for (size_t j = 0; j <= below(3); j++)
                buf_add_z(b, PICK(pieces));
    }
    buf_add_z(b, PICK(ends));
}

static void write_rules(const char *path)
{
    AUTO_BUF struct buf b = BUF_INIT(64 * 1024);
    size_t n = 1 + below(8);
    if (below(6) == 0)
        buf_add_z(&b, "\xEF\xBB\xBF");
    for (size_t i = 0; i < n; i++) {
        add_random_pattern(&b);
        if (below(12) == 0)
            buf_add(&b, "\0x", 2);
        buf_add_z(&b, below(8) ? "\n" : "\r\n");
    }
    if (below(4) == 0)
        b.n--; /* no line break at the end */
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    BUG_ON(fd < 0 || write(fd, b.p, b.n) != (ssize_t)b.n);
}

static const char *entry(const struct tree *t, size_t i)
{
    return t->paths.p + t->at[i];
}

static void add_entry(struct tree *t, const char *parent, const char *name, bool is_dir)
{
    AUTO_BUF struct buf rel = BUF_INIT(4096), full = BUF_INIT(8192);
    buf_printf(&rel, "%s%s%s", parent, parent[0] ? "/" : "", name);
    buf_printf(&full, "%s/%s", t->root, buf_z(&rel));
    bool link = !is_dir && below(10) == 0;
    int made = is_dir ? mkdir(buf_z(&full), 0777)
               : link ? symlink(".", buf_z(&full))
                      : open(buf_z(&full), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (made > 0)
        close(made);
    if (made < 0)
        return; /* the name already exists */
    BUG_ON(t->n == ENTRIES_MAX);
    t->is_dir[t->n] = is_dir;
    t->at[t->n++] = t->paths.n;
    buf_add(&t->paths, rel.p, rel.n + 1);
}

/* Directories come from the list itself, which grows while they are filled. */
static void fill_tree(struct tree *t)
{
    size_t dirs = 1;
    for (size_t i = 0; i <= t->n; i++) {
        char parent[1024] = "";
        if (i > 0 && !t->is_dir[i - 1])
            continue;
        if (i > 0)
            snprintf(parent, sizeof(parent), "%s", entry(t, i - 1));
        for (size_t j = 0, n = 3 + below(6); j < n; j++) {
            bool is_dir = dirs < DIRS_MAX && below(3) == 0;
            dirs += is_dir;
            add_entry(t, parent, PICK(names), is_dir);
        }
        if (i == 0 || below(3) == 0) {
            AUTO_BUF struct buf path = BUF_INIT(4096);
            buf_printf(&path, "%s/%s/.gitignore", t->root, parent);
            write_rules(buf_z(&path));
        }
    }
    AUTO_BUF struct buf exclude = BUF_INIT(4096);
    buf_printf(&exclude, "%s/.git/info/exclude", t->root);
    write_rules(buf_z(&exclude));
}

/* The same with a directory further down as the root, if git does not ignore it: the ignore files
 * above it must still count. */
static size_t compare_below(const struct tree *t, const bool *want)
{
    AUTO_ERR struct err err = {0};
    AUTO_IGNORE struct ignore *ig = NULL;
    size_t compared = 0, dir = below((uint32_t)t->n);
    AUTO_BUF struct buf path = BUF_INIT(4096), prefix = BUF_INIT(4096);
    if (!t->is_dir[dir] || want[dir])
        return 0;
    buf_printf(&path, "%s/%s", t->root, entry(t, dir));
    buf_printf(&prefix, "%s/", entry(t, dir));
    AUTO_FD int fd = open(buf_z(&path), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!CHECK_OK(ignore_open(fd, &ig, &err), &err))
        return 0;
    for (size_t i = 0; i < t->n; i++) {
        struct str whole = str_z(entry(t, i)), rel = str_skip(whole, prefix.n);
        bool got = false;
        if (!str_starts_with(whole, buf_str(&prefix)))
            continue;
        CHECK_OK(ignore_path(ig, rel, t->is_dir[i], &got, &err), &err);
        if (got != want[i])
            CHECK_STR(whole, want[i] ? STR("ignored from below") : STR("not ignored from below"));
        compared++;
    }
    return compared;
}

static size_t compare_paths(const struct tree *t, int root_fd)
{
    AUTO_ERR struct err err = {0};
    AUTO_IGNORE struct ignore *ig = NULL;
    static bool want[ENTRIES_MAX];
    git_oracle_ask(t->root, buf_str(&t->paths), t->n, want);
    if (!CHECK_OK(ignore_open(root_fd, &ig, &err), &err))
        return 0;
    for (size_t i = 0; i < t->n; i++) {
        bool got = false;
        CHECK_OK(ignore_path(ig, str_z(entry(t, i)), t->is_dir[i], &got, &err), &err);
        if (got != want[i])
            CHECK_Z(entry(t, i), want[i] ? "ignored" : "not ignored");
    }
    size_t compared = t->n;
    for (size_t i = 0; i < 5; i++)
        compared += compare_below(t, want);
    return compared;
}

static int path_cmp(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Compares the walk with `git ls-files -o`, sorted into the same order. */
static size_t compare_walk(const struct tree *t, int root_fd)
{
    AUTO_ERR struct err err = {0};
    AUTO_WALK struct walk *w = NULL;
    const struct walk_entry *e = NULL;
    static char *want[ENTRIES_MAX + DIRS_MAX];
    size_t size, n = 0, at = 0;
    AUTO_FREE char *list = git_oracle_list(t->root, "-o --exclude-standard", &size);
    for (char *p = list; p < list + size; p += strlen(p) + 1)
        want[n++] = p;
    qsort(want, n, sizeof(want[0]), path_cmp);
    if (!CHECK_OK(walk_open(root_fd, &(struct walk_options){.ignore = true}, &w, &err), &err))
        return 0;
    while (CHECK_OK(walk_next(w, &e, &err), &err) && e) {
        if (e->type == DT_DIR || e->closed)
            continue;
        if (at >= n || !str_is(e->path, want[at]))
            CHECK_STR(e->path, str_z(at < n ? want[at] : NULL));
        at++;
    }
    CHECK_INT(at, n);
    return n;
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    int64_t value;
    const char *text = getenv(variable);
    return text && str_to_int(str_z(text), 0, INT64_MAX, &value) ? (uint64_t)value : otherwise;
}

TEST(ignore_agrees_with_git)
{
    uint64_t seed = number_from("CORDON_SEED", 20260101),
             rounds = number_from("CORDON_ROUNDS", ROUNDS);
    size_t compared = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        AUTO_FREE struct tree *t = base_alloc(sizeof(*t));
        char label[64];
        state = seed + round;
        t->paths = BUF_INIT(PATHS_MAX);
        snprintf(label, sizeof(label), "seed %llu", (unsigned long long)(seed + round));
        test_row((size_t)round, label);
        snprintf(t->root, sizeof(t->root), "%s", test_path("tree-%zu", (size_t)round));
        BUG_ON(mkdir(t->root, 0777) != 0);
        if (!CHECK(git_oracle_init(t->root)))
            return;
        fill_tree(t);
        AUTO_FD int fd = open(t->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
        compared += compare_paths(t, fd) + compare_walk(t, fd);
        buf_done(&t->paths);
    }
    test_row(0, NULL);
    printf("# seed %llu: %zu comparisons\n", (unsigned long long)seed, compared);
    CHECK(compared >= 100 * rounds);
}
