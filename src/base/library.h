/* Functions of a library that few commands need. The static program links them; elsewhere the
 * library is loaded at run time, so that other commands don't pay for it.
 *
 *     struct md4c { __typeof__(md_parse) *parse; };
 *     static const struct library md4c = LIBRARY(names, calls);
 *     const char *missing = library_load(&md4c, &loaded);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include "base/base.h"

typedef void library_fn(void);

struct library_call {
    const char *name;
    size_t at;          /* offset of the member in the caller's struct */
    library_fn *linked; /* NULL: load it at run time */
};

struct library {
    const char *const *names; /* file names of the library, the preferred one first */
    size_t n_names;
    const struct library_call *calls;
    size_t n_calls;
};

#define LIBRARY(files, rows)                                                                       \
    {                                                                                              \
        .names = (files), .n_names = ARRAY_LEN(files), .calls = (rows), .n_calls = ARRAY_LEN(rows) \
    }

#ifdef CORDON_STATIC
#define LIBRARY_CALL(type, member, function)                        \
    {                                                               \
#function, offsetof(type, member), (library_fn *)(function) \
    }
#else
#define LIBRARY_CALL(type, member, function)    \
    {                                           \
#function, offsetof(type, member), NULL \
    }
#endif

/* Fills the struct of functions. Returns NULL, or the name of what is missing: names[0] if it is
 * the library itself, otherwise a function. */
const char *library_load(const struct library *l, void *ret_calls);

#endif
