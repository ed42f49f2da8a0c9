/* Builds a box part by part; giving it its name is the last step. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/new.h"

#include "base/clock.h"
#include "box/borrowed.h"
#include "box/box_caches.h"
#include "box/box_home.h"
#include "box/layering.h"
#include "box/toolchains.h"
#include "change/former.h"
#include "change/manifest.h"
#include "io/replace.h"
#include "path/beneath.h"
#include "path/caret.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

enum {
    PATHS_MAX = 1 << 20,
};

struct new_maker {
    const struct new_input *in;
    struct new_report *report;
    struct box_setup setup;
    struct box box; /* under construction: for its paths */
    int project;
    struct manifest manifest;
    struct dirty dirty;
    bool asked;
    struct err git_err;
    struct arena arena;
};

void new_report_done(struct new_report *report)
{
    copy_report_done(&report->copied);
    buf_done(&report->why);
    buf_done(&report->caches);
}

/* git ----------------------------------------------------------------------------------------- */

/* Unless uncommitted changes matter, a failing git just means that no commit is recorded. */
static void *new_query_git(void *context)
{
    struct new_maker *m = context;
    const char *dir = m->in->project->path.p;
    if (m->in->ask_git) {
        m->asked = dirty_ask(dir, &m->dirty, &m->git_err);
        return NULL;
    }
    AUTO_ERR struct err ignored = {0};
    (void)!dirty_ask_head(dir, &m->dirty, &ignored);
    m->asked = true;
    return NULL;
}

static bool new_confirm_dirty(struct new_maker *m, struct err *err)
{
    if (!m->asked)
        return err_move(err, &m->git_err);
    return m->in->go_on(m->in->context, &m->dirty, err);
}

/* Parts --------------------------------------------------------------------------------------- */

static bool new_open_project(struct new_maker *m, struct err *err)
{
    const struct box_dir *dir = m->in->project;
    struct stat st;
    m->project = open(dir->path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (m->project < 0 || fstat(m->project, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot open '" STR_FMT "'", STR_ARG(dir->path));
    return (st.st_dev == dir->dev && st.st_ino == dir->ino) ||
           err_set(
               err, E_CONFLICT, "'" STR_FMT "' was replaced in the meantime", STR_ARG(dir->path));
}

static bool make_home(int box_fd, const struct box_agent *agent, struct err *err)
{
    AUTO_FD int home = openat(box_fd, "home", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (home < 0)
        return err_errno(err, E_IO, errno, "cannot open the box's home directory");
    return box_home_fill(home, agent, err);
}

static bool new_source_of(struct str path, struct plan_source *ret_source, struct err *err)
{
    struct stat st;
    if (lstat(path.p, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot stat '" STR_FMT "'", STR_ARG(path));
    *ret_source = (struct plan_source){path, st.st_dev, st.st_ino};
    return true;
}

/* In a box root has no capabilities: in a layer over another user's files it could not change
 * them. */
static bool is_of_another(const struct new_maker *m)
{
    return m->in->meta.workdir.mode == BOX_OVERLAY && geteuid() == 0 && m->in->project->owner != 0;
}

/* Tests with the final layers, on top of the baseline or the project. */
static bool new_choose_layering(struct new_maker *m, struct str lower, struct err *err)
{
    const struct box *box = &m->box;
    struct plan_overlay overlay = {.at = box->meta.workdir.mount_path};
    if (!box_make_layers(box->fd, box->meta.workdir.host_path, m->in->project->mode, err))
        return false;
    if (is_of_another(m)) {
        m->setup.layering = BOX_LAYERS_SECOND_COPY;
        buf_printf(&m->report->why, "the project belongs to another user (uid %u)",
            (unsigned)m->in->project->owner);
        return true;
    }
    return new_source_of(lower, &overlay.lower, err) &&
           new_source_of(box_part_path(box, "work", "upper", &m->arena), &overlay.upper, err) &&
           new_source_of(box_part_path(box, "work", "work", &m->arena), &overlay.work, err) &&
           layering_choose(&overlay, &m->setup.layering, &m->report->why, err);
}

static bool second_copy(struct new_maker *m, int from_fd, struct err *err)
{
    if (m->setup.layering != BOX_LAYERS_SECOND_COPY)
        return true;
    AUTO_FD int layers = open(box_part_path(&m->box, "work", NULL, &m->arena).p,
        O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (layers < 0)
        return err_errno(err, E_IO, errno, "cannot open the layers");
    return layering_copy(layers, from_fd, err);
}

static void leave_out_state(const struct new_input *in, struct copy_options *options)
{
    struct stat st;
    if (stat(in->state, &st) == 0) {
        options->left_out_dev = st.st_dev;
        options->left_out_ino = st.st_ino;
    }
}

/* Objects that the repository borrows from another one; without a copy they stay out of sight. */
static void fill_borrowed(struct new_maker *m, int base)
{
    if (borrowed_any(m->project) && (base < 0 || !borrowed_copy(m->project, base)))
        copy_report_note(&m->report->copied, STR(".git/objects/info/alternates"),
            "refers to objects of another repository, which the box sees only if --dir names them");
}

/* Test the layers first, so as not to copy a project that cannot be used. */
static bool fill_copy(struct new_maker *m, struct err *err)
{
    struct copy_options options = {.include_ignored = m->setup.include_ignored};
    struct str path = box_part_path(&m->box, "base", NULL, &m->arena);
    leave_out_state(m->in, &options);
    new_query_git(m);
    if (!new_confirm_dirty(m, err))
        return false;
    AUTO_FD int base = mkdir(path.p, 0700) == 0
                           ? open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                           : -1;
    if (base < 0)
        return err_errno(err, E_IO, errno, "cannot create '" STR_FMT "'", STR_ARG(path));
    if (!new_choose_layering(m, path, err) ||
        !copy_project(m->project, base, &options, &m->report->copied, err))
        return false;
    if (fchmod(base, (m->in->project->mode & 02777) | 0700) != 0)
        return err_errno(err, E_IO, errno, "cannot create '" STR_FMT "'", STR_ARG(path));
    fill_borrowed(m, base);
    return second_copy(m, base, err);
}

/* git examines the tree in a thread while the manifest is built. */
static bool fill_overlay(struct new_maker *m, struct err *err)
{
    pthread_t thread;
    bool threaded = pthread_create(&thread, NULL, new_query_git, m) == 0;
    bool ok = manifest_take(m->project, &m->manifest, err) &&
              new_choose_layering(m, m->in->project->path, err) &&
              second_copy(m, m->project, err) &&
              manifest_write(&m->manifest, m->box.host, "manifest", err);
    if (threaded)
        pthread_join(thread, NULL);
    else if (ok)
        new_query_git(m);
    if (ok) {
        former_save(m->project, m->box.host);
        fill_borrowed(m, -1);
    }
    return ok && new_confirm_dirty(m, err);
}

static bool fill_real(struct new_maker *m, struct err *err)
{
    m->setup.layering = BOX_LAYERS_NONE;
    new_query_git(m);
    return new_confirm_dirty(m, err);
}

static bool fill_project(struct new_maker *m, struct err *err)
{
    static bool (*const how[])(struct new_maker *, struct err *) = {
        [BOX_COPY] = fill_copy, [BOX_OVERLAY] = fill_overlay, [BOX_RW] = fill_real};
    return how[m->in->meta.workdir.mode](m, err);
}

static void choose_caches(struct new_maker *m)
{
    struct toolchains_input places = {.box = &m->box};
    struct box_caches_choice choice;
    m->box.setup = m->setup;
    toolchains_places(&m->box, &m->arena, &places);
    const struct box_caches_input input = {
        .box = &m->box,
        .box_home = m->setup.home,
        .home = m->in->home,
        .state = toolchains_state(&m->box, &m->arena),
        .inside = places.inside,
        .writable = places.writable,
    };
    box_caches_choose(&input, &m->arena, &choice);
    m->setup.caches = choice.shown;
    for (size_t i = 0; i < choice.omitted.n; i++)
        buf_printf(
            &m->report->caches, "%s'" STR_FMT "'", i ? ", " : "", STR_ARG(choice.omitted.p[i]));
    if (choice.omitted.n)
        buf_printf(&m->report->caches, ": %s", choice.why);
}

static bool fill_files(struct new_maker *m, struct err *err)
{
    char now[CLOCK_RFC3339];
    struct box_meta meta = m->in->meta;
    clock_rfc3339(clock_wall_ms(), now);
    meta.cordon_version = STR(CORDON_VERSION);
    meta.created_at = str_z(now);
    meta.has_prompt = m->in->prompt.p != NULL;
    if (m->dirty.head[0])
        meta.workdir.baseline_sha = str_z(m->dirty.head);
    return (!m->in->prompt.p || replace_private(m->box.host, "prompt", m->in->prompt, err)) &&
           box_save_setup(m->box.host, &m->setup, err) && meta_save(m->box.fd, &meta, err);
}

/* The box ------------------------------------------------------------------------------------- */

static bool new_fill(struct new_maker *m, struct err *err)
{
    AUTO_FREE char *path = beneath_name(m->box.fd);
    m->box.host = openat(m->box.fd, "host", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!path || m->box.host < 0)
        return err_errno(err, E_IO, path ? errno : ENOENT, "cannot create the box");
    m->box.path = arena_str(&m->arena, str_z(path));
    if (!make_home(m->box.fd, m->in->agent, err) || !fill_project(m, err))
        return false;
    choose_caches(m);
    return fill_files(m, err);
}

bool new_make(const struct boxes *boxes, const struct new_input *input, struct new_report *report,
    struct err *err)
{
    struct str name = input->meta.name;
    struct new_maker m = {
        .in = input,
        .report = report,
        .setup = input->setup,
        .box = BOX_NONE,
        .project = -1,
        .manifest = MANIFEST_INIT,
        .arena = ARENA_INIT(PATHS_MAX),
    };
    m.box.name = name;
    m.box.meta = input->meta;
    bool ok = new_open_project(&m, err) && boxes_begin(boxes, name, &m.box.fd, err) &&
              new_fill(&m, err) && (!input->make_way || input->make_way(input->context, err)) &&
              boxes_finish(boxes, name, input->replace ? BOXES_REPLACE : BOXES_NEW, err);
    if (!ok)
        boxes_abandon(boxes, name);
    report->layering = m.setup.layering;
    box_close(&m.box);
    if (m.project >= 0)
        close(m.project);
    manifest_done(&m.manifest);
    err_done(&m.git_err);
    arena_done(&m.arena);
    return ok;
}
