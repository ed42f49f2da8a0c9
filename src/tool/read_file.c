/* read_file: reads lines of a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "tool/limit.h"
#include "tool/tool.h"

#include <errno.h>

enum {
    LINE_CHARS = 400, /* maximum characters shown per line */
    CHUNK = 64 * 1024,
    SNIFF = 8 * 1024,     /* a NUL within these bytes: binary file */
    READ_MAX = 1 << 30,   /* maximum bytes read to reach an offset and to count lines */
    COUNT_MAX = 64 << 20, /* maximum bytes read only to count lines */
    LEVELS_MAX = 64,
};

enum read_mode {
    MODE_SLICE,
    MODE_INDENTATION,
};

static const char *const mode_names[] = {"slice", "indentation"};

struct read_file_args {
    struct str path;
    uint32_t offset, limit;
    enum read_mode mode;
};

static const struct field fields[] = {
    FIELD_STR("path", struct read_file_args, path, "the file", .alias = "file_path",
        .flags = FIELD_REQUIRED),
    FIELD_U32("offset", struct read_file_args, offset, "the first line, counted from 0", .def = "0",
        FIELD_RANGE(0, INT32_MAX)),
    FIELD_U32("limit", struct read_file_args, limit, "maximum number of lines", .def = "400",
        FIELD_RANGE(1, 100000)),
    FIELD_ENUM("mode", struct read_file_args, mode, mode_names,
        "slice: lines unchanged; indentation: each preceded by its depth", .def = "\"slice\""),
};

static const struct shape shape =
    SHAPE("read_file", struct read_file_args, fields, "arguments of read_file");

/* Stack of open indentations, for the nesting depth of lines. */
struct read_file_depth {
    size_t columns[LEVELS_MAX];
    size_t n;
};

struct read_file_reader {
    const struct read_file_args *args;
    struct tool_result *result;
    int fd;
    struct buf chunk; /* data read but not processed yet */
    size_t at;        /* offset in the chunk */
    uint64_t read;
    bool ended, failed;
    uint64_t line; /* number of the next line */
    uint64_t shown;
    bool full;       /* the output limits are reached */
    size_t replaced; /* invalid UTF-8 sequences that were replaced */
    size_t cut_lines;
    struct read_file_depth depth;
};

static void read_file_fill(struct read_file_reader *r)
{
    buf_reset(&r->chunk);
    r->at = 0;
    char *room = buf_reserve(&r->chunk, CHUNK);
    BUG_ON(!room);
    ssize_t n;
    do {
        n = read(r->fd, room, CHUNK);
    } while (n < 0 && errno == EINTR);
    r->failed = n < 0;
    r->ended = n <= 0;
    if (n > 0) {
        buf_grown(&r->chunk, (size_t)n);
        r->read += (size_t)n;
    }
}

/* Returns the next piece of a line; false at the end of the file. */
static bool next_piece(struct read_file_reader *r, struct str *ret_piece, bool *ret_line_ends)
{
    if (r->at == r->chunk.n && !r->ended)
        read_file_fill(r);
    if (r->at == r->chunk.n)
        return false;
    struct str rest = str_skip(buf_str(&r->chunk), r->at);
    const char *newline = memchr(rest.p, '\n', rest.n);
    *ret_line_ends = newline != NULL;
    *ret_piece = str_head(rest, newline ? (size_t)(newline - rest.p) : rest.n);
    r->at += ret_piece->n + (newline ? 1 : 0);
    return true;
}

static size_t indentation(struct str line)
{
    size_t columns = 0;
    for (size_t i = 0; i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'); i++)
        columns = line.p[i] == '\t' ? (columns / 8 + 1) * 8 : columns + 1;
    return columns;
}

static bool read_file_is_blank(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!strchr(" \t\r", line.p[i]))
            return false;
    return true;
}

/* A line that is indented more than the one before is one level deeper. */
static size_t depth_of(struct read_file_depth *d, struct str line)
{
    size_t columns = indentation(line);
    if (!read_file_is_blank(line)) {
        while (d->n && d->columns[d->n - 1] >= columns)
            d->n--;
        if (columns && d->n < LEVELS_MAX)
            d->columns[d->n++] = columns;
    }
    return d->n;
}

/* Appends at most LINE_CHARS characters; replaces invalid UTF-8. */
static void read_file_add_line(
    struct read_file_reader *r, struct str line, bool whole, struct buf *out)
{
    AUTO_BUF struct buf text = BUF_INIT(8 * CHUNK);
    r->replaced += utf8_add_lossy(&text, line);
    size_t end = 0, chars = 0;
    while (end < text.n && chars < LINE_CHARS) {
        uint32_t c;
        end += utf8_decode(str_skip(buf_str(&text), end), &c);
        chars++;
    }
    buf_add_str(out, str_head(buf_str(&text), end));
    if (end < text.n || !whole) {
        buf_add_z(out, "… [truncated line]");
        r->cut_lines++;
    }
}

/* Shows one line of the slice if it fits. */
static void read_file_print_line(struct read_file_reader *r, struct str line, bool whole)
{
    AUTO_BUF struct buf text = BUF_INIT(8 * CHUNK);
    if (r->args->mode == MODE_INDENTATION)
        buf_printf(&text, "%zu\t", depth_of(&r->depth, line));
    read_file_add_line(r, line, whole, &text);
    buf_add_byte(&text, '\n');
    struct buf *content = &r->result->content;
    if (r->shown == LIMIT_LINES || content->n + text.n > LIMIT_BYTES) {
        r->full = true;
        return;
    }
    buf_add_str(content, buf_str(&text));
    r->shown++;
}

/* Shows the lines of the slice, then only counts the rest. */
static void read_file_lines(struct read_file_reader *r)
{
    AUTO_BUF struct buf line = BUF_INIT(2 * CHUNK);
    struct str piece;
    bool ends = false, open = false, whole = true;
    uint64_t last = (uint64_t)r->args->offset + r->args->limit, done_at = 0;
    while (r->read < READ_MAX && next_piece(r, &piece, &ends)) {
        bool wanted = r->line >= r->args->offset && r->line < last && !r->full;
        open = true;
        if (wanted || (r->args->mode == MODE_INDENTATION && r->line < last)) {
            whole &= line.n + piece.n <= CHUNK;
            buf_add_str(&line, str_head(piece, CHUNK - MIN(line.n, (size_t)CHUNK)));
        } else if (done_at == 0 && r->line >= r->args->offset) {
            done_at = r->read;
        } else if (done_at && r->read - done_at > COUNT_MAX) {
            return;
        }
        if (!ends)
            continue;
        if (wanted)
            read_file_print_line(r, buf_str(&line), whole);
        else if (r->args->mode == MODE_INDENTATION && line.n)
            depth_of(&r->depth, buf_str(&line));
        buf_reset(&line);
        open = false;
        whole = true;
        r->line++;
    }
    if (open) {
        if (r->line >= r->args->offset && r->line < last && !r->full)
            read_file_print_line(r, buf_str(&line), whole);
        r->line++;
    }
}

static void read_file_report(struct read_file_reader *r)
{
    struct tool_result *result = r->result;
    uint64_t next = r->args->offset + r->shown;
    bool all = r->ended && r->at == r->chunk.n;
    tool_detail(result, "offset", json_integer(r->args->offset));
    tool_detail(result, "lines", json_integer((json_int_t)r->shown));
    if (all)
        tool_detail(result, "total_lines", json_integer((json_int_t)r->line));
    if (r->replaced)
        tool_warns(result, "the file is not UTF-8: %zu parts are shown as U+FFFD", r->replaced);
    if (r->cut_lines)
        tool_warns(result, "%zu lines are longer than %d characters and were cut", r->cut_lines,
            LINE_CHARS);
    result->truncated |= r->cut_lines > 0 || r->full;
    if (next < r->line || !all)
        tool_detail(result, "next_offset", json_integer((json_int_t)next));
    if (r->full) /* more was requested than is shown; lines not requested are not counted as omitted
                  */
        buf_printf(&result->content, "[truncated] %s%llu more lines; continue with offset %llu\n",
            all ? "" : "at least ", (unsigned long long)(r->line - next), (unsigned long long)next);
    if (r->shown == 0 && r->line == 0)
        buf_add_z(&result->content, "(the file is empty)\n");
    else if (r->shown == 0 && !r->full)
        buf_printf(
            &result->content, "(the file has only %llu lines)\n", (unsigned long long)r->line);
    tool_says(result, "%llu lines from line %u", (unsigned long long)r->shown, r->args->offset);
}

static bool read_open(struct read_file_reader *r, struct str name, struct err *err)
{
    read_file_fill(r);
    if (memchr(buf_z(&r->chunk), '\0', MIN(r->chunk.n, (size_t)SNIFF)))
        return err_set(err, E_TOOL_VALIDATION,
            "'" STR_FMT
            "' is a binary file: it has NUL bytes; use a command such as file or xxd to "
            "inspect it",
            STR_ARG(name));
    read_file_lines(r);
    if (r->failed)
        return err_errno(err, E_IO, errno, "cannot read '" STR_FMT "'", STR_ARG(name));
    read_file_report(r);
    return true;
}

static bool read_file_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    const struct read_file_args *args = arguments;
    struct resolved where;
    struct stat st;
    if (!toolbox_resolve(box, args->path, false, &result->arena, &where, err) ||
        !tool_looks_twice(box, &tool_read_file, &where, result, err))
        return false;
    AUTO_FD int fd = toolbox_open_file(&where, args->path, &st, err);
    if (fd < 0)
        return false;
    struct read_file_reader r = {
        .args = args, .result = result, .fd = fd, .chunk = BUF_INIT(2 * CHUNK)};
    bool ok = read_open(&r, args->path, err);
    buf_done(&r.chunk);
    return ok;
}

const struct tool tool_read_file = {
    .name = "read_file",
    .alias = "read",
    .about = "Reads lines of a text file. Long files come in parts: the result ends with the "
             "offset to continue with.",
    .args = &shape,
    .example = "{\"path\": \"src/main.c\", \"offset\": 0, \"limit\": 200}",
    .run = read_file_run,
};
