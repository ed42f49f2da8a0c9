/* Prompt history. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/history.h"

#include "agent/line_file.h"
#include "base/clock.h"
#include "io/file.h"
#include "io/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

enum {
    AGAIN_MS = 5,
    VARIABLES_MAX = 16, /* environment variables to mask */
};

void history_open(struct history *h, const char *path, size_t max)
{
    *h = (struct history){.path = max ? path : NULL, .max = max};
}

/* Secrets ------------------------------------------------------------------------------------- */

/* Prefixes of service keys, and the minimum number of characters after them. */
static const struct {
    const char *start;
    size_t rest;
} keys[] = {
    {"sk-", 16}, {"sk_live_", 16}, {"ghp_", 20}, {"gho_", 20}, {"ghs_", 20}, {"github_pat_", 20},
    {"glpat-", 16}, {"xoxb-", 16}, {"xoxp-", 16}, {"AKIA", 16}, {"ASIA", 16}, {"AIza", 30},
    {"hf_", 20}, {"npm_", 20}, {"eyJ", 40}, /* a JSON Web Token */
};

static bool is_key_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("_-.", c);
}

static size_t key_length(struct str text)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        size_t start = strlen(keys[i].start), n = start;
        if (!str_starts_with(text, str_z(keys[i].start)))
            continue;
        while (n < text.n && text.p[n] && is_key_byte(text.p[n]))
            n++;
        if (n - start >= keys[i].rest)
            return n;
    }
    return 0;
}

static void mask_words(struct str text, struct buf *out)
{
    bool inside = false; /* within a word */
    while (text.n) {
        size_t n = inside ? 0 : key_length(text);
        if (n) {
            buf_add_z(out, "[masked]");
            text = str_skip(text, n);
            continue;
        }
        inside = text.p[0] && is_key_byte(text.p[0]);
        buf_add_byte(out, text.p[0]);
        text = str_skip(text, 1);
    }
}

static bool holds_secret(struct str name)
{
    static const char *const ends[] = {"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends_with(name, str_z(ends[i])))
            return true;
    return false;
}

static void add_variables(struct mask *m)
{
    size_t n = 0;
    for (char **e = environ; *e && n < VARIABLES_MAX; e++) {
        struct str name, value;
        if (!str_cut(str_z(*e), '=', &name, &value) || !holds_secret(name) ||
            value.n < MASK_KEY_MIN)
            continue;
        mask_add(m, value);
        n++;
    }
}

void history_clean(const struct mask *mask, struct str entry, struct buf *out)
{
    AUTO_BUF struct buf first = BUF_INIT(16 * HISTORY_ENTRY), second = BUF_INIT(16 * HISTORY_ENTRY);
    AUTO(mask_done) struct mask variables = {0};
    add_variables(&variables);
    mask_add_text(mask, entry, &first);
    mask_add_text(&variables, buf_str(&first), &second);
    if (buf_ok(&first) && buf_ok(&second))
        mask_words(buf_str(&second), out);
}

/* File ---------------------------------------------------------------------------------------- */

static int open_file(const char *path, int flags, struct stat *st)
{
    int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0)
        return -1;
    bool ours = fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid();
    if (ours && (!(st->st_mode & 077) || fchmod(fd, 0600) == 0))
        return fd;
    close(fd);
    return -1;
}

static bool history_lock(int fd)
{
    uint64_t end = clock_mono_ms() + HISTORY_WAIT_MS;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || clock_mono_ms() >= end)
            return false;
        (void)poll(NULL, 0, AGAIN_MS);
    }
    return true;
}

/* Opens and locks the file; retries if another process replaced it in between. */
static int open_locked(const char *path, struct stat *st)
{
    for (int tries = 0; tries < 10; tries++) {
        struct stat now;
        int fd = open_file(path, O_RDWR | O_CREAT | O_APPEND, st);
        if (fd < 0)
            return -1;
        if (!history_lock(fd)) {
            close(fd);
            return -1;
        }
        if (stat(path, &now) == 0 && now.st_ino == st->st_ino && now.st_dev == st->st_dev &&
            fstat(fd, st) == 0)
            return fd;
        close(fd);
    }
    return -1;
}

/* Reads the end of the file, from the start of a line. */
static bool history_read_end(int fd, const struct stat *st, struct buf *text)
{
    AUTO_ERR struct err ignored = {0};
    off_t skip = st->st_size > HISTORY_BYTES ? st->st_size - HISTORY_BYTES : 0;
    if (lseek(fd, skip, SEEK_SET) < 0 ||
        !file_read(fd, 2 * (size_t)HISTORY_BYTES, "history", text, &ignored))
        return false;
    ptrdiff_t end = skip ? str_find(buf_str(text), '\n') : -1;
    if (skip && end >= 0) {
        memmove(text->p, text->p + end + 1, text->n - (size_t)end - 1);
        buf_truncate(text, text->n - (size_t)end - 1);
    }
    return true;
}

static size_t history_count_lines(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

/* The last `max` of `n` lines. */
static struct str history_last_lines(struct str text, size_t n, size_t max)
{
    struct str line;
    for (; n > max && str_cut(text, '\n', &line, &text); n--)
        ;
    return text;
}

void history_read(struct history *h, void (*each)(void *context, struct str entry), void *context)
{
    AUTO_BUF struct buf text = BUF_INIT(4 * (size_t)HISTORY_BYTES);
    struct stat st;
    AUTO_FD int fd = h->path ? open_file(h->path, O_RDONLY, &st) : -1;
    if (fd < 0 || !history_read_end(fd, &st, &text))
        return;
    h->lines = history_count_lines(buf_str(&text));
    struct str line, rest = history_last_lines(buf_str(&text), h->lines, h->max);
    while (str_cut(rest, '\n', &line, &rest)) {
        AUTO_JSON json_t *entry = NULL;
        AUTO_ERR struct err ignored = {0};
        if (json_parse(line, "history", E_CONFIG, &entry, &ignored) && json_is_string(entry))
            each(context, json_str(entry));
    }
}

/* Keeps only the newest entries, by an atomic replace. */
static void history_trim_file(struct history *h, int fd, const struct stat *st)
{
    AUTO_BUF struct buf text = BUF_INIT(4 * (size_t)HISTORY_BYTES);
    AUTO_ERR struct err ignored = {0};
    if (!history_read_end(fd, st, &text))
        return;
    size_t n = history_count_lines(buf_str(&text));
    struct str kept = history_last_lines(buf_str(&text), n, h->max);
    while (kept.n > HISTORY_BYTES / 2)
        kept = history_last_lines(kept, 2, 1);
    if (replace_path(h->path, kept, REPLACE_KEEP_MODE, &ignored))
        h->lines = MIN(n, h->max);
}

static void history_append_line(struct history *h, struct str line)
{
    AUTO_BUF struct buf bytes = BUF_INIT(16 * HISTORY_ENTRY);
    struct stat st;
    char last = '\n';
    AUTO_FD int fd = open_locked(h->path, &st);
    if (fd < 0)
        return;
    if (st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) != 1)
        return;
    if (last != '\n') /* left by a process that was killed */
        buf_add_byte(&bytes, '\n');
    buf_add_str(&bytes, line);
    buf_add_byte(&bytes, '\n');
    if (!buf_ok(&bytes) || !file_write_all(fd, buf_str(&bytes)) || fstat(fd, &st) != 0)
        return;
    h->lines++;
    if (h->lines > 2 * h->max || st.st_size > HISTORY_BYTES)
        history_trim_file(h, fd, &st);
}

void history_add(struct history *h, const struct mask *mask, struct str entry)
{
    AUTO_BUF struct buf clean = BUF_INIT(16 * HISTORY_ENTRY), line = BUF_INIT(16 * HISTORY_ENTRY);
    AUTO_ERR struct err ignored = {0};
    if (!h->path || entry.n == 0 || entry.n > HISTORY_ENTRY || strchr(" \t\n", entry.p[0]))
        return;
    history_clean(mask, entry, &clean);
    json_add_text(&line, buf_str(&clean));
    AUTO_FREE char *dir = strndup(h->path, (size_t)str_find_last(str_z(h->path), '/'));
    if (buf_ok(&clean) && buf_ok(&line) && dir && line_file_make_dir(dir, &ignored))
        history_append_line(h, buf_str(&line));
}
