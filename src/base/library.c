/* Rarely used libraries: linked statically or loaded at run time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

#ifdef CORDON_STATIC

#include "base/later.h"

const char *library_load(const struct library *l, void *ret_calls)
{
    later_relocate();
    for (size_t i = 0; i < l->n_calls; i++)
        memcpy((char *)ret_calls + l->calls[i].at, &l->calls[i].linked, sizeof(library_fn *));
    return NULL;
}

#else

#include <dlfcn.h>

const char *library_load(const struct library *l, void *ret_calls)
{
    void *library = NULL;
    for (size_t i = 0; !library && i < l->n_names; i++)
        library = dlopen(l->names[i], RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return l->names[0];
    for (size_t i = 0; i < l->n_calls; i++) {
        void *call = dlsym(library, l->calls[i].name);
        if (!call)
            return l->calls[i].name;
        memcpy((char *)ret_calls + l->calls[i].at, &call, sizeof(call));
    }
    return NULL;
}

#endif
