/* Reports held files and warnings to people and models. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "path/exact.h"
#include "repo/autorun.h"
#include "repo/known.h"
#include "repo/watched.h"

#include <limits.h>

enum {
    WARNINGS_MAX = 1 << 19, /* bytes of all warnings */
};

void known_warn(struct protect *p, const char *format, ...)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * PATH_MAX), line = BUF_INIT(16 * PATH_MAX);
    va_list args;
    if (p->n_warnings == PROTECT_WARNINGS_MAX)
        return;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    utf8_add_printable(&line, buf_str(&text));
    p->warnings[p->n_warnings++] = arena_str(&p->arena, buf_str(&line));
}

static void protect_print_mount(const struct protect_root *r, struct str path, struct buf *text)
{
    utf8_add_printable(text, r->path);
    buf_add_byte(text, '/');
    utf8_add_printable(text, path);
    buf_add_z(text, " was mounted while a command ran: repositories in it were not searched\n");
}

static void protect_print_mounts(const struct protect *p, struct buf *text)
{
    for (size_t i = 0; i < p->n_roots; i++)
        for (size_t k = 0; k < p->roots[i].scan.n_foreign; k++)
            protect_print_mount(&p->roots[i], p->roots[i].scan.foreign[k], text);
}

/* `unnamed`: number of held files without a line. */
static void protect_print_warnings(const struct protect *p, size_t unnamed, struct buf *text)
{
    if (unnamed)
        buf_printf(text,
            "%zu more files, which are not listed, were set aside or could not be set aside: look "
            "for " PARTS_HELD " in the repositories\n",
            unnamed);
    if (p->cut)
        buf_add_z(text, "not all directories could be searched for repositories\n");
    if (p->names_cut)
        buf_add_z(text,
            "not all files that git's settings name could be protected: the settings name too "
            "many files, are too large or cannot be read\n");
    for (size_t i = 0; i < p->n_warnings; i++)
        buf_printf(text, STR_FMT "\n", STR_ARG(p->warnings[i]));
    protect_print_mounts(p, text);
    watch_print(p, text);
    autorun_print(p, text);
    if (p->unkept)
        buf_printf(text,
            "cannot store the state of the repositories in %s: %s; if cordon is killed, "
            "changes that the command made to them are not detected later: set CORDON_HOME to "
            "a directory of your own\n",
            p->options.sessions, p->unkept);
}

/* Paths are bytes that a command may have chosen. */
static void protect_print_held(const struct protect_held *h, struct buf *text)
{
    buf_add_z(text, "[set aside] ");
    utf8_add_printable(text, h->path);
    buf_add_z(text, " (");
    utf8_add_printable(text, h->what);
    buf_add_z(text, known_is_stuck(h) ? ") could not be moved: " : ") is now ");
    if (known_is_stuck(h))
        utf8_add_printable(text, h->why.n ? h->why : str_z(strerror(h->errnum)));
    else
        utf8_add_printable(text, h->where);
    buf_add_z(text, known_is_stuck(h) ? "\n" : "; the user can restore it: cordon trust FILE\n");
}

/* Leaves part of the buffer for warnings and for text that is already there. Returns how many did
 * not fit. */
static size_t protect_print_some(const struct protect *p, bool stuck, struct buf *text)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_held; i++) {
        if (known_is_stuck(&p->held[i]) != stuck)
            continue;
        if (text->n < text->max / 4)
            protect_print_held(&p->held[i], text);
        else
            n++;
    }
    return n;
}

void protect_print(const struct protect *p, struct buf *text)
{
    AUTO_BUF struct buf warnings = BUF_INIT(WARNINGS_MAX);
    struct str line, rest;
    size_t n = protect_print_some(p, true, text);
    n += protect_print_some(p, false, text);
    protect_print_warnings(p, n + p->n_unnamed, &warnings);
    rest = buf_str(&warnings);
    while (str_cut(rest, '\n', &line, &rest))
        buf_printf(text, PROTECT_WARNING STR_FMT "\n", STR_ARG(line));
}

static json_t *protect_held_json(const struct protect *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_held; i++) {
        json_t *item = json_object();
        exact_put(item, "path", p->held[i].path);
        if (p->held[i].where.p)
            exact_put(item, "held", p->held[i].where);
        json_put(item, "what", json_text(p->held[i].what));
        json_push(list, item);
    }
    return list;
}

void protect_add_json(const struct protect *p, json_t *object)
{
    AUTO_BUF struct buf warnings = BUF_INIT(WARNINGS_MAX);
    struct str line, rest;
    if (p->n_held)
        json_put(object, "held", protect_held_json(p));
    protect_print_warnings(p, p->n_unnamed, &warnings);
    rest = buf_str(&warnings);
    if (rest.n && !json_object_get(object, "warnings"))
        json_put(object, "warnings", json_array());
    while (str_cut(rest, '\n', &line, &rest))
        json_push(json_object_get(object, "warnings"), json_text(line));
}
