/* Making a box.
 *
 *     AUTO(new_report_done) struct new_report report = NEW_REPORT_INIT;
 *     if (!new_make(&boxes, &input, &report, err)) return false;
 *
 * The caller holds the name's lock. The box is there whole when it returns, or not at all, and with
 * `replace` the old one until then. Nothing is started.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_NEW_H
#define BOX_NEW_H

#include "box/box.h"
#include "box/copy.h"
#include "box/dirs.h"
#include "box/dirty.h"

struct new_input {
    struct box_meta meta;   /* all but what is found out: version, time, commit */
    struct box_setup setup; /* all but the layering */
    struct str prompt;      /* no value: none */
    const struct box_agent *agent;
    const struct box_dir *project; /* as dirs_check() gave it */
    const char *state;             /* $CORDON_HOME: left out of a copy */
    bool replace;
    bool ask_git; /* whether there is uncommitted work; otherwise only the commit's name */
    /* Told what git said, before anything is kept: false ends it. */
    bool (*go_on)(void *context, const struct dirty *dirty, struct err *err);
    /* The box is whole, and takes its name now: what has that must not run. May be NULL. */
    bool (*make_way)(void *context, struct err *err);
    void *context;
};

struct new_report {
    struct copy_report copied;
    enum box_layering layering;
    struct buf why; /* no overlay; otherwise empty */
};

#define NEW_REPORT_INIT \
    ((struct new_report){.copied = COPY_REPORT_INIT, .why = BUF_INIT(64 * 1024)})
void new_report_done(struct new_report *report);

MUST_USE bool new_make(const struct boxes *boxes, const struct new_input *input,
    struct new_report *report, struct err *err);

#endif
