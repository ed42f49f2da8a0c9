/* An opened box: its setup and the locations of its parts.
 *
 *     AUTO(box_close) struct box box = BOX_NONE;
 *     if (!box_open(&boxes, STR("fix-login"), &users, &arena, &box, err)) return false;
 *
 * Besides meta.json (which follows the seed's schema only), all host-side data of a box is in
 * `host/`:
 *
 *     setup.json   options of `new` that meta.json has no key for (struct box_setup)
 *     prompt       the prompt, verbatim
 *     state.json   result of the last run (box/state.h)
 *     running      lock held while the box runs (box/state.h)
 *     socket       listening socket of the supervisor (boxd/client.h)
 *     manifest     the baseline of an `:overlay` box (change/manifest.h)
 *     index        git's index of its project at that time (change/former.h)
 *     same         files in a copy's upper layer that were applied, so they match the baseline
 *     runs/<n>/    the recording of each run: artifacts, as `cordon trace` reads them
 *     refused.jsonl requests refused by the network proxy (proxy/proxy.h)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_BOX_H
#define BOX_BOX_H

#include "box/layout.h"
#include "box/meta.h"
#include "box/rows.h"
#include "change/manifest.h"
#include "policy/extra.h"

/* Storage of changes, separate from the baseline. */
enum box_layering {
    BOX_LAYERS_OVERLAY,
    BOX_LAYERS_SECOND_COPY, /* fallback where overlays cannot be mounted: work/<caret>/tree */
    BOX_LAYERS_NONE,        /* `:rw`: changes go directly to the project */
};

struct box_extra {
    struct str path; /* absolute, resolved */
    bool writable;
    struct str encoded; /* caret-encoded if not UTF-8, see path/caret.h; set by box_save_setup() */
};

/* 0: no limit. */
struct box_limits {
    uint64_t memory_bytes;
    uint64_t processes;
    uint64_t cpu_seconds; /* per process */
    uint64_t cpu_millis;  /* thousandths of a CPU */
    uint64_t disk_bytes;  /* upper layer and home together */
};

struct box_setup {
    enum box_layering layering;
    struct box_extra *extras;
    size_t n_extras;
    struct str_list hosts; /* --allow-host */
    struct str_list args;  /* extra arguments for the agent */
    struct box_limits limits;
    struct extra_env env; /* of the user's settings */
    bool inexact_limits;  /* the user accepted inexact limits */
    bool include_ignored;
    struct str_list caches; /* caches of package managers that are shown: box/box_caches.h */
    struct str home;        /* HOME in the box; no value in boxes of version 0.1: the agent's */
};

extern const struct shape box_setup_shape;
extern const char *const box_layering_names[];

struct box {
    struct str name;
    int fd;          /* the box directory */
    int host;        /* its host/ directory */
    struct str path; /* the box directory: absolute, no symlinks, NUL-terminated */
    struct box_meta meta;
    struct box_setup setup;
    const struct box_agent *agent;
};

#define BOX_NONE ((struct box){.fd = -1, .host = -1})

/* E_NOT_FOUND: no such box, or its agent's row is gone. All pointers refer to the arena. */
MUST_USE bool box_open(const struct boxes *boxes, struct str name, const struct agent_rows *users,
    struct arena *arena, struct box *ret_box, struct err *err);
void box_close(struct box *box);

MUST_USE bool box_save_setup(int host_fd, const struct box_setup *setup, struct err *err);

/* Returns the effective network mode, never BOX_NETWORK_DEFAULT. The hosts come from `setup`, or
 * else from the agent's row. */
enum box_network box_network(const struct box *box, struct str_list *ret_hosts);

/* The prompt, verbatim; no value without one. */
MUST_USE bool box_prompt(
    const struct box *box, struct arena *arena, struct str *ret_prompt, struct err *err);

/* HOME in the box. */
struct str box_home(const struct box *box);

/* Path of a part of the box ("base", "work", ...), including the project's caret-encoded name.
 * `leaf` may be NULL. NUL-terminated. */
struct str box_part_path(
    const struct box *box, const char *part, const char *leaf, struct arena *arena);

/* The trees that diff and apply compare, opened for reading. baseline is -1 for `:overlay` (the
 * project is the baseline, see the manifest); baseline and upper are -1 for `:rw`. A missing
 * project is an error, except for `:copy` boxes, which have their own baseline: then project is
 * -1. */
struct box_trees {
    int project, baseline, upper;
    bool opaque_root; /* upper is a complete copy */
};
#define BOX_TREES_NONE ((struct box_trees){-1, -1, -1, false})
MUST_USE bool box_open_trees(const struct box *box, struct box_trees *ret_trees, struct err *err);
void box_close_trees(struct box_trees *trees);

/* For upper_options.same: files known to be unchanged, which need not be read again. Left empty if
 * nothing is known. */
#define BOX_SAME "same"
void box_load_same(const struct box_trees *trees, int host_fd, struct manifest *same);

#endif
