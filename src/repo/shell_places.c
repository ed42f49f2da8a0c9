/* Directories of commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/shell_places.h"

#include "base/buf.h"

#include <limits.h>

static void shell_places_append(struct shell_places *places, struct shell_place *list, size_t *n,
    unsigned bases, struct str text)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i].bases == bases && str_eq(str_n(list[i].text, list[i].n), text))
            return;
    if (*n == SHELL_PLACES_MAX || text.n > SHELL_PLACE_BYTES) {
        places->cut = true;
        return;
    }
    list[*n].n = text.n;
    list[*n].bases = bases;
    if (text.n)
        memcpy(list[*n].text, text.p, text.n);
    ++*n;
}

/* Adds the path of a name in a directory. */
static void shell_places_join(struct buf *path, struct str dir, struct str name)
{
    while (str_starts_with(name, STR("./")))
        name = str_skip(name, 2);
    buf_add_str(path, str_trim_end(dir, '/'));
    if (dir.n)
        buf_add_byte(path, '/');
    buf_add_str(path, name);
}

/* Returns true if a word is looked for in the current directory. */
static bool is_relative(const struct shell_word *w)
{
    return w->bases & WORD_TOP && !(w->text.n && w->text.p[0] == '~');
}

void shell_places_add_dir(struct shell_places *places, const struct shell_word *dir)
{
    size_t before = places->n_dirs;
    struct str text = dir->text.n > 1 ? str_trim_end(dir->text, '/') : dir->text;
    shell_places_append(places, places->dirs, &places->n_dirs, dir->bases, text);
    for (size_t i = 0; is_relative(dir) && i < before; i++) {
        AUTO_BUF struct buf path = BUF_INIT(2 * PATH_MAX);
        shell_places_join(&path, str_n(places->dirs[i].text, places->dirs[i].n), text);
        shell_places_append(
            places, places->dirs, &places->n_dirs, places->dirs[i].bases, buf_str(&path));
    }
}

void shell_places_add_path(struct shell_places *places, const struct shell_word *dir)
{
    shell_places_append(places, places->path, &places->n_path, dir->bases, dir->text);
}

/* Returns false after too many visits, which is a cut. */
static bool shell_places_may(struct shell_places *places)
{
    bool may = places->n_visits < SHELL_PLACES_VISITS;
    places->cut |= !may;
    return may;
}

static void visit_one(struct shell_places *places, const struct shell_word *word,
    shell_words_fn *visit, void *context)
{
    bool fits = shell_places_may(places) && word->text.n < PATH_MAX;
    places->cut |= !fits;
    places->n_visits += fits;
    if (fits)
        visit(context, word);
}

void shell_places_visit(struct shell_places *places, const struct shell_word *word,
    shell_words_fn *visit, void *context)
{
    visit_one(places, word, visit, context);
    for (size_t i = 0; is_relative(word) && i < places->n_dirs && shell_places_may(places); i++) {
        AUTO_BUF struct buf path = BUF_INIT(2 * PATH_MAX);
        struct shell_word w = *word;
        shell_places_join(&path, str_n(places->dirs[i].text, places->dirs[i].n), word->text);
        w.text = buf_str(&path);
        w.bases = places->dirs[i].bases;
        visit_one(places, &w, visit, context);
    }
}

void shell_places_visit_program(
    struct shell_places *places, struct str name, shell_words_fn *visit, void *context)
{
    for (size_t i = 0; i < places->n_path && shell_places_may(places); i++) {
        AUTO_BUF struct buf path = BUF_INIT(2 * PATH_MAX);
        shell_places_join(&path, str_n(places->path[i].text, places->path[i].n), name);
        struct shell_word w = {.text = buf_str(&path), .bases = places->path[i].bases};
        shell_places_visit(places, &w, visit, context);
    }
}
