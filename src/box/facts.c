/* Information about a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/facts.h"

#include "box/box_runs.h"
#include "box/changes.h"
#include "box/toolchains.h"
#include "io/file.h"
#include "path/home.h"
#include "path/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    REFUSED_READ = 1 << 20, /* read at most this much from the end of the file */
    REFUSED_KEPT = 200,
    BLOCK = 512,
};

static void facts_add_problem(struct arena *arena, struct box_facts *f, struct err *err)
{
    if (f->n_problems < FACTS_PROBLEMS_MAX)
        f->problems[f->n_problems++] = arena_strdup(arena, str_z(err->message));
    err_done(err);
}

/* Refused connections ------------------------------------------------------------------------- */

static struct facts_refused *find_refused(struct box_facts *f, const struct facts_refused *r)
{
    for (size_t i = 0; i < f->n_refused; i++)
        if (str_eq(f->refused[i].host, r->host) && f->refused[i].port == r->port &&
            str_eq(f->refused[i].why, r->why))
            return &f->refused[i];
    return NULL;
}

static void take_refused(struct arena *arena, struct box_facts *f, struct str line)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_JSON json_t *tree = NULL;
    if (!json_parse(line, "refused.jsonl", E_CONFIG, &tree, &ignored))
        return; /* truncated at either end */
    struct facts_refused r = {
        .host = json_str(json_object_get(tree, "host")),
        .why = json_str(json_object_get(tree, "why")),
        .port = (uint64_t)json_integer_value(json_object_get(tree, "port")),
    };
    struct facts_refused *known = find_refused(f, &r);
    if (!known && f->n_refused == REFUSED_KEPT)
        return;
    if (!known) {
        known = &f->refused[f->n_refused++];
        *known = r;
        known->host = arena_str(arena, r.host);
        known->why = arena_str(arena, r.why);
    }
    known->times++;
    known->last = arena_str(arena, json_str(json_object_get(tree, "time")));
}

/* The first line may be incomplete if the file is not read from its start; it is then not JSON and
 * is skipped. */
static bool gather_refused(struct arena *arena, struct box_facts *f, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * REFUSED_READ);
    AUTO_FD int fd =
        openat(f->box->host, "refused.jsonl", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0 && errno == ENOENT)
        return true;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot read the list of refused connections");
    if (st.st_size > REFUSED_READ && lseek(fd, st.st_size - REFUSED_READ, SEEK_SET) < 0)
        return err_errno(err, E_IO, errno, "cannot read the list of refused connections");
    if (!file_read(fd, 2 * REFUSED_READ - 1, "refused.jsonl", &text, err))
        return false;
    f->refused = ARENA_NEW(arena, struct facts_refused, REFUSED_KEPT);
    struct str line, rest = buf_str(&text);
    while (rest.n && str_cut(rest, '\n', &line, &rest))
        if (line.n)
            take_refused(arena, f, line);
    return true;
}

static bool gather_denied(struct arena *arena, struct box_facts *f, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(FACTS_DENIED_MAX);
    AUTO_FD int fd =
        openat(f->box->host, FACTS_DENIED_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return true;
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot read the list of denials");
    if (!file_read(fd, FACTS_DENIED_MAX - 1, FACTS_DENIED_FILE, &text, err))
        return false;
    f->denied = arena_str(arena, buf_str(&text));
    return true;
}

/* Changes ------------------------------------------------------------------------------------- */

static bool facts_measure_disk(int fd, uint64_t *ret_bytes, struct err *err)
{
    AUTO_WALK struct walk *w = NULL;
    const struct walk_entry *e;
    uint64_t blocks = 0;
    if (!walk_open(fd, &(struct walk_options){.all_names = true}, &w, err))
        return false;
    for (;;) {
        struct stat st;
        if (!walk_next(w, &e, err))
            return false;
        if (!e)
            break;
        if (fstatat(e->dir_fd, e->name.p, &st, AT_SYMLINK_NOFOLLOW) == 0)
            blocks += (uint64_t)st.st_blocks;
    }
    *ret_bytes = blocks * BLOCK;
    return true;
}

static bool gather_changes(struct arena *arena UNUSED, struct box_facts *f, struct err *err)
{
    AUTO(changes_done) struct box_changes c = BOX_CHANGES_NONE;
    AUTO_DELTA struct delta drift = DELTA_INIT;
    AUTO_RISKS struct risks risks = RISKS_INIT;
    if (f->box->meta.workdir.mode == BOX_RW)
        return true;
    if (!changes_open(f->box, &c, err) || !changes_read(&c, err) ||
        !changes_drift_all(&c, &drift, err) || !facts_measure_disk(c.trees.upper, &f->bytes, err) ||
        !changes_risks(f->box, &c, &risks, err))
        return false;
    for (size_t i = 0; i < c.delta.n; i++) {
        f->changes[c.delta.items[i].kind]++;
        f->runs_unasked += risks.rows[i].class == SELFRUN_RUNS;
        f->steers += risks.rows[i].class == SELFRUN_STEERS;
        f->leads_out += risks.rows[i].leads_out;
    }
    f->n_changes = c.delta.n;
    f->never_applied = c.delta.n_refused;
    f->left_out = c.delta.n_left_out;
    f->drift = drift.n;
    f->has_changes = true;
    return true;
}

/* Runs ---------------------------------------------------------------------------------------- */

static bool gather_runs(struct arena *arena, struct box_facts *f, struct err *err)
{
    f->runs = ARENA_NEW(arena, uint64_t, RUNS_LISTED_MAX);
    return runs_list(f->box->host, f->runs, &f->n_runs, err);
}

/* ---------------------------------------------------------------------------------------------- */

static bool gather_machine(struct arena *arena, struct box_facts *f, struct err *err)
{
    return toolchains_list(
        f->box, (const char *const *)environ, home_dir(arena), arena, &f->machine, err);
}

static bool gather_state(struct arena *arena, struct box_facts *f, struct err *err)
{
    bool held;
    return state_load(f->box->host, arena, &f->state, &held, err);
}

static bool gather_prompt(struct arena *arena, struct box_facts *f, struct err *err)
{
    return box_prompt(f->box, arena, &f->prompt, err);
}

static bool (*const gatherers[])(struct arena *arena, struct box_facts *f, struct err *err) = {
    gather_state, gather_prompt, gather_refused, gather_denied, gather_changes, gather_runs,
    gather_machine};

void facts_gather(struct arena *arena, const struct box *box, struct box_facts *ret_facts)
{
    struct box_facts *f = ret_facts;
    *f = (struct box_facts){.box = box, .state = {.exit_code = -1}};
    f->network = box_network(box, &f->hosts);
    for (size_t i = 0; i < ARRAY_LEN(gatherers); i++) {
        AUTO_ERR struct err err = {0};
        if (!gatherers[i](arena, f, &err))
            facts_add_problem(arena, f, &err);
    }
}
