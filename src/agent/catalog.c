/* The directory of sessions and its index. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/catalog.h"

#include "agent/line.h"
#include "agent/store.h"
#include "base/choice.h"
#include "base/clock.h"
#include "base/grow.h"
#include "io/dir.h"
#include "io/file.h"
#include "io/replace.h"
#include "llm/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    TITLE_MAX = 200, /* bytes */
    TIME_MAX = 64,
    INDEX_MAX = 1 << 30,
    /* Rewrite the index if more than this many files or bytes were missing from it. */
    WORTH_FILES = 64,
    WORTH_BYTES = 1 << 20,
    ENTRY_ARENA = 16 * 1024,
    SUMMARY_ARENA = 1 << 20,
};

#define INDEX  "index"
#define SUFFIX ".jsonl"
/* A younger file may still change without a new modification time. */
#define NS_PER_S UINT64_C(1000000000)
#define FRESH_NS (UINT64_C(50) * 1000 * 1000)
/* Age after which temporary files left by a crash are removed. */
#define STALE_S UINT64_C(3600)

#define ENTRY struct catalog_entry

static const struct field list_fields[] = {
    FIELD_STR("id", ENTRY, id, "id of the session", .flags = FIELD_REQUIRED),
    FIELD_STR("created_at", ENTRY, created_at, "time of its creation"),
    FIELD_STR("updated_at", ENTRY, updated_at, "the time of its last message"),
    FIELD_U64("messages", ENTRY, messages, "number of messages"),
    FIELD_STR("title", ENTRY, title, "its title, or the start of its first prompt"),
    FIELD_STR("cwd", ENTRY, cwd, "its working directory"),
    FIELD_STR("damage", ENTRY, damage, "damage to its file", .flags = FIELD_OMIT_EMPTY),
};
const struct shape catalog_shape = SHAPE("session", ENTRY, list_fields, "a session");

/* A line of the index is an array, to keep the file small: these members in this order. */
static const size_t index_texts[] = {offsetof(ENTRY, id), offsetof(ENTRY, created_at),
    offsetof(ENTRY, updated_at), offsetof(ENTRY, title), offsetof(ENTRY, cwd),
    offsetof(ENTRY, damage)};
static const size_t index_numbers[] = {offsetof(ENTRY, inode), offsetof(ENTRY, size),
    offsetof(ENTRY, mtime_s), offsetof(ENTRY, mtime_ns), offsetof(ENTRY, messages),
    offsetof(ENTRY, imported)};
#define TEXT_AT(entry, i)   ((struct str *)((char *)(entry) + index_texts[i]))
#define NUMBER_AT(entry, i) ((uint64_t *)((char *)(entry) + index_numbers[i]))

/* One session's file -------------------------------------------------------------------------- */

/* Buffers for fields that can occur many times in a file, so that they do not fill the arena. */
struct catalog_summary {
    struct catalog_entry *entry;
    struct arena *arena;
    const char *file;
    char title[TITLE_MAX + 1], updated_at[TIME_MAX + 1], cwd[PATH_MAX + 1];
};

static void catalog_copy_text(struct catalog_summary *s, struct str *member, const json_t *text)
{
    if (json_is_string(text))
        *member = arena_str(s->arena, str_head(json_str(text), PATH_MAX));
}

static struct str copy_to(char *place, struct str text, size_t max)
{
    text = str_head(text, max);
    memcpy(place, text.p, text.n);
    return str_n(place, text.n);
}

static void keep_time(struct catalog_summary *s, const json_t *text)
{
    if (json_is_string(text))
        s->entry->updated_at = copy_to(s->updated_at, json_str(text), TIME_MAX);
}

/* The first line that is not blank, truncated between characters. */
static void keep_title(struct catalog_summary *s, struct str text)
{
    while (text.n && memchr(" \t\r\n", text.p[0], 4))
        text = str_skip(text, 1);
    ptrdiff_t end = str_find(text, '\n');
    text = end >= 0 ? str_head(text, (size_t)end) : text;
    if (text.n > TITLE_MAX) {
        text = str_head(text, TITLE_MAX + 1);
        do
            text.n--;
        while (text.n && (text.p[text.n] & 0xC0) == 0x80);
    }
    s->entry->title = copy_to(s->title, str_trim_end(text, '\r'), TITLE_MAX);
}

static void see_message(struct catalog_summary *s, const json_t *message)
{
    s->entry->messages++;
    keep_time(s, json_object_get(message, "timestamp"));
    if (s->entry->title.n || message_type(message) != MESSAGE_USER)
        return;
    AUTO_BUF struct buf text = BUF_INIT(STORE_LINE_MAX);
    message_add_text(message, &text);
    keep_title(s, buf_str(&text));
}

static void see_header(struct catalog_summary *s, const json_t *header)
{
    catalog_copy_text(s, &s->entry->created_at, json_object_get(header, "created_at"));
    keep_time(s, json_object_get(header, "updated_at"));
    catalog_copy_text(s, &s->entry->cwd, json_object_get(header, "cwd"));
    if (json_is_string(json_object_get(header, "title")))
        keep_title(s, json_str(json_object_get(header, "title")));
}

/* The user's working directory overrides the one in the file. */
static void see_resumed(struct catalog_summary *s, const json_t *record)
{
    s->entry->imported = false;
    s->entry->cwd = copy_to(s->cwd, json_str(json_object_get(record, "cwd")), PATH_MAX);
}

static bool catalog_on_line(
    void *context, const struct line_file_line *line, bool *ret_torn, struct err *err)
{
    struct catalog_summary *s = context;
    AUTO_JSON json_t *tree = NULL;
    enum line_kind kind;
    if (!line_parse(line, s->file, &tree, err))
        return false;
    *ret_torn = !tree;
    if (!tree)
        return true;
    if (line->number == 1) {
        if (!line_check_header(tree, err))
            return line_blame(err, s->file, 1);
        see_header(s, tree);
        return true;
    }
    if (!line_check(tree, &kind, err))
        return line_blame(err, s->file, line->number);
    if (kind == LINE_MESSAGE)
        see_message(s, tree);
    else if (kind == LINE_TITLE)
        keep_title(s, json_str(json_object_get(tree, "title")));
    else if (kind == LINE_UPDATED)
        keep_time(s, json_object_get(tree, "updated_at"));
    else if (kind == LINE_IMPORTED)
        s->entry->imported = true;
    else if (kind == LINE_RESUMED)
        see_resumed(s, tree);
    return true;
}

static void catalog_summarize(const char *dir, struct catalog_entry *entry, struct arena *a)
{
    AUTO(line_file_close) struct line_file t = LINE_FILE_NONE;
    AUTO_ERR struct err problem = {0};
    AUTO_ARENA struct arena own = ARENA_INIT(SUMMARY_ARENA);
    const char *path = arena_printf(&own, "%s/" STR_FMT SUFFIX, dir, STR_ARG(entry->id));
    struct catalog_entry found = *entry;
    struct catalog_summary s = {.entry = &found, .arena = &own, .file = path};
    if (!line_file_open(path, false, &t, &problem) ||
        !line_file_read(&t, catalog_on_line, &s, &problem))
        found.damage = arena_str(&own, str_head(str_z(problem.message), 1024));
    struct str *texts[] = {
        &found.created_at, &found.updated_at, &found.title, &found.cwd, &found.damage};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i]->p)
            *texts[i] =
                arena_left(a) > texts[i]->n + ENTRY_ARENA ? arena_str(a, *texts[i]) : STR("");
    *entry = found;
}

/* The index ----------------------------------------------------------------------------------- */

static int catalog_by_id(const void *a, const void *b)
{
    return str_cmp(((const ENTRY *)a)->id, ((const ENTRY *)b)->id);
}

static int by_age(const void *a, const void *b)
{
    const ENTRY *x = a, *y = b;
    if (x->updated_ms != y->updated_ms)
        return x->updated_ms > y->updated_ms ? -1 : 1;
    return str_cmp(x->id, y->id);
}

static bool read_row(const json_t *row, struct arena *a, ENTRY *entry)
{
    size_t n_texts = ARRAY_LEN(index_texts);
    if (json_array_size(row) != n_texts + ARRAY_LEN(index_numbers))
        return false;
    for (size_t i = 0; i < n_texts; i++) {
        if (!json_is_string(json_array_get(row, i)))
            return false;
        *TEXT_AT(entry, i) = arena_str(a, json_str(json_array_get(row, i)));
    }
    for (size_t i = 0; i < ARRAY_LEN(index_numbers); i++) {
        const json_t *number = json_array_get(row, n_texts + i);
        if (!json_is_integer(number))
            return false;
        *NUMBER_AT(entry, i) = (uint64_t)json_integer_value(number);
    }
    return true;
}

static void catalog_add_row(const ENTRY *entry, struct buf *out)
{
    char before = '[';
    for (size_t i = 0; i < ARRAY_LEN(index_texts); i++, before = ',') {
        buf_add_byte(out, before);
        json_add_text(out, *TEXT_AT(entry, i));
    }
    for (size_t i = 0; i < ARRAY_LEN(index_numbers); i++)
        buf_printf(out, ",%lld", (long long)*NUMBER_AT(entry, i));
    buf_add_z(out, "]\n");
}

/* Returns no entries if the index cannot be read; skips damaged lines. */
static struct catalog load_index(int dir, struct arena *a)
{
    struct catalog index = {0};
    AUTO_BUF struct buf text = BUF_INIT((size_t)INDEX_MAX + 1);
    AUTO_ERR struct err ignored = {0};
    struct stat st;
    AUTO_FD int fd = openat(dir, INDEX, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > INDEX_MAX ||
        !buf_reserve(&text, (size_t)st.st_size + 1) ||
        !file_read(fd, INDEX_MAX, INDEX, &text, &ignored))
        return index;
    size_t cap = 0;
    for (size_t i = 0; i < text.n; i++)
        cap += text.p[i] == '\n';
    cap = MIN(cap, (size_t)CATALOG_MAX);
    index.entries = ARENA_NEW(a, ENTRY, cap + 1);
    struct str line, rest = buf_str(&text);
    while (index.n < cap && str_cut(rest, '\n', &line, &rest)) {
        AUTO_JSON json_t *tree = NULL;
        if (arena_left(a) > line.n * 2 + ENTRY_ARENA &&
            json_parse(line, INDEX, E_CONFIG, &tree, &ignored) &&
            read_row(tree, a, &index.entries[index.n]))
            index.n++;
    }
    qsort(index.entries, index.n, sizeof(ENTRY), catalog_by_id);
    return index;
}

static void write_index(const char *dir, const struct catalog *c)
{
    AUTO_BUF struct buf text = BUF_INIT(INDEX_MAX);
    AUTO_ERR struct err ignored = {0};
    uint64_t now_ns = clock_wall_ms() * 1000 * 1000;
    char path[PATH_MAX];
    for (size_t i = 0; i < c->n; i++) {
        const ENTRY *e = &c->entries[i];
        if (e->mtime_s * NS_PER_S + e->mtime_ns + FRESH_NS > now_ns)
            continue;
        catalog_add_row(e, &text);
    }
    snprintf(path, sizeof(path), "%s/" INDEX, dir);
    if (buf_ok(&text))
        (void)!replace_path(path, buf_str(&text), REPLACE_KEEP_MODE, &ignored);
}

/* The directory ------------------------------------------------------------------------------- */

/* The session id in a file name; no value: not a session file. */
static struct str catalog_file_id(const char *name)
{
    struct str s = str_z(name);
    if (!str_ends_with(s, STR(SUFFIX)))
        return (struct str){0};
    s.n -= strlen(SUFFIX);
    return store_id_valid(s) ? s : (struct str){0};
}

/* Removes an old temporary file of replace_path(). */
static void catalog_remove_stale(int dir, const char *name)
{
    struct stat st;
    uint64_t now_s = clock_wall_ms() / 1000;
    if (strncmp(name, ".tmp-", 5) == 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(st.st_mode) && (uint64_t)st.st_mtim.tv_sec + STALE_S < now_s)
        unlinkat(dir, name, 0);
}

typedef bool visit_fn(void *context, int dir, struct str id);

/* Calls fn for each session id until it returns false. */
static bool catalog_each_session(const char *path, visit_fn *fn, void *context, struct err *err)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (!dir_open_path(&d, path))
        return errno == ENOENT ||
               err_errno(err, E_IO, errno, "cannot list the sessions in '%s'", path);
    while (dir_next(&d)) {
        struct str id = catalog_file_id(d.name);
        if (!id.p)
            catalog_remove_stale(d.fd, d.name);
        else if (!fn(context, d.fd, id))
            return true;
    }
    return !d.errnum || err_errno(err, E_IO, d.errnum, "cannot list the sessions in '%s'", path);
}

struct catalog_listing {
    struct arena *arena;
    struct catalog catalog;
    size_t cap;
};

static bool catalog_add_file(void *context, int dir, struct str id)
{
    struct catalog_listing *l = context;
    struct stat st;
    char name[STORE_ID_MAX + sizeof(SUFFIX)];
    snprintf(name, sizeof(name), STR_FMT SUFFIX, STR_ARG(id));
    if (fstatat(dir, name, &st, 0) != 0 || !S_ISREG(st.st_mode))
        return true;
    if (l->catalog.n == CATALOG_MAX || arena_left(l->arena) < ENTRY_ARENA)
        return false;
    GROW(l->catalog.entries, l->catalog.n, l->cap, CATALOG_MAX);
    l->catalog.entries[l->catalog.n++] = (ENTRY){
        .id = arena_str(l->arena, id),
        .inode = st.st_ino,
        .size = (uint64_t)st.st_size,
        .mtime_s = (uint64_t)st.st_mtim.tv_sec,
        .mtime_ns = (uint64_t)st.st_mtim.tv_nsec,
    };
    return true;
}

/* Fills in the entry from the index; false if the file is not indexed or has changed. */
static bool from_index(const struct catalog *index, ENTRY *entry)
{
    const ENTRY *known =
        index->n ? bsearch(entry, index->entries, index->n, sizeof(ENTRY), catalog_by_id) : NULL;
    if (!known || known->inode != entry->inode || known->size != entry->size ||
        known->mtime_s != entry->mtime_s || known->mtime_ns != entry->mtime_ns)
        return false;
    *entry = *known;
    return true;
}

static void catalog_finish_entry(ENTRY *entry)
{
    struct str *texts[] = {&entry->created_at, &entry->updated_at, &entry->title, &entry->cwd};
    uint64_t written_ms = entry->mtime_s * 1000 + entry->mtime_ns / 1000000u;
    if (!clock_parse(entry->updated_at, &entry->updated_ms) || entry->updated_ms > written_ms)
        entry->updated_ms = written_ms; /* the file's own time is not trusted beyond its mtime */
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!texts[i]->p)
            *texts[i] = STR("");
}

static void catalog_fill_entries(const char *dir, struct catalog_listing *l)
{
    AUTO_FD int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct catalog index = fd >= 0 ? load_index(fd, l->arena) : (struct catalog){0};
    size_t files = 0, bytes = 0;
    for (size_t i = 0; i < l->catalog.n; i++) {
        ENTRY *entry = &l->catalog.entries[i];
        if (!from_index(&index, entry)) {
            catalog_summarize(dir, entry, l->arena);
            files++;
            bytes += entry->size;
        }
        catalog_finish_entry(entry);
    }
    if (files > WORTH_FILES || bytes > WORTH_BYTES)
        write_index(dir, &l->catalog);
}

bool catalog_load(const char *dir, struct arena *a, struct catalog *ret_catalog, struct err *err)
{
    struct catalog_listing l = {.arena = a};
    bool ok = catalog_each_session(dir, catalog_add_file, &l, err);
    if (ok && l.catalog.n) {
        catalog_fill_entries(dir, &l);
        qsort(l.catalog.entries, l.catalog.n, sizeof(ENTRY), by_age);
        ret_catalog->entries = ARENA_NEW(a, ENTRY, l.catalog.n);
        memcpy(ret_catalog->entries, l.catalog.entries, l.catalog.n * sizeof(ENTRY));
    }
    if (ok)
        ret_catalog->n = l.catalog.n;
    free(l.catalog.entries);
    return ok;
}

bool catalog_latest(
    const char *dir, struct str cwd, struct arena *a, struct str *ret_id, struct err *err)
{
    struct catalog c = {0};
    if (!catalog_load(dir, a, &c, err))
        return false;
    AUTO_JSON json_t *written = json_text(cwd); /* as stored in JSON, even if it is not UTF-8 */
    for (size_t i = 0; i < c.n; i++)
        if ((!cwd.p || str_eq(c.entries[i].cwd, json_str(written))) && !c.entries[i].damage.n &&
            c.entries[i].messages && !c.entries[i].imported) {
            *ret_id = c.entries[i].id;
            return true;
        }
    return err_set(err, E_NOT_FOUND, "no session%s to resume: start one without --continue",
        cwd.p ? " of this directory" : "");
}

/* Finding one --------------------------------------------------------------------------------- */

struct catalog_finding {
    struct str word;
    struct arena *arena;
    const char *found;
    size_t n;
    struct choice choice; /* similar ids, for the hint */
    struct buf starts;    /* ids with this prefix */
};

static bool catalog_match_id(void *context, int dir, struct str id)
{
    (void)dir;
    struct catalog_finding *f = context;
    if (arena_left(f->arena) < ENTRY_ARENA)
        return false;
    const char *name = arena_strdup(f->arena, id);
    if (str_starts_with(id, f->word)) {
        f->found = name;
        f->n++;
        if (f->n <= CHOICE_LISTED)
            buf_printf(&f->starts, "%s'%s'", f->n > 1 ? ", " : "", name);
    }
    choice_add(&f->choice, name);
    return true;
}

static bool catalog_not_found(const struct catalog_finding *f, struct err *err)
{
    AUTO_BUF struct buf hint = BUF_INIT(1024);
    choice_hint(&f->choice, "", &hint);
    err_set(err, E_NOT_FOUND, "no such session '" STR_FMT "'%s", STR_ARG(f->word),
        hint.n ? buf_z(&hint) : "; 'cordon sessions list' lists all sessions");
    return err_ctx(err, "session", STR_FMT, STR_ARG(f->word));
}

bool catalog_find(
    const char *dir, struct str word, struct arena *a, const char **ret_id, struct err *err)
{
    struct catalog_finding f = {
        .word = word, .arena = a, .choice = CHOICE_INIT(word), .starts = BUF_INIT(16 * 1024)};
    if (!store_id_valid(word)) {
        err_set(err, E_NOT_FOUND,
            "'" STR_FMT "' is not a valid session id: expected letters, digits, '.', '_' and '-'",
            STR_ARG(word));
        return err_ctx(err, "session", STR_FMT, STR_ARG(word));
    }
    const char *path = arena_printf(a, "%s/" STR_FMT SUFFIX, dir, STR_ARG(word));
    if (access(path, F_OK) == 0) {
        *ret_id = arena_strdup(a, word);
        return true;
    }
    bool ok = catalog_each_session(dir, catalog_match_id, &f, err);
    if (ok && f.n == 1)
        *ret_id = f.found;
    else if (ok && f.n == 0)
        ok = catalog_not_found(&f, err);
    else if (ok)
        ok = err_set(err, E_CONFLICT, "%zu sessions start with '" STR_FMT "': %s%s", f.n,
            STR_ARG(word), buf_z(&f.starts), f.n > CHOICE_LISTED ? ", ..." : "");
    choice_done(&f.choice);
    buf_done(&f.starts);
    return ok;
}

bool catalog_remove(const char *dir, const char *id, struct err *err)
{
    AUTO(line_file_close) struct line_file t = LINE_FILE_NONE;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s" SUFFIX, dir, id);
    if (!line_file_open(path, true, &t, err))
        return false;
    if (unlink(path) != 0)
        return err_errno(err, E_IO, errno, "cannot remove '%s'", path);
    AUTO_FD int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && (fsync(fd) == 0 || errno == EINVAL)
               ? true
               : err_errno(err, E_IO, errno, "cannot sync the directory '%s'", dir);
}
