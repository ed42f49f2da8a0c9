/* The environment of tools: roots, files, consent. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/toolbox.h"

#include "io/file.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "path/private.h"
#include "path/selfrun.h"
#include "path/warn.h"
#include "path/writer.h"
#include "repo/parts.h"
#include "repo/protect.h"
#include "tool/guard.h"
#include "tool/sessions.h"
#include "tool/tool.h"
#include "tool/tool_world.h"

#include <errno.h>
#include <fcntl.h>

const char *const toolbox_mode_names[TOOLBOX_MODES + 1] = {
    [TOOLBOX_RESTRICTED] = "restricted",
    [TOOLBOX_WORKSPACE] = "workspace",
    [TOOLBOX_UNRESTRICTED] = "unrestricted",
};

static bool add_roots(struct toolbox *box, struct err *err)
{
    const struct toolbox_options *o = box->options;
    struct boundary *b = box->boundary;
    switch (o->mode) {
    case TOOLBOX_RESTRICTED:
        return boundary_add_fd(b, o->root_fd, BOUNDARY_RW, BOUNDARY_USER_PROJECT, err);
    case TOOLBOX_WORKSPACE:
        return boundary_add_fd(b, o->root_fd, BOUNDARY_RO, BOUNDARY_USER_PROJECT, err) &&
               boundary_add_fd(b, o->workspace_fd, BOUNDARY_RW, BOUNDARY_AGENT_WORKSPACE, err);
    default:
        return boundary_add(b, "/", BOUNDARY_RW, BOUNDARY_OUTSIDE, err);
    }
}

bool toolbox_open(const struct toolbox_options *options, struct toolbox **ret_box, struct err *err)
{
    struct toolbox *box = calloc(1, sizeof(*box));
    BUG_ON(!box);
    box->options = options;
    id_new(box->id);
    box->boundary = boundary_new();
    approve_init(&box->approve, &options->approve);
    if (!add_roots(box, err) || !boundary_set_base(box->boundary, options->cwd, err)) {
        toolbox_close(box);
        return false;
    }
    box->root = boundary_first_root(box->boundary)->path;
    if (options->mode == TOOLBOX_WORKSPACE)
        box->workspace = boundary_last_root(box->boundary)->path;
    toolbox_show_logs(box);
    *ret_box = box;
    return true;
}

void toolbox_show_logs(struct toolbox *box)
{
    const struct toolbox_options *o = box->options;
    AUTO_ERR struct err ignored = {0};
    if (!box->shows_logs && o->log_dir && o->mode != TOOLBOX_UNRESTRICTED &&
        access(o->log_dir, F_OK) == 0)
        box->shows_logs = boundary_add(
            box->boundary, o->log_dir, BOUNDARY_RO, BOUNDARY_AGENT_WORKSPACE, &ignored);
}

bool toolbox_make_logs(struct toolbox *box)
{
    struct str path = str_z(box->options->log_dir);
    int missing = 0;
    for (; path.n > 1; missing++) {
        AUTO_FREE char *name = strndup(path.p, path.n);
        if (name && access(name, F_OK) == 0)
            break;
        path = str_head(path, (size_t)MAX(str_find_last(path, '/'), (ptrdiff_t)0));
    }
    box->made_logs += missing;
    return private_make(box->options->log_dir);
}

/* Removes directories that are still empty. */
static void drop_logs(struct toolbox *box)
{
    AUTO_FREE char *path = box->made_logs ? strdup(box->options->log_dir) : NULL;
    for (int i = 0; path && i < box->made_logs && rmdir(path) == 0; i++) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path)
            break;
        *slash = '\0';
    }
}

/* Processes of the last call may have run until now. */
static void close_protect(struct toolbox *box)
{
    AUTO_BUF struct buf text = BUF_INIT(TOOL_CONTENT_MAX);
    if (!box->protect)
        return;
    box->protect->busy = false;
    protect_check(box->protect);
    if (box->protect->news)
        protect_print(box->protect, &text);
    if (text.n && box->options->tell_held)
        box->options->tell_held(box->options->held_context, buf_str(&text));
    protect_free(box->protect);
    box->protect = NULL;
}

/* Directories that the caller adds are also writable for later commands. */
static struct str *toolbox_join_roots(
    const struct toolbox_options *o, const struct str *roots, size_t n, size_t *ret_n)
{
    const size_t more = o->extra ? o->extra->write.n : 0;
    struct str *all = base_alloc((n + more + 1) * sizeof(*all));
    memcpy(all, roots, n * sizeof(*all));
    for (size_t i = 0; i < more; i++)
        all[n++] = o->extra->write.p[i];
    *ret_n = n;
    return all;
}

void toolbox_protect(struct toolbox *box, const struct str *roots, size_t n)
{
    const struct toolbox_options *o = box->options;
    if (box->protect || o->no_sandbox)
        return;
    AUTO_FREE struct str *all = toolbox_join_roots(o, roots, n, &n);
    box->protect = protect_new(&(struct protect_options){.roots = all,
        .n_roots = n,
        .own = o->own,
        .n_own = o->n_own,
        .home = o->home,
        .settings = o->settings.p,
        .n_settings = o->settings.n,
        .sessions = o->sessions,
        .autorun = !o->policy,
        .writable = o->extra ? o->extra->write.p : NULL,
        .n_writable = o->extra ? o->extra->write.n : 0,
        .accepted = o->accepts,
        .context = o->accepts_context});
}

void toolbox_check(struct toolbox *box, struct tool_result *result)
{
    AUTO_BUF struct buf text = BUF_INIT(TOOL_CONTENT_MAX);
    /* Checked first: running commands can change files after the check. */
    const bool busy = tool_worlds_are_busy(box) || sessions_run(box->sessions);
    box->made_parts = false;
    tool_world_tell(box, result);
    if (!box->protect)
        return;
    box->protect->busy = busy;
    protect_check(box->protect);
    protect_print(box->protect, &text);
    if (!text.n)
        return;
    if (result->content.n && result->content.p[result->content.n - 1] != '\n')
        buf_add_byte(&result->content, '\n');
    buf_add_str(&result->content, buf_str(&text));
    protect_add_json(box->protect, result->details);
}

void toolbox_close(struct toolbox *box)
{
    if (!box)
        return;
    sessions_close(box->sessions);
    box->sessions = NULL;
    tool_worlds_close(box);
    close_protect(box);
    drop_logs(box);
    approve_done(&box->approve);
    boundary_free(box->boundary);
    free(box);
}

bool toolbox_called_off(void *context)
{
    const struct toolbox *box = context;
    struct pollfd fd = {.fd = box->guard ? -1 : box->options->signals, .events = POLLIN};
    return fd.fd >= 0 && poll(&fd, 1, 0) > 0; /* not consumed: stays pending for the next reader */
}

static bool refuse_write(const struct toolbox *box, const struct resolved *where, struct err *err)
{
    struct str name = toolbox_name(box, where);
    err_set(err, E_FS_VIOLATION, "'" STR_FMT "' is read-only in this mode%s", STR_ARG(name),
        box->options->mode == TOOLBOX_WORKSPACE ? ": write below the agent's workspace" : "");
    return err_ctx(err, "path", STR_FMT, STR_ARG(where->path));
}

/* Files that configure cordon or git, by the configured names and by the paths they resolve to. */
static bool toolbox_is_own(const struct toolbox *box, struct str path)
{
    for (size_t i = 0; i < box->options->n_own; i++) {
        struct str own = box->options->own[i];
        AUTO_FREE char *resolved = beneath_resolve(own.p);
        if (lexical_is_below(own, path) || (resolved && lexical_is_below(str_z(resolved), path)))
            return true;
    }
    return false;
}

/* Settings and hooks of repositories and Cordon's own settings belong to the user. */
static bool refuse_part(struct toolbox *box, const struct resolved *where, struct err *err)
{
    struct str name = toolbox_name(box, where), root = where->root->path;
    const struct protect_options options = {
        .roots = &root, .n_roots = 1, .home = box->options->home};
    if (!toolbox_is_own(box, where->path) && !protect_refuses(&options, where->path)) {
        box->made_parts |= parts_can_create_repo(lexical_rest(root, where->path));
        if (box->made_parts)
            toolbox_protect(box, &root, 1);
        if (box->made_parts && box->protect)
            protect_begin(box->protect);
        return true;
    }
    err_set(err, E_FS_VIOLATION,
        "'" STR_FMT
        "' controls git or cordon, and tools cannot change it; for commits, branches and "
        "stashes use shell commands",
        STR_ARG(name));
    return err_ctx(err, "path", STR_FMT, STR_ARG(where->path));
}

/* The path for the table of files that take effect without being started. */
static struct str path_in_project(const struct toolbox *box, struct str root, struct str path)
{
    struct str cwd = str_z(box->options->cwd);
    if (box->options->mode == TOOLBOX_UNRESTRICTED && lexical_is_below(cwd, path))
        root = cwd;
    return lexical_is_below(root, path) ? lexical_rest(root, path) : path;
}

static bool is_named_writable(const struct toolbox *box, struct str path)
{
    const struct policy_extra *extra = box->options->extra;
    for (size_t i = 0; extra && i < extra->write.n; i++)
        if (lexical_is_below(extra->write.p[i], path))
            return true;
    return false;
}

/* Returns why a file needs the user's consent: by its path, or by a symlink's that leads to it. */
static const char *guard_reason(
    const struct toolbox *box, struct str given, const struct resolved *where, struct arena *a)
{
    const struct toolbox_options *o = box->options;
    if (o->no_sandbox || o->remote || box->by_user || is_named_writable(box, where->path))
        return NULL;
    struct str path = lexical_absolute(a, str_z(o->cwd), given), root = where->root->path;
    const char *why = selfrun_guards(path_in_project(box, root, where->path)).reason;
    if (!why && !is_named_writable(box, path))
        why = selfrun_guards(path_in_project(box, root, path)).reason;
    return why;
}

/* Files that take effect without being started belong to the user, who is asked or names them. */
static bool guard_file(struct toolbox *box, struct str given, const struct resolved *where,
    struct arena *a, struct err *err)
{
    const char *why = guard_reason(box, given, where, a);
    if (!why)
        return true;
    if (box->options->approve.mode != APPROVE_NEVER) {
        box->guarded = why;
        if (box->protect)
            protect_expect(box->protect, where->path);
        return true;
    }
    struct str name = toolbox_name(box, where);
    err_set(err, E_FS_VIOLATION,
        "'" STR_FMT
        "' takes effect without being started (%s), and is read-only: the user can allow changes "
        "with --write " STR_FMT ", or be asked with --approval on-request",
        STR_ARG(name), why, STR_ARG(where->path));
    return err_ctx(err, "path", STR_FMT, STR_ARG(where->path));
}

/* Only paths shown to the user or covered by a rule are written. */
static bool is_approved(const struct toolbox *box, const struct resolved *where)
{
    struct str line, rest = box->approved, name = toolbox_name(box, where);
    while (str_cut(rest, '\n', &line, &rest))
        if (str_eq(line, name))
            return true;
    return false;
}

bool toolbox_resolve(struct toolbox *box, struct str path, bool to_write, struct arena *a,
    struct resolved *ret_resolved, struct err *err)
{
    struct resolved where;
    if (path.n == 0)
        return err_set(err, E_TOOL_VALIDATION, "a path is empty; the directory itself is \".\"");
    if (!boundary_resolve(box->boundary, path, a, &where, err))
        return false;
    if (to_write && where.root->access != BOUNDARY_RW)
        return refuse_write(box, &where, err);
    if (to_write && (!refuse_part(box, &where, err) || !guard_file(box, path, &where, a, err)))
        return false;
    if (to_write && box->approved.p && !is_approved(box, &where))
        return err_set(err, E_CONFLICT,
            "'" STR_FMT "' no longer leads to the file that was approved", STR_ARG(path));
    *ret_resolved = where;
    return true;
}

struct str toolbox_name(const struct toolbox *box, const struct resolved *where)
{
    if (box->options->mode == TOOLBOX_UNRESTRICTED)
        return where->path;
    struct str root = box->root;
    return lexical_is_below(root, where->path) ? lexical_rest(root, where->path) : where->path;
}

static bool not_a_file(struct str path, mode_t mode, struct err *err)
{
    static const struct {
        mode_t type;
        const char *what;
    } kinds[] = {
        {S_IFDIR, "a directory"},
        {S_IFIFO, "a named pipe"},
        {S_IFSOCK, "a socket"},
        {S_IFCHR, "a device"},
        {S_IFBLK, "a device"},
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if ((mode & S_IFMT) == kinds[i].type)
            return err_set(
                err, E_IO, "'" STR_FMT "' is %s, not a file", STR_ARG(path), kinds[i].what);
    return true;
}

int toolbox_open_dir(struct toolbox *box, struct str path, int flags, const char *hint,
    struct arena *a, struct resolved *ret_where, struct err *err)
{
    if (!toolbox_resolve(box, path, false, a, ret_where, err))
        return -1;
    if (ret_where->exists && S_ISDIR(ret_where->st.st_mode))
        return boundary_open_resolved(ret_where, flags | O_DIRECTORY, err);
    if (ret_where->exists)
        err_set(err, E_TOOL_VALIDATION, "'" STR_FMT "' is not a directory%s", STR_ARG(path), hint);
    else
        err_set(err, E_NOT_FOUND, "there is no directory '" STR_FMT "'", STR_ARG(path));
    return -1;
}

int toolbox_open_file(
    const struct resolved *where, struct str path, struct stat *ret_st, struct err *err)
{
    if (!where->exists) {
        err_set(err, E_NOT_FOUND, "there is no file '" STR_FMT "'", STR_ARG(path));
        err_ctx(err, "path", STR_FMT, STR_ARG(where->path));
        return -1;
    }
    /* Checked before opening: opening a device can have side effects. */
    if (!not_a_file(path, where->st.st_mode, err))
        return -1;
    struct stat st;
    AUTO_FD int fd = boundary_open_resolved(where, O_RDONLY | O_NONBLOCK | O_NOCTTY, err);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) != 0) {
        err_errno(err, E_IO, errno, "cannot stat '" STR_FMT "'", STR_ARG(path));
        return -1;
    }
    if (!not_a_file(path, st.st_mode, err))
        return -1;
    *ret_st = st;
    return TAKE_FD(fd);
}

void tool_file_done(struct tool_file *file)
{
    buf_done(&file->content);
}

bool toolbox_read(struct toolbox *box, struct str path, bool to_write, struct arena *a,
    struct tool_file *ret_file, struct err *err)
{
    struct stat st;
    struct tool_file file = {.content = BUF_INIT(2 * TOOLBOX_FILE_MAX)};
    if (!toolbox_resolve(box, path, to_write, a, &file.where, err))
        return false;
    AUTO_FD int fd = toolbox_open_file(&file.where, path, &st, err);
    if (fd < 0)
        return false;
    file.stamp = stamp_of(&st);
    if (!file_read(fd, TOOLBOX_FILE_MAX, arena_strdup(a, path), &file.content, err)) {
        tool_file_done(&file);
        return false;
    }
    *ret_file = file;
    return true;
}

bool toolbox_writer(
    struct toolbox *box, const struct resolved *where, struct writer **ret_writer, struct err *err)
{
    return writer_new(where->root->fd, box->options->journal_dir, ret_writer, err);
}

bool toolbox_commit(
    struct toolbox *box, struct writer *writer, struct writer_result *ret_written, struct err *err)
{
    const struct toolbox_backup *backup = &box->options->backup;
    guard_keep(box->guard);
    if (!backup->begin)
        return writer_commit(writer, ret_written, err);
    writer_when_staged(writer, backup->begin, backup->context);
    bool ok = writer_commit(writer, ret_written, err);
    backup->end(backup->context, ok);
    return ok;
}

bool tool_subject_path(struct toolbox *box, struct str path, struct buf *subject, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(8 << 20);
    struct resolved where;
    if (!toolbox_resolve(box, path, true, &a, &where, err))
        return false;
    struct str name = toolbox_name(box, &where);
    if (memchr(name.p, '\n', name.n))
        return err_set(err, E_APPROVAL_REQUIRED,
            "a path that contains a newline cannot be shown for consent: use --approval never "
            "to allow it");
    buf_add_str(subject, name);
    buf_add_byte(subject, '\n');
    return true;
}

bool tool_looks_twice(struct toolbox *box, const struct tool *tool, const struct resolved *where,
    struct tool_result *result, struct err *err)
{
    const char *why = warn_about(where->path);
    if (!why)
        return true;
    struct str name = toolbox_name(box, where);
    tool_warns(result, STR_FMT ": %s", STR_ARG(name), why);
    if (tool->mutating) /* covered by the question for the call */
        return true;
    struct approve_question question = {.tool = tool->name, .subject = name, .warning = why};
    return approve_call(&box->approve, &question, err);
}
