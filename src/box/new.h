/* Creates a box.
 *
 *     AUTO(new_report_done) struct new_report report = NEW_REPORT_INIT;
 *     if (!new_make(&boxes, &input, &report, err)) return false;
 *
 * The caller holds the lock of the name. On return the box exists completely or not at all; with
 * `replace` the old one exists until then. Nothing is started.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_NEW_H
#define BOX_NEW_H

#include "box/box.h"
#include "box/box_dirs.h"
#include "box/dirty.h"
#include "change/copy.h"

struct new_input {
    struct box_meta meta;   /* without the fields determined here: version, time, commit */
    struct box_setup setup; /* without the layering */
    struct str prompt;      /* no value: no prompt */
    const struct box_agent *agent;
    const struct box_dir *project; /* from dirs_check() */
    const char *state;             /* $CORDON_HOME: omitted from a copy */
    const char *home;              /* the user's, or NULL */
    bool replace;
    bool ask_git; /* check for uncommitted changes; otherwise only the commit */
    /* Called with git's answer before anything is kept; false aborts. */
    bool (*go_on)(void *context, const struct dirty *dirty, struct err *err);
    /* Called when the box is complete, just before it takes its name: must stop an existing box of
     * that name. May be NULL. */
    bool (*make_way)(void *context, struct err *err);
    void *context;
};

struct new_report {
    struct copy_report copied;
    enum box_layering layering;
    struct buf why;    /* why no overlay is used; otherwise empty */
    struct buf caches; /* caches that are not shared, and why; otherwise empty */
};

#define NEW_REPORT_INIT   \
    ((struct new_report){ \
        .copied = COPY_REPORT_INIT, .why = BUF_INIT(64 * 1024), .caches = BUF_INIT(64 * 1024)})
void new_report_done(struct new_report *report);

MUST_USE bool new_make(const struct boxes *boxes, const struct new_input *input,
    struct new_report *report, struct err *err);

#endif
