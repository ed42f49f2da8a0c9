/* A box, opened: what it was made with, and where its parts are.
 *
 *     AUTO(box_close) struct box box = BOX_NONE;
 *     if (!box_open(&boxes, STR("fix-login"), &users, &arena, &box, err)) return false;
 *
 * Beside meta.json (the seed's schema alone) everything the host keeps of a box is in `host/`:
 *
 *     setup.json   what `new` was told and meta.json has no key for (struct box_setup)
 *     prompt       the prompt, as it was given
 *     state.json   what became of the last run (box/state.h)
 *     running      the lock of whoever runs the box (box/state.h)
 *     socket       where its supervisor listens (box/client.h)
 *     manifest     the baseline of an `:overlay` box, or of a second copy
 *     same         files of a copy's upper layer that were applied, and so are as in the baseline
 *     runs/<n>/    the recording of each run: artifacts, as `cordon trace` reads them
 *     refused.jsonl what the network refused (box/proxy.h)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_BOX_H
#define BOX_BOX_H

#include "box/layout.h"
#include "box/manifest.h"
#include "box/meta.h"
#include "box/rows.h"

/* How the box's changes are kept apart from its baseline. */
enum box_layering {
    BOX_LAYERS_OVERLAY,
    BOX_LAYERS_SECOND_COPY, /* where no overlay can be mounted: work/<caret>/tree */
    BOX_LAYERS_NONE,        /* `:rw`: there is nothing between */
};

struct box_extra {
    struct str path; /* absolute, resolved */
    bool writable;
    struct str encoded; /* the path if it is not UTF-8, see path/caret.h; set by box_save_setup() */
};

/* 0: no limit of ours. */
struct box_limits {
    uint64_t memory_bytes;
    uint64_t processes;
    uint64_t cpu_seconds; /* of each process */
    uint64_t cpu_millis;  /* thousandths of a CPU, at one time */
    uint64_t disk_bytes;  /* of the upper layer and home */
};

struct box_setup {
    enum box_layering layering;
    struct box_extra *extras;
    size_t n_extras;
    struct str_list hosts; /* --allow-host */
    struct str_list args;  /* for the agent */
    struct box_limits limits;
    bool inexact_limits; /* the user agreed to them */
    bool include_ignored;
};

extern const struct shape box_setup_shape;
extern const char *const box_layering_names[];

struct box {
    struct str name;
    int fd;          /* its directory */
    int host;        /* its host/ */
    struct str path; /* of the directory, absolute, without links, NUL-terminated */
    struct box_meta meta;
    struct box_setup setup;
    const struct box_agent *agent;
};

#define BOX_NONE ((struct box){.fd = -1, .host = -1})

/* E_NOT_FOUND: no such box, or its agent's row is gone. What it points to is in the arena. */
MUST_USE bool box_open(const struct boxes *boxes, struct str name, const struct agent_rows *users,
    struct arena *arena, struct box *ret_box, struct err *err);
void box_close(struct box *box);

MUST_USE bool box_save_setup(int host_fd, const struct box_setup *setup, struct err *err);

/* What its network is, with the default worked out: never BOX_NETWORK_DEFAULT. The hosts are those
 * of `setup`, or else of the agent's row. */
enum box_network box_network(const struct box *box, struct str_list *ret_hosts);

/* The prompt as it was given; no value without one. */
MUST_USE bool box_prompt(
    const struct box *box, struct arena *arena, struct str *ret_prompt, struct err *err);

/* Parts of the box by their paths: "base", "work" and the like with what is in them of the project.
 * `leaf` may be NULL. NUL-terminated. */
struct str box_part_path(
    const struct box *box, const char *part, const char *leaf, struct arena *arena);

/* The trees that diff and apply compare, opened for reading. baseline is -1 for `:overlay` (the
 * project is it, see the manifest); baseline and upper are -1 for `:rw`. A project that is gone is
 * an error, except for a box with a baseline of its own: then it is -1. */
struct box_trees {
    int project, baseline, upper;
    bool opaque_root; /* upper is a whole copy */
};
#define BOX_TREES_NONE ((struct box_trees){-1, -1, -1, false})
MUST_USE bool box_open_trees(const struct box *box, struct box_trees *ret_trees, struct err *err);
void box_close_trees(struct box_trees *trees);

/* For upper_options.same: what needs not be read again to see that it is no change. Empty where
 * nothing is known. */
#define BOX_SAME "same"
void box_load_same(const struct box_trees *trees, int host_fd, struct manifest *same);

#endif
