/* User-defined key bindings.
 *
 *     struct bindings b = {0};
 *     if (!bind_add(&b, STR("Ctrl+g"), STR("open"), err)) return false;
 *     const char *key = bind_key(&b, "Ctrl+g");          "Ctrl+o": the default key of "open"
 *
 * Each action is identified by its default key throughout the program, so that code that handles
 * keys need not know about bindings.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_BIND_H
#define TUI_BIND_H

#include "base/err.h"
#include "base/str.h"

enum {
    BIND_MAX = 256,
    BIND_BYTES = 32, /* maximum length of a key's encoding */
};

struct bindings {
    struct {
        char id[BIND_BYTES];
        const char *key; /* default key of the action; NULL: none */
    } p[BIND_MAX];
    size_t n;
};

/* Fails with E_CONFIG for an invalid key, one that terminals cannot distinguish from another, one
 * that is already bound, or an unknown action. */
MUST_USE bool bind_add(struct bindings *b, struct str key, struct str action, struct err *err);

/* Default key of the action bound to a key; the key itself if unbound, NULL if bound to "none". */
const char *bind_key(const struct bindings *b, const char *key);

struct bind_action {
    const char *name;
    const char *key;
    const char *help;
};

/* Terminated by a row without a name. */
extern const struct bind_action bind_actions[];

#endif
