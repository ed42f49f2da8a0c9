/* Keys that the user has given another meaning.
 *
 *     struct bindings b = {0};
 *     if (!bind_add(&b, STR("Ctrl+g"), STR("open"), err)) return false;
 *     const char *key = bind_key(&b, "Ctrl+g");          "Ctrl+o": the key that opens by default
 *
 * Each action has one key by which all of the program knows it, so that whoever takes keys needs to
 * know nothing of bindings.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_BIND_H
#define TUI_BIND_H

#include "base/err.h"
#include "base/str.h"

enum {
    BIND_MAX = 256,
    BIND_BYTES = 32, /* that a key sends */
};

struct bindings {
    struct {
        char id[BIND_BYTES];
        const char *key; /* that it counts as; NULL: none */
    } p[BIND_MAX];
    size_t n;
};

/* E_CONFIG: no key, one that a terminal can't tell from another, a second meaning, no action. */
MUST_USE bool bind_add(struct bindings *b, struct str key, struct str action, struct err *err);

/* What a key counts as; NULL: nothing. */
const char *bind_key(const struct bindings *b, const char *key);

struct bind_action {
    const char *name;
    const char *key;
    const char *help;
};

/* Ends with a row without a name. */
extern const struct bind_action bind_actions[];

#endif
