/* Build information, filled in by Meson when a build directory is configured. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DOCTOR_BUILD_INFO_H
#define DOCTOR_BUILD_INFO_H

#include "base/base.h"

struct build_library {
    const char *name;
    const char *version;
    bool is_static; /* linked statically; otherwise loaded at startup */
};

struct build_info {
    const char *commit; /* "unknown": built outside a repository */
    const char *compiler;
    const char *architecture;
    const char *type;                      /* Meson's buildtype */
    const struct build_library *libraries; /* linked libraries */
    size_t n_libraries;
};

extern const struct build_info build_info;

#endif
