/* Masks, compares and writes goldens. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/golden.h"

#include "base/field.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    CELLS_MAX = 500,
    SHOWN_MAX = 200,
};

struct golden_mask {
    uint32_t row, col, rows, cols;
    bool has_row, has_col;
    struct str pattern;
    struct regex *regex; /* owned; NULL: a region */
};

#define M struct golden_mask
static const struct field mask_fields[] = {
    FIELD_U32("row", M, row, "counted from 0", FIELD_RANGE(0, CELLS_MAX), FIELD_HAS(M, has_row)),
    FIELD_U32("col", M, col, "counted from 0", FIELD_RANGE(0, CELLS_MAX), FIELD_HAS(M, has_col)),
    FIELD_U32("rows", M, rows, "number of rows", .def = "1", FIELD_RANGE(1, CELLS_MAX)),
    FIELD_U32("cols", M, cols, "number of rows", .def = "500", FIELD_RANGE(1, CELLS_MAX)),
    FIELD_STR("pattern", M, pattern, "a regular expression, instead of a region"),
};
static const struct shape mask_shape = SHAPE("mask", M, mask_fields, "a region or a pattern");

/* Reading ------------------------------------------------------------------------------------- */

static bool golden_invalid(struct err *err, const char *place, const char *what)
{
    err_set(err, E_PROTOCOL, "%s: %s", place, what);
    return err_ctx(err, "field", "%s", place);
}

/* Whether the path has only plain names, no "." or "..". */
static bool golden_is_inside(struct str file)
{
    struct str part, rest = file;
    if (file.n == 0 || file.n > 1000 || memchr(file.p, '\0', file.n))
        return false;
    while (str_cut(rest, '/', &part, &rest))
        if (part.n == 0 || str_is(part, ".") || str_is(part, ".."))
            return false;
    return file.p[file.n - 1] != '/';
}

static bool read_mask(const json_t *json, const char *place, struct arena *arena,
    struct golden_mask *m, struct err *err)
{
    const struct field_source source = {json, place, E_PROTOCOL};
    if (!field_read_part(&mask_shape, &source, arena, m, err))
        return false;
    bool region = m->has_row || m->has_col;
    if (m->pattern.p ? region : !(m->has_row && m->has_col))
        return golden_invalid(
            err, place, "expected {\"row\", \"col\", \"rows\", \"cols\"} or {\"pattern\"}");
    if (!m->pattern.p || regex_new(m->pattern, &m->regex, err))
        return true;
    err_wrap(err, "%s.pattern", place);
    return err_ctx(err, "field", "%s.pattern", place);
}

bool golden_read(struct str file, const json_t *mask, const char *place, struct arena *arena,
    struct golden **ret_golden, struct err *err)
{
    size_t n = json_array_size(mask);
    if (!golden_is_inside(file))
        return golden_invalid(err, arena_printf(arena, "%s.file", place),
            "expected a path below the scenario's directory, without '..'");
    if (mask && !json_is_array(mask))
        return golden_invalid(err, arena_printf(arena, "%s.mask", place), "expected a list");
    if (n > GOLDEN_MASKS_MAX)
        return golden_invalid(err, arena_printf(arena, "%s.mask", place), "more than 100 masks");
    struct golden *g = ARENA_NEW(arena, struct golden, 1);
    *g = (struct golden){.file = file, .mask_json = mask};
    g->masks = ARENA_NEW(arena, struct golden_mask, n);
    for (; g->n_masks < n; g->n_masks++) {
        const char *at = arena_printf(arena, "%s.mask[%zu]", place, g->n_masks);
        if (!read_mask(json_array_get(mask, g->n_masks), at, arena, &g->masks[g->n_masks], err)) {
            golden_done(g);
            return false;
        }
    }
    *ret_golden = g;
    return true;
}

void golden_done(struct golden *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n_masks; i++)
        regex_free(g->masks[i].regex);
    g->n_masks = 0;
    free(g->text);
    g->text = NULL;
}

/* Masking ------------------------------------------------------------------------------------- */

static bool is_masked(const struct golden *g, unsigned row, unsigned col)
{
    for (size_t i = 0; i < g->n_masks; i++) {
        const struct golden_mask *m = &g->masks[i];
        if (!m->regex && row >= m->row && row - m->row < m->rows && col >= m->col &&
            col - m->col < m->cols)
            return true;
    }
    return false;
}

static void golden_add_row(
    const struct golden *g, const struct snapshot *s, unsigned row, struct buf *out)
{
    size_t start = out->n;
    for (unsigned col = 0; col < s->cols; col++) {
        if (is_masked(g, row, col))
            buf_add_byte(out, '*');
        else
            buf_add_str(out, s->cells[row * s->cols + col].text);
    }
    struct str line = str_skip(buf_str(out), start);
    buf_truncate(out, start + str_trim_end(line, ' ').n);
    buf_add_byte(out, '\n');
}

static bool cannot_mask(const struct golden *g, size_t i, struct err *err)
{
    err_wrap(err, "the golden '" STR_FMT "', mask[%zu], pattern '" STR_FMT "'", STR_ARG(g->file), i,
        STR_ARG(str_head(g->masks[i].pattern, SHOWN_MAX)));
    return err_ctx(err, "golden", STR_FMT, STR_ARG(g->file));
}

/* Lines have no trailing blanks; empty lines at the end are left out. */
bool golden_text(const struct golden *g, const struct snapshot *s, struct buf *out, struct err *err)
{
    for (unsigned row = 0; row < s->rows; row++)
        golden_add_row(g, s, row, out);
    for (size_t i = 0; i < g->n_masks; i++) {
        AUTO_BUF struct buf next = BUF_INIT(2 * GOLDEN_BYTES_MAX);
        if (!g->masks[i].regex)
            continue;
        if (!regex_replace(g->masks[i].regex, buf_str(out), STR("***"), &next, err))
            return cannot_mask(g, i, err);
        buf_reset(out);
        buf_add_str(out, buf_str(&next));
    }
    buf_truncate(out, str_trim_end(buf_str(out), '\n').n);
    if (out->n)
        buf_add_byte(out, '\n');
    return true;
}

/* Masks a text as if it were on a screen of the same size: the file may be older than the mask. */
static bool mask_text(const struct golden *g, struct str text, const struct snapshot *like,
    struct buf *out, struct err *err)
{
    AUTO_ARENA struct arena arena = ARENA_INIT((size_t)256 << 20);
    struct snapshot s;
    struct str line, rest = text;
    struct term *t = term_new(&(struct term_options){.rows = like->rows, .cols = like->cols});
    for (unsigned row = 0; row < like->rows && str_cut(rest, '\n', &line, &rest); row++) {
        char to[32];
        snprintf(to, sizeof(to), "\033[%u;1H", row + 1);
        term_feed(t, str_z(to));
        term_feed(t, line);
    }
    snapshot_take(t, &arena, SNAPSHOT_CELLS, &s);
    bool ok = golden_text(g, &s, out, err);
    term_free(t);
    return ok;
}

/* Comparing ----------------------------------------------------------------------------------- */

static int home_dir(const struct golden *g)
{
    return g->home ? g->home->dir : AT_FDCWD;
}

static enum golden_mode golden_mode_of(const struct golden *g)
{
    return g->home ? g->home->mode : GOLDEN_NONE;
}

/* An unreadable file leaves no text; the reason is appended to `why`. */
static void golden_load(struct golden *g, struct buf *why)
{
    char name[1024];
    AUTO_BUF struct buf text = BUF_INIT(2 * GOLDEN_BYTES_MAX);
    AUTO_ERR struct err error = {0};
    snprintf(name, sizeof(name), STR_FMT, STR_ARG(g->file));
    AUTO_FD int fd =
        beneath_open(home_dir(g), name, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0, BENEATH_NO_SYMLINKS);
    g->missing = fd < 0 && errno == ENOENT;
    g->loaded = true;
    if (fd < 0 && why && errno != ENOENT)
        buf_printf(why, "cannot read the golden '%s': %s", name, strerror(errno));
    if (fd < 0)
        return;
    if (file_read(fd, GOLDEN_BYTES_MAX, name, &text, &error)) {
        buf_add_z(&text, "");
        g->text = buf_take(&text);
        if (!g->text)
            g->text = base_alloc(1);
    } else if (why) {
        buf_add_z(why, error.message);
    }
}

static void golden_explain(
    struct str want, struct str have, const struct golden *g, struct buf *why)
{
    struct str a, b, rest_a = want, rest_b = have;
    bool more_a = true, more_b = true, first = true;
    size_t n = 0;
    char words[2 * SHOWN_MAX + 100] = "";
    for (unsigned row = 0; more_a || more_b; row++) {
        more_a = str_cut(rest_a, '\n', &a, &rest_a);
        more_b = str_cut(rest_b, '\n', &b, &rest_b);
        a = more_a ? a : STR("");
        b = more_b ? b : STR("");
        if (str_eq(a, b))
            continue;
        n++;
        if (first)
            snprintf(words, sizeof(words), "line %u is '" STR_FMT "', expected '" STR_FMT "'", row,
                STR_ARG(str_head(b, SHOWN_MAX)), STR_ARG(str_head(a, SHOWN_MAX)));
        first = false;
    }
    buf_printf(why, "the screen differs from the golden '" STR_FMT "' in %zu line%s: %s",
        STR_ARG(g->file), n, n == 1 ? "" : "s", words);
}

/* Returns false with the difference in `why`, or with the error. */
static bool golden_same_text(
    struct golden *g, const struct snapshot *screen, struct buf *why, struct err *err)
{
    AUTO_BUF struct buf have = BUF_INIT(2 * GOLDEN_BYTES_MAX),
                        want = BUF_INIT(2 * GOLDEN_BYTES_MAX);
    struct str text = str_z(g->text);
    if (!golden_text(g, screen, &have, err))
        return false;
    if (str_eq(str_trim_end(text, '\n'), str_trim_end(buf_str(&have), '\n')))
        return true;
    if (!mask_text(g, text, screen, &want, err))
        return false;
    if (str_eq(buf_str(&want), buf_str(&have)))
        return true;
    if (why)
        golden_explain(buf_str(&want), buf_str(&have), g, why);
    return false;
}

/* Returns why the name must not be written, or NULL. */
static const char *golden_why_refused(const struct golden *g)
{
    return g->home && g->home->refuses ? g->home->refuses(g->home->context, g->file) : NULL;
}

static void load_once(struct golden *g)
{
    if (!g->loaded)
        golden_load(g, NULL);
}

/* Whether the file may be written from the screen. */
static bool is_written(const struct golden *g)
{
    unsigned mode = golden_mode_of(g);
    return g->missing ? mode & GOLDEN_MISSING : g->text && (mode & (GOLDEN_CHANGED | GOLDEN_SAME));
}

static void explain_missing(const struct golden *g, struct buf *why)
{
    const char *reason = golden_why_refused(g);
    buf_printf(why, "no golden '" STR_FMT "'", STR_ARG(g->file));
    if (reason)
        buf_printf(why, ", and it cannot be written: %s", reason);
    else
        buf_add_z(why, "; use --update-goldens to write it from the actual screen");
}

bool golden_holds(struct golden *g, const struct snapshot *screen, struct buf *why)
{
    if (!g->loaded || (!g->text && !g->missing))
        golden_load(g, why);
    if (g->missing) {
        if (is_written(g))
            return true;
        if (why)
            explain_missing(g, why);
        return false;
    }
    if (!g->text)
        return false;
    AUTO_ERR struct err error = {0};
    bool holds = (golden_mode_of(g) & GOLDEN_CHANGED) || golden_same_text(g, screen, why, &error);
    if (error.code && why)
        buf_add_z(why, error.message);
    return holds;
}

bool golden_is_missing(struct golden *g)
{
    load_once(g);
    return g->missing;
}

bool golden_is_lost(struct golden *g)
{
    load_once(g);
    return !g->text && !is_written(g);
}

bool golden_check(const struct golden *g, struct err *err)
{
    const char *reason = golden_why_refused(g);
    if (golden_mode_of(g) == GOLDEN_NONE || !reason)
        return true;
    err_set(err, E_POLICY_DENIED,
        "the golden '" STR_FMT
        "' cannot be written: %s; choose another name, or omit --update-goldens",
        STR_ARG(g->file), reason);
    err_ctx(err, "golden", STR_FMT, STR_ARG(g->file));
    return err_ctx(err, "reason", "%s", reason);
}

struct str golden_wanted(struct golden *g)
{
    load_once(g);
    return g->text ? str_z(g->text) : (struct str){0};
}

void golden_set(struct golden *g, struct str text)
{
    AUTO_BUF struct buf copy = BUF_INIT(2 * GOLDEN_BYTES_MAX);
    buf_add_str(&copy, text);
    buf_add_byte(&copy, '\0');
    free(g->text);
    g->text = text.p ? buf_take(&copy) : NULL;
    g->missing = !text.p;
    g->loaded = true;
}

uint64_t golden_quiet_ms(struct golden *g)
{
    load_once(g);
    return is_written(g) ? GOLDEN_QUIET_MS : 0;
}

/* Writing ------------------------------------------------------------------------------------- */

static bool golden_cannot_write(const struct golden *g, int errnum, struct err *err)
{
    return err_errno(err, E_IO, errnum, "cannot write the golden '" STR_FMT "'", STR_ARG(g->file));
}

/* Whether an entry of this name would make the directory a git repository, whose settings git
 * obeys. */
static bool makes_repository(int dir, const char *name)
{
    static const char *const parts[] = {"HEAD", "objects", "refs"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (strcmp(name, parts[i]) != 0 && faccessat(dir, parts[i], F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            return false;
    return true;
}

static bool golden_check_dir(const struct golden *g, int dir, const char *name, struct err *err)
{
    return !makes_repository(dir, name) ||
           err_set(err, E_POLICY_DENIED,
               "the golden '" STR_FMT "' cannot be written: it would be part of a git repository",
               STR_ARG(g->file));
}

/* Opens the file's directory, creating it if necessary. */
static bool open_parent(const struct golden *g, struct str *ret_name, int *ret_fd, struct err *err)
{
    char part[1024];
    struct str rest = g->file;
    AUTO_FD int dir = openat(home_dir(g), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (ptrdiff_t slash; dir >= 0 && (slash = str_find(rest, '/')) >= 0;) {
        snprintf(part, sizeof(part), "%.*s", (int)slash, rest.p);
        rest = str_skip(rest, (size_t)slash + 1);
        if (!golden_check_dir(g, dir, part, err))
            return false;
        (void)!mkdirat(dir, part, 0777);
        int next = beneath_open(dir, part, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
        int errnum = errno;
        close(dir);
        errno = errnum;
        dir = next;
    }
    if (dir < 0)
        return golden_cannot_write(g, errno, err);
    *ret_name = rest;
    *ret_fd = TAKE_FD(dir);
    return true;
}

/* A program must not be overwritten with another program's output. */
static bool check_target(const struct golden *g, int dir, const char *name, struct err *err)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || golden_cannot_write(g, errno, err);
    return (S_ISREG(st.st_mode) && !(st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH))) ||
           err_set(err, E_POLICY_DENIED,
               "the golden '" STR_FMT
               "' cannot be written: it is executable, or not a regular file",
               STR_ARG(g->file));
}

/* Atomic replace: a reader sees either the old file or the new one. */
static bool golden_replace_file(const struct golden *g, struct str text, struct err *err)
{
    AUTO_FD int dir = -1;
    struct str name = {0};
    char last[1024];
    if (!open_parent(g, &name, &dir, err))
        return false;
    snprintf(last, sizeof(last), STR_FMT, STR_ARG(name));
    if (!golden_check_dir(g, dir, last, err) || !check_target(g, dir, last, err))
        return false;
    const struct replace_options o = {
        .dir = dir, .name = last, .mode = 0666, .flags = REPLACE_SYNC};
    return replace_file(&o, text) || golden_cannot_write(g, errno, err);
}

bool golden_update(
    struct golden *g, const struct snapshot *screen, bool *ret_written, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * GOLDEN_BYTES_MAX);
    AUTO_ERR struct err unmasked = {0};
    bool writes = is_written(g) && (g->missing || (golden_mode_of(g) & GOLDEN_SAME) ||
                                       !golden_same_text(g, screen, NULL, &unmasked));
    *ret_written = false;
    if (!writes)
        return true;
    BUG_ON(!g->home->refuses);
    if (!golden_check(g, err))
        return false;
    if (!golden_text(g, screen, &text, err) || !golden_replace_file(g, buf_str(&text), err))
        return false;
    free(g->text);
    g->text = NULL;
    g->loaded = g->missing = false;
    *ret_written = true;
    return true;
}
