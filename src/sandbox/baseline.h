/* The parts of the machine that every sandbox shows, whatever the policy: libraries, shared data, a
 * few files of /etc. Collected for each run, since packages are installed and removed.
 *
 *     struct baseline base;
 *     baseline_collect(&arena, &base);
 *     if (!baseline_add_interpreter(&base, &arena, "/usr/bin/make", err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_BASELINE_H
#define SANDBOX_BASELINE_H

#include "base/arena.h"
#include "base/err.h"
#include "sandbox/elf.h"

#include <sys/types.h>

struct baseline_dir {
    struct str path; /* resolved: without symlinks */
    dev_t dev;
    ino_t ino;
    bool libraries; /* may be mapped as code */
};

struct baseline_link {
    struct str path, target;
};

/* A file that is copied: small, and read when the baseline is collected. */
struct baseline_file {
    struct str path, bytes;
};

/* A dynamic loader, with the patch that keeps it from being executed directly. */
struct baseline_loader {
    struct str path; /* without symlinks */
    dev_t dev;
    ino_t ino;
    struct elf_patch patch;
};

enum {
    BASELINE_MAX = 64, /* of each kind */
};

struct baseline {
    struct baseline_dir dirs[BASELINE_MAX];
    size_t n_dirs;
    struct baseline_link links[BASELINE_MAX];
    size_t n_links;
    struct baseline_file files[BASELINE_MAX];
    size_t n_files;
    struct baseline_loader loaders[BASELINE_MAX];
    size_t n_loaders;
};

/* Collects the baseline without loaders: they depend on the allowed programs. Missing paths are
 * left out. */
void baseline_collect(struct arena *arena, struct baseline *ret_base);

/* Changes the copied files of /etc to the host name inside and, if it has a value, the user's home
 * directory inside. */
void baseline_fit_etc(struct baseline *base, struct arena *arena, struct str home);

/* Adds the loader that this program names, if the baseline shows it; or all loaders that programs
 * of this machine usually name. A loader that can't be made safe is an error. */
MUST_USE bool baseline_add_interpreter(
    struct baseline *base, struct arena *arena, const char *program, struct err *err);
MUST_USE bool baseline_add_loaders(struct baseline *base, struct arena *arena, struct err *err);

/* Whether a sandbox shows an absolute, clean path for reading if it exists. Pure. */
bool baseline_shows(struct str path);

#endif
