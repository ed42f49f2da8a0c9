/* Creates a box from options as users give them, and starts its agent: for commands and servers.
 *
 *     AUTO(box_create_done) struct box_create c = BOX_CREATE_INIT(arena, &options);
 *     if (!box_create_make(&c, err) || !box_create_start(&c, start, err)) return false;
 *     json_t *object = box_create_json(&c);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXES_BOX_CREATE_H
#define BOXES_BOX_CREATE_H

#include "base/json.h"
#include "base/notice.h"
#include "box/new.h"
#include "boxd/start.h"

struct box_create_words {
    const char *const *v;
    size_t n;
};

/* The options of `cordon box new`; NULL and 0 mean the default. */
struct box_create_options {
    const char *name, *dir; /* DIR[:copy|:overlay|:rw][:force] */
    const char *agent, *model, *prompt, *prompt_file, *network, *memory, *cpus, *disk;
    struct box_create_words dirs, hosts, ports, args;
    int64_t processes, cpu;
    bool include_ignored, ack_inexact, replace, abandon, start;
    bool yes; /* include uncommitted changes without asking */
    struct notices warnings;
    /* Ask the user; return false with an error to stop. agree_dirty() NULL: E_APPROVAL_REQUIRED.
     * agree_replace() NULL: the options are enough. */
    bool (*agree_dirty)(void *context, const char *question, struct err *err);
    bool (*agree_replace)(void *context, bool running, struct err *err);
    void *context;
};

/* Must not be moved. */
struct box_create {
    struct arena *arena;
    const struct box_create_options *o;
    struct boxes boxes;
    struct agent_rows rows;
    const struct box_agent *agent;
    struct dirs_host host;
    struct box old; /* the box being replaced */
    int hold;       /* lock that keeps the old box from running */
    struct dirarg *dirargs;
    struct box_dir *dirs; /* the project, then the additional directories */
    size_t n_dirs;
    struct new_input in;
    struct new_report report;
    struct str_list gaps; /* limits that are weaker than requested; after the start */
};

#define BOX_CREATE_INIT(the_arena, the_options) \
    ((struct box_create){.arena = (the_arena),  \
        .o = (the_options),                     \
        .boxes = BOXES_NONE,                    \
        .old = BOX_NONE,                        \
        .hold = -1,                             \
        .report = NEW_REPORT_INIT})

MUST_USE bool box_create_make(struct box_create *c, struct err *err);
/* Starts the agent if requested; `start` needs no box. */
MUST_USE bool box_create_start(struct box_create *c, struct start_options start, struct err *err);
void box_create_done(struct box_create *c);

/* The result of `cordon box new --json`, a new object. */
MUST_USE json_t *box_create_json(const struct box_create *c);

#endif
