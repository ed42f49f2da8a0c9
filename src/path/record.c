/* The serialized form of a change: lines with checksums. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/record.h"

#include "base/fnv.h"

#include <inttypes.h>

enum {
    STAMP_FIELDS = 7,
    FIELDS_MAX = 1 + 2 * STAMP_FIELDS,
};

static const char *const kind_names[] = {
    [CHANGE_CREATE] = "create",
    [CHANGE_UPDATE] = "update",
    [CHANGE_DELETE] = "delete",
    [CHANGE_TO_DIR] = "to-dir",
    [CHANGE_TO_FILE] = "to-file",
};

static bool record_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '/';
}

static void record_add_path(struct buf *b, struct str path)
{
    for (size_t i = 0; i < path.n; i++) {
        if (record_is_plain(path.p[i]))
            buf_add_byte(b, path.p[i]);
        else
            buf_printf(b, "%%%02X", (unsigned)(unsigned char)path.p[i]);
    }
}

/* Ends the line that starts at the given offset. */
static void record_add_sum(struct buf *b, size_t start, uint64_t *hash)
{
    char hex[FNV_HEX];
    buf_add_byte(b, ' ');
    if (!buf_ok(b))
        return;
    *hash = fnv_add(*hash, str_skip(buf_str(b), start));
    fnv_hex(*hash, hex);
    buf_printf(b, "%s\n", hex);
}

static void record_add_word(struct buf *b, uint64_t *hash, const char *word)
{
    size_t start = b->n;
    buf_add_z(b, word);
    record_add_sum(b, start, hash);
}

static void add_path_line(struct buf *b, uint64_t *hash, const char *words, struct str path)
{
    size_t start = b->n;
    buf_add_z(b, words);
    buf_add_byte(b, ' ');
    record_add_path(b, path);
    record_add_sum(b, start, hash);
}

void record_add_staging(struct buf *b, uint64_t *hash, const struct change *c)
{
    char words[150];
    *hash = FNV_START;
    record_add_word(b, hash, "cordon-journal 1");
    record_add_word(b, hash, "way +");
    snprintf(words, sizeof(words), "root %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
        (int64_t)c->root_id.dev, (int64_t)c->root_id.ino, (int64_t)c->root_id.fsid,
        c->root_id.birth_s, c->root_id.birth_ns);
    add_path_line(b, hash, words, c->root);
    snprintf(words, sizeof(words), "id %s", c->id);
    record_add_word(b, hash, words);
    if (c->tidy)
        record_add_word(b, hash, "tidy");
    for (size_t i = 0; i < c->n_dirs; i++)
        add_path_line(b, hash, "dir", c->dirs[i].rel);
    for (size_t i = 0; i < c->n_ops; i++) {
        snprintf(words, sizeof(words), "op %s %" PRId64, kind_names[c->ops[i].kind],
            (int64_t)c->ops[i].old.ino);
        add_path_line(b, hash, words, c->ops[i].rel);
    }
    snprintf(words, sizeof(words), "staging %zu %zu", c->n_dirs, c->n_ops);
    record_add_word(b, hash, words);
}

void record_add_made(struct buf *b, uint64_t *hash, const struct change *c)
{
    char words[100];
    for (size_t i = 0; i < c->n_dirs; i++) {
        snprintf(words, sizeof(words), "made %zu %" PRId64, i, (int64_t)c->dirs[i].ino);
        record_add_word(b, hash, words);
    }
}

static void add_stamp(struct buf *b, const struct stamp *stamp)
{
    buf_printf(b, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %u %u %u", (int64_t)stamp->ino,
        stamp->mtime_s, stamp->mtime_ns, stamp->size, (unsigned)stamp->mode, (unsigned)stamp->uid,
        (unsigned)stamp->gid);
}

void record_add_commit(struct buf *b, uint64_t *hash, const struct change *c)
{
    for (size_t i = 0; i < c->n_ops; i++) {
        size_t start = b->n;
        buf_printf(b, "file %zu", i);
        add_stamp(b, &c->ops[i].old);
        add_stamp(b, &c->ops[i].new);
        record_add_sum(b, start, hash);
    }
    record_add_word(b, hash, "commit");
}

void record_add_done(struct buf *b, uint64_t *hash)
{
    record_add_word(b, hash, "done");
}

/* Progress of the reader; each line is accepted only in its phase. */
enum record_phase {
    PHASE_START,
    PHASE_WAY,
    PHASE_ROOT,
    PHASE_ID,
    PHASE_NAMES,
    PHASE_STAGED,
    PHASE_COMMITTED,
    PHASE_DONE,
};

struct record_reader {
    struct arena *arena;
    struct change change;
    size_t line_number;
    size_t lines_max; /* upper bound for directories and files: lines of the text */
    size_t n_made;
    size_t n_files;
    bool back; /* the undo mark is set */
    enum record_phase phase;
};

static int record_hex_value(char c)
{
    const char *digits = "0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Accepts exactly what record_add_path() writes, so that a path has only one serialized form. */
static bool record_read_path(struct record_reader *r, struct str field, struct str *ret_path)
{
    char *path = arena_alloc(r->arena, field.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < field.n; i++) {
        char c = field.p[i];
        if (c == '%') {
            int high = i + 1 < field.n ? record_hex_value(field.p[i + 1]) : -1;
            int low = i + 2 < field.n ? record_hex_value(field.p[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
            if (record_is_plain(c))
                return false;
        } else if (!record_is_plain(c)) {
            return false;
        }
        path[n++] = c;
    }
    *ret_path = str_n(path, n);
    return true;
}

static bool record_read_number(struct str field, int64_t *ret_number)
{
    return str_to_int(field, INT64_MIN, INT64_MAX, ret_number);
}

static bool record_read_version(struct record_reader *r, const struct str *field)
{
    r->phase = PHASE_WAY;
    return str_is(field[0], "1");
}

static bool record_read_way(struct record_reader *r, const struct str *field)
{
    r->phase = PHASE_ROOT;
    r->back = str_is(field[0], "-");
    return r->back || str_is(field[0], "+");
}

static bool record_read_root(struct record_reader *r, const struct str *field)
{
    int64_t n[5];
    for (size_t i = 0; i < ARRAY_LEN(n); i++)
        if (!record_read_number(field[i], &n[i]))
            return false;
    r->change.root_id = (struct rootid){.dev = (dev_t)n[0],
        .ino = (ino_t)n[1],
        .fsid = (uint64_t)n[2],
        .birth_s = n[3],
        .birth_ns = n[4]};
    r->phase = PHASE_ID;
    return record_read_path(r, field[5], &r->change.root) && r->change.root.n > 0;
}

static bool record_read_id(struct record_reader *r, const struct str *field)
{
    if (!change_id_ok(field[0]))
        return false;
    memcpy(r->change.id, field[0].p, CHANGE_ID - 1);
    r->phase = PHASE_NAMES;
    return true;
}

static bool record_read_tidy(struct record_reader *r, const struct str *field)
{
    (void)field;
    bool first = !r->change.tidy && !r->change.n_dirs && !r->change.n_ops;
    r->change.tidy = true;
    return first;
}

static bool record_read_dir(struct record_reader *r, const struct str *field)
{
    struct change *c = &r->change;
    struct str rel;
    if (c->n_ops || c->n_dirs == CHANGE_MAX_DIRS || !record_read_path(r, field[0], &rel))
        return false;
    if (!change_rel_ok(rel))
        return false;
    if (!c->dirs)
        c->dirs = ARENA_NEW(r->arena, struct change_dir, r->lines_max);
    c->dirs[c->n_dirs++].rel = rel;
    return true;
}

static bool record_read_op(struct record_reader *r, const struct str *field)
{
    struct change *c = &r->change;
    struct str rel;
    int64_t ino;
    size_t kind = 0;
    while (kind < ARRAY_LEN(kind_names) && !str_is(field[0], kind_names[kind]))
        kind++;
    if (kind == ARRAY_LEN(kind_names) || c->n_ops == CHANGE_MAX_FILES)
        return false;
    if (!record_read_number(field[1], &ino) || !ino != (kind == CHANGE_CREATE))
        return false;
    if (!record_read_path(r, field[2], &rel) || !change_rel_ok(rel))
        return false;
    if (!c->ops)
        c->ops = ARENA_NEW(r->arena, struct change_op, r->lines_max);
    c->ops[c->n_ops++] =
        (struct change_op){.kind = (enum change_kind)kind, .rel = rel, .old.ino = (ino_t)ino};
    return true;
}

static bool record_read_staging(struct record_reader *r, const struct str *field)
{
    int64_t dirs, ops;
    if (!record_read_number(field[0], &dirs) || !record_read_number(field[1], &ops))
        return false;
    r->phase = PHASE_STAGED;
    return dirs == (int64_t)r->change.n_dirs && ops == (int64_t)r->change.n_ops && ops > 0 &&
           change_bind(&r->change);
}

static bool record_read_made(struct record_reader *r, const struct str *field)
{
    int64_t n, ino;
    if (!record_read_number(field[0], &n) || !record_read_number(field[1], &ino) || r->n_files)
        return false;
    if (n != (int64_t)r->n_made || r->n_made == r->change.n_dirs || !ino)
        return false;
    r->change.dirs[r->n_made++].ino = (ino_t)ino;
    return true;
}

static bool record_read_stamp(const struct str *field, struct stamp *ret_stamp)
{
    int64_t n[STAMP_FIELDS];
    for (size_t i = 0; i < ARRAY_LEN(n); i++)
        if (!record_read_number(field[i], &n[i]) || (i >= 4 && (n[i] < 0 || n[i] > UINT32_MAX)))
            return false;
    *ret_stamp = (struct stamp){.ino = (ino_t)n[0],
        .mtime_s = n[1],
        .mtime_ns = n[2],
        .size = n[3],
        .mode = (mode_t)n[4],
        .uid = (uid_t)n[5],
        .gid = (gid_t)n[6]};
    return true;
}

static bool record_read_file(struct record_reader *r, const struct str *field)
{
    int64_t n;
    if (!record_read_number(field[0], &n) || n != (int64_t)r->n_files ||
        r->n_files == r->change.n_ops)
        return false;
    struct change_op *op = &r->change.ops[r->n_files++];
    ino_t old = op->old.ino;
    if (!record_read_stamp(field + 1, &op->old) ||
        !record_read_stamp(field + 1 + STAMP_FIELDS, &op->new))
        return false;
    return op->old.ino == old && !op->new.ino == (op->kind == CHANGE_DELETE) &&
           r->n_made == r->change.n_dirs;
}

static bool record_read_commit(struct record_reader *r, const struct str *field)
{
    (void)field;
    r->phase = PHASE_COMMITTED;
    return r->n_files == r->change.n_ops;
}

static bool record_read_done(struct record_reader *r, const struct str *field)
{
    (void)field;
    r->phase = PHASE_DONE;
    return true;
}

static const struct line_type {
    const char *word;
    enum record_phase phase;
    size_t n_fields;
    bool (*read)(struct record_reader *r, const struct str *field);
} line_types[] = {
    {"commit", PHASE_STAGED, 0, record_read_commit},
    {"cordon-journal", PHASE_START, 1, record_read_version},
    {"dir", PHASE_NAMES, 1, record_read_dir},
    {"done", PHASE_COMMITTED, 0, record_read_done},
    {"file", PHASE_STAGED, FIELDS_MAX, record_read_file},
    {"id", PHASE_ID, 1, record_read_id},
    {"made", PHASE_STAGED, 2, record_read_made},
    {"op", PHASE_NAMES, 3, record_read_op},
    {"root", PHASE_ROOT, 6, record_read_root},
    {"staging", PHASE_NAMES, 2, record_read_staging},
    {"tidy", PHASE_NAMES, 0, record_read_tidy},
    {"way", PHASE_WAY, 1, record_read_way},
};

/* Parses a line without checksum and line break: one word, single spaces, exactly its fields. */
static bool record_read_line(struct record_reader *r, struct str line)
{
    struct str word, part, rest, field[FIELDS_MAX];
    if (!str_cut(line, ' ', &word, &rest))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(line_types); i++) {
        const struct line_type *type = &line_types[i];
        if (!str_is(word, type->word))
            continue;
        size_t n = 0;
        while (str_cut(rest, ' ', &part, &rest)) {
            if (n == type->n_fields)
                return false;
            field[n++] = part;
        }
        return n == type->n_fields && r->phase == type->phase && type->read(r, field);
    }
    return false;
}

/* Checks and strips the checksum; the hash covers everything up to it. */
static bool check_sum(struct str line, uint64_t *hash, struct str *ret_body)
{
    char hex[FNV_HEX];
    if (line.n < FNV_HEX || line.p[line.n - FNV_HEX] != ' ')
        return false;
    struct str body = str_head(line, line.n - (FNV_HEX - 1));
    *hash = fnv_add(*hash, str_is(body, "way - ") ? STR("way + ") : body);
    fnv_hex(*hash, hex);
    *ret_body = str_head(body, body.n - 1);
    return str_is(str_skip(line, body.n), hex);
}

static bool all_zeros(struct str s)
{
    return s.n == 0 || (s.p[0] == '\0' && memcmp(s.p, s.p + 1, s.n - 1) == 0);
}

static size_t record_count_lines(struct str text)
{
    size_t n = 0;
    for (struct str line; str_cut(text, '\n', &line, &text);)
        n++;
    return n;
}

static bool starts_like(struct str s, struct str want)
{
    size_t n = MIN(s.n, want.n);
    return str_eq(str_head(s, n), str_head(want, n));
}

static enum record_state record_state_of(const struct record_reader *r)
{
    switch (r->phase) {
    case PHASE_DONE:
        return r->back ? RECORD_UNDO : RECORD_DONE;
    case PHASE_COMMITTED:
        return r->back ? RECORD_UNDO : RECORD_COMMIT;
    case PHASE_STAGED:
        return RECORD_STAGING;
    default:
        return RECORD_CUT;
    }
}

/* Reads one more line, if it is complete. False without an error: no more lines. */
static bool record_next_line(
    struct record_reader *r, struct str text, struct record_tail *tail, struct err *err)
{
    struct str rest = str_skip(text, tail->whole_n), body;
    ptrdiff_t end = str_find(rest, '\n');
    if (end < 0 || all_zeros(rest))
        return false;
    r->line_number++;
    if (!check_sum(str_head(rest, (size_t)end), &tail->hash, &body))
        return err_set(err, E_CONFIG, "line %zu does not match its checksum", r->line_number);
    if (!record_read_line(r, body))
        return err_set(err, E_CONFIG, "line %zu is unexpected", r->line_number);
    tail->whole_n += (size_t)end + 1;
    if (r->phase == PHASE_STAGED && r->n_files == 0)
        tail->staging_n = tail->whole_n;
    return true;
}

static struct record_reader record_reader_init(struct arena *a, struct str text)
{
    struct record_reader r = {.arena = a, .change = {.root_fd = -1}};
    r.lines_max = MIN(record_count_lines(text), (size_t)(CHANGE_MAX_FILES + CHANGE_MAX_DIRS));
    return r;
}

bool record_parse(struct str text, struct arena *a, struct change *ret_change,
    struct record_tail *ret_tail, struct err *err)
{
    struct record_reader r = record_reader_init(a, text);
    struct record_tail tail = {.hash = FNV_START};
    AUTO_ERR struct err damage = {0};
    while (record_next_line(&r, text, &tail, &damage))
        continue;
    if (damage.code != ERR_NONE)
        return err_move(err, &damage);
    struct str cut = str_skip(text, tail.whole_n);
    if (r.line_number == 0 && !all_zeros(cut) && !starts_like(cut, STR("cordon-journal 1 ")))
        return err_set(err, E_CONFIG, "it does not start like a journal");
    tail.state = record_state_of(&r);
    *ret_change = r.change;
    *ret_tail = tail;
    return true;
}

bool record_peek(struct str text, struct arena *a, struct change *ret_change)
{
    struct record_reader r = record_reader_init(a, text);
    struct record_tail tail = {.hash = FNV_START};
    AUTO_ERR struct err damage = {0};
    while (r.phase <= PHASE_ROOT && record_next_line(&r, text, &tail, &damage))
        continue;
    if (r.phase <= PHASE_ROOT || damage.code != ERR_NONE)
        return false;
    *ret_change = r.change;
    return true;
}
