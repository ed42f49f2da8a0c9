/* Parser for git's configuration: one pass over the bytes, with one byte of lookahead (for CR
 * LF). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitconfig.h"

#include "base/grow.h"

struct gitconfig_reader {
    struct str in;
    size_t at;
    struct arena *arena;
    struct buf stem;                /* the header: "section", "section.sub" */
    struct str section, subsection; /* of the stem, in the arena; p NULL: not set yet */
    struct buf name, value;
    struct gitconfig_entry *entries;
    size_t n, room;
};

/* As in git, independent of the locale. */
static bool is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool gitconfig_is_key_byte(int c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static char gitconfig_lower(int c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* CR LF is a line break, and so is the end of the text. */
static int gitconfig_next_byte(struct gitconfig_reader *r)
{
    if (r->at == r->in.n)
        return '\n';
    int c = (unsigned char)r->in.p[r->at++];
    if (c == '\r' && r->at < r->in.n && r->in.p[r->at] == '\n')
        c = r->in.p[r->at++];
    return c;
}

static bool gitconfig_copy(struct gitconfig_reader *r, struct str s, struct str *ret_copy)
{
    if (arena_left(r->arena) < s.n + 1)
        return false;
    *ret_copy = arena_str(r->arena, s);
    return true;
}

/* Headers ----------------------------------------------------------------------------------------
 */

/* Reads the quoted part, starting at the blank before it. Any byte may be escaped. */
static bool read_subsection(struct gitconfig_reader *r, int c)
{
    for (; is_space(c); c = gitconfig_next_byte(r))
        if (c == '\n')
            return false;
    if (c != '"')
        return false;
    buf_add_byte(&r->stem, '.');
    while ((c = gitconfig_next_byte(r)) != '"') {
        if (c == '\\')
            c = gitconfig_next_byte(r);
        if (c == '\n')
            return false;
        buf_add_byte(&r->stem, (char)c);
    }
    return gitconfig_next_byte(r) == ']';
}

/* Reads after the '['. */
static bool gitconfig_read_header(struct gitconfig_reader *r)
{
    buf_reset(&r->stem);
    r->section = r->subsection = (struct str){0};
    for (;;) {
        int c = gitconfig_next_byte(r);
        if (c == ']')
            return r->stem.n > 0;
        if (is_space(c))
            return read_subsection(r, c);
        if (!gitconfig_is_key_byte(c) && c != '.')
            return false;
        buf_add_byte(&r->stem, gitconfig_lower(c));
    }
}

/* Keeps the header's parts for the entries below it: the section ends at the first dot. */
static bool keep_header(struct gitconfig_reader *r)
{
    struct str stem = buf_str(&r->stem);
    ptrdiff_t dot = str_find(stem, '.');
    if (r->section.p)
        return true;
    if (stem.n == 0 || dot == 0)
        return false;
    return gitconfig_copy(r, dot < 0 ? stem : str_head(stem, (size_t)dot), &r->section) &&
           (dot < 0 || gitconfig_copy(r, str_skip(stem, (size_t)dot + 1), &r->subsection));
}

/* Entries ----------------------------------------------------------------------------------------
 */

/* Returns the byte that an escape in a value represents, or -1. */
static int gitconfig_unescape(int c)
{
    switch (c) {
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'n':
        return '\n';
    case '\\':
    case '"':
        return c;
    default:
        return -1;
    }
}

/* Reads after a backslash; a line break there only continues the value. */
static bool read_escape(struct gitconfig_reader *r)
{
    int c = gitconfig_next_byte(r);
    if (c == '\n')
        return true;
    c = gitconfig_unescape(c);
    if (c < 0)
        return false;
    buf_add_byte(&r->value, (char)c);
    return true;
}

/* Reads after the '='. Blanks count only between other bytes. */
static bool gitconfig_read_value(struct gitconfig_reader *r)
{
    bool is_quoted = false;
    size_t blanks = 0;
    buf_reset(&r->value);
    for (int c; (c = gitconfig_next_byte(r)) != '\n';) {
        if (!is_quoted && is_space(c)) {
            blanks += r->value.n > 0;
            continue;
        }
        if (!is_quoted && (c == '#' || c == ';')) {
            while (gitconfig_next_byte(r) != '\n')
                ;
            return true;
        }
        for (; blanks; blanks--)
            buf_add_byte(&r->value, ' ');
        if (c == '\\') {
            if (!read_escape(r))
                return false;
        } else if (c == '"') {
            is_quoted = !is_quoted;
        } else {
            buf_add_byte(&r->value, (char)c);
        }
    }
    return !is_quoted;
}

static bool gitconfig_add_entry(struct gitconfig_reader *r, bool has_value)
{
    struct gitconfig_entry entry = {0};
    if (r->n == GITCONFIG_ENTRIES_MAX || !keep_header(r) ||
        !gitconfig_copy(r, buf_str(&r->name), &entry.name) ||
        (has_value && !gitconfig_copy(r, buf_str(&r->value), &entry.value)))
        return false;
    entry.section = r->section;
    entry.subsection = r->subsection;
    GROW(r->entries, r->n, r->room, GITCONFIG_ENTRIES_MAX);
    r->entries[r->n++] = entry;
    return true;
}

/* Reads from the first letter of its name. */
static bool gitconfig_read_entry(struct gitconfig_reader *r, int c)
{
    buf_reset(&r->name);
    for (; gitconfig_is_key_byte(c); c = gitconfig_next_byte(r))
        buf_add_byte(&r->name, gitconfig_lower(c));
    while (c == ' ' || c == '\t')
        c = gitconfig_next_byte(r);
    if (c == '\n')
        return gitconfig_add_entry(r, false);
    return c == '=' && gitconfig_read_value(r) && gitconfig_add_entry(r, true);
}

/* The text ----------------------------------------------------------------------------------------
 */

/* Skips a byte order mark at the start; an incomplete one is refused because it is not a letter. */
static void gitconfig_skip_bom(struct gitconfig_reader *r)
{
    if (str_starts_with(r->in, STR("\xef\xbb\xbf")))
        r->at = 3;
}

static bool gitconfig_read_text(struct gitconfig_reader *r)
{
    bool is_comment = false;
    gitconfig_skip_bom(r);
    while (r->at < r->in.n) {
        int c = gitconfig_next_byte(r);
        if (c == '\n')
            is_comment = false;
        if (is_comment || is_space(c))
            continue;
        if (c == '#' || c == ';')
            is_comment = true;
        else if (c == '[' ? !gitconfig_read_header(r)
                          : !is_letter(c) || !gitconfig_read_entry(r, c))
            return false;
    }
    return true;
}

static bool keep_entries(const struct gitconfig_reader *r, struct gitconfig *ret_config)
{
    size_t bytes = r->n * sizeof(*r->entries);
    if (arena_left(r->arena) < bytes)
        return false;
    *ret_config = (struct gitconfig){arena_alloc(r->arena, bytes), r->n};
    if (r->n)
        memcpy(ret_config->p, r->entries, bytes);
    return true;
}

bool gitconfig_parse(struct str text, struct arena *a, struct gitconfig *ret_config)
{
    if (text.n > GITCONFIG_BYTES_MAX || str_find(text, '\0') >= 0)
        return false;
    struct gitconfig_reader r = {.in = text, .arena = a};
    r.stem = r.name = r.value = BUF_INIT((size_t)GITCONFIG_BYTES_MAX + 1);
    bool ok = gitconfig_read_text(&r) && keep_entries(&r, ret_config);
    BUG_ON(!buf_ok(&r.stem) || !buf_ok(&r.name) || !buf_ok(&r.value));
    buf_done(&r.stem);
    buf_done(&r.name);
    buf_done(&r.value);
    free(r.entries);
    return ok;
}

/* Writing ----------------------------------------------------------------------------------------
 */

static bool all_key_bytes(struct str s)
{
    size_t i = 0;
    while (i < s.n && gitconfig_is_key_byte((unsigned char)s.p[i]))
        i++;
    return s.n > 0 && i == s.n;
}

static bool gitconfig_can_write(const struct gitconfig_entry *e)
{
    return all_key_bytes(e->section) && all_key_bytes(e->name) &&
           is_letter((unsigned char)e->name.p[0]) && str_find(e->subsection, '\n') < 0 &&
           str_find(e->subsection, '\0') < 0 && str_find(e->value, '\0') < 0;
}

static void gitconfig_write_header(const struct gitconfig_entry *e, struct buf *out)
{
    buf_add_byte(out, '[');
    buf_add_str(out, e->section);
    if (e->subsection.p) {
        buf_add_z(out, " \"");
        for (size_t i = 0; i < e->subsection.n; i++) {
            char c = e->subsection.p[i];
            if (c == '"' || c == '\\')
                buf_add_byte(out, '\\');
            buf_add_byte(out, c);
        }
        buf_add_byte(out, '"');
    }
    buf_add_z(out, "]\n");
}

static bool gitconfig_needs_quotes(struct str value)
{
    if (value.n && (value.p[0] == ' ' || value.p[value.n - 1] == ' '))
        return true;
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if (c < ' ' || strchr("#;\"\\", c))
            return true;
    }
    return false;
}

static void write_quoted(struct str value, struct buf *out)
{
    buf_add_byte(out, '"');
    for (size_t i = 0; i < value.n; i++) {
        static const char plain[] = "\n\t\b\"\\", escaped[] = "ntb\"\\";
        char c = value.p[i];
        const char *at = strchr(plain, c);
        if (at) {
            buf_add_byte(out, '\\');
            c = escaped[at - plain];
        }
        buf_add_byte(out, c);
    }
    buf_add_byte(out, '"');
}

static bool same_header(const struct gitconfig_entry *a, const struct gitconfig_entry *b)
{
    return str_eq(a->section, b->section) && !a->subsection.p == !b->subsection.p &&
           str_eq(a->subsection, b->subsection);
}

static void gitconfig_write_entry(const struct gitconfig_entry *e, struct buf *out)
{
    buf_add_byte(out, '\t');
    buf_add_str(out, e->name);
    if (e->value.p) {
        buf_add_z(out, " = ");
        if (gitconfig_needs_quotes(e->value))
            write_quoted(e->value, out);
        else
            buf_add_str(out, e->value);
    }
    buf_add_byte(out, '\n');
}

void gitconfig_write(const struct gitconfig_entry *entries, size_t n, struct buf *out)
{
    const struct gitconfig_entry *last = NULL;
    if (out->n && out->p[out->n - 1] != '\n')
        buf_add_byte(out, '\n');
    for (size_t i = 0; i < n; i++) {
        if (!gitconfig_can_write(&entries[i])) {
            out->overflow = true;
            continue;
        }
        if (!last || !same_header(last, &entries[i]))
            gitconfig_write_header(&entries[i], out);
        gitconfig_write_entry(&entries[i], out);
        last = &entries[i];
    }
}
