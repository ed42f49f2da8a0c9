/* Facts for bug reports: the build, its libraries, the processor and this kernel. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DOCTOR_VERSION_FACTS_H
#define DOCTOR_VERSION_FACTS_H

#include "base/arena.h"
#include "base/json.h"
#include "doctor/build_info.h"
#include "sandbox/machine.h"

enum {
    VERSION_LIBRARIES_MAX = 24,
    VERSION_VECTORS = 2,
};

/* A library: linked statically, loaded at startup, or loaded on demand. */
struct version_library {
    const char *name;
    const char *version; /* NULL: unknown */
    const char *how;     /* "static", "shared", "on demand", "missing" */
    const char *detail;  /* reason if missing */
};

/* Instruction set extension that the program uses if the processor has it. */
struct version_vector {
    const char *name;
    const char *use;
    bool used;
};

struct version_facts {
    const struct build_info *build;
    bool is_static;
    struct version_library libraries[VERSION_LIBRARIES_MAX];
    size_t n_libraries;
    struct version_vector vectors[VERSION_VECTORS];
    const struct machine *machine;
    const char *user_namespaces; /* whether a setting disables them */
    bool has_cgroup2;
    const char *container; /* NULL: none detected */
};

/* Texts are in the arena. Loads the libraries that are loaded on demand. */
void version_facts(struct arena *a, struct version_facts *ret_facts);

/* Returns a new object. */
MUST_USE json_t *version_facts_json(const struct version_facts *f);

#endif
