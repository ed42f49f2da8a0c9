/* Private to src/repo: directories in which the words of a command may be files. A `cd` may be
 * conditional or in a subshell, so that a word after it is tried in each directory so far.
 *
 *     shell_places_add_dir(&places, &dir);                        cd t
 *     shell_places_visit(&places, &word, visit, context);         ./a: ./a, t/a
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_SHELL_PLACES_H
#define REPO_SHELL_PLACES_H

#include "repo/shell_words.h"

enum {
    SHELL_PLACES_MAX = 8,
    SHELL_PLACE_BYTES = 512,
    SHELL_PLACES_VISITS = 20 * 1000, /* of one line */
};

struct shell_place {
    char text[SHELL_PLACE_BYTES];
    size_t n;
    unsigned bases; /* enum word_base */
};

struct shell_places {
    struct shell_place dirs[SHELL_PLACES_MAX], path[SHELL_PLACES_MAX];
    size_t n_dirs, n_path, n_visits;
    bool cut; /* one did not fit */
};

void shell_places_add_dir(struct shell_places *places, const struct shell_word *dir);
void shell_places_add_path(struct shell_places *places, const struct shell_word *dir);

/* Visits a word, and the same in each directory of a `cd`. */
void shell_places_visit(struct shell_places *places, const struct shell_word *word,
    shell_words_fn *visit, void *context);

/* Visits a program without a slash in the directories of PATH. */
void shell_places_visit_program(
    struct shell_places *places, struct str name, shell_words_fn *visit, void *context);

#endif
