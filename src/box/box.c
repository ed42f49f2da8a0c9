/* Opening a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/box.h"

#include "base/utf8.h"
#include "box/command.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/beneath.h"
#include "path/caret.h"
#include "path/lexical.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    SETUP_MAX = 1 << 20,
    EXTRAS_MAX = 64,
    WORDS_MAX = 1000,
};

static const char setup_name[] = "setup.json";
static const char prompt_name[] = "prompt";

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* setup.json ---------------------------------------------------------------------------------- */

const char *const box_layering_names[] = {
    [BOX_LAYERS_OVERLAY] = "overlay",
    [BOX_LAYERS_SECOND_COPY] = "second-copy",
    [BOX_LAYERS_NONE] = "none",
};

static const struct field extra_fields[] = {
    FIELD_STR("path", struct box_extra, path, "a directory", .flags = FIELD_REQUIRED,
        FIELD_RANGE(1, PATH_MAX)),
    FIELD_BOOL(
        "writable", struct box_extra, writable, "whether the box may change it", .def = "false"),
    FIELD_STR("encoded", struct box_extra, encoded, "a path that is not UTF-8, caret-encoded",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, CARET_GROWTH *PATH_MAX)),
};
static const struct shape extra_shape =
    SHAPE("directory", struct box_extra, extra_fields, "an additional directory");

#define LIMIT(json, member, help) \
    FIELD_U64(json, struct box_limits, member, help, .def = "0", .flags = FIELD_OMIT_EMPTY)

static const struct field limits_fields[] = {
    LIMIT("memory_bytes", memory_bytes, "memory"),
    LIMIT("processes", processes, "processes and threads at one time"),
    LIMIT("cpu_seconds", cpu_seconds, "CPU time in seconds"),
    LIMIT("cpu_millis", cpu_millis, "thousandths of a CPU at one time"),
    LIMIT("disk_bytes", disk_bytes, "disk space for its changes and its home"),
};
static const struct shape limits_shape =
    SHAPE("limits", struct box_limits, limits_fields, "limits of a box; 0: none");

static const struct field setup_fields[] = {
    {
        .kind = FIELD_KIND_ENUM,
        .name = "layering",
        .offset = offsetof(struct box_setup, layering),
        .help = "how its changes are separated from the project",
        .names = box_layering_names,
        .n_names = ARRAY_LEN(box_layering_names),
        .flags = FIELD_REQUIRED,
    },
    FIELD_OBJECTS("dirs", struct box_setup, extras, n_extras, &extra_shape,
        "additional directories", FIELD_RANGE(0, EXTRAS_MAX)),
    FIELD_STRS("hosts", struct box_setup, hosts, "hosts that it may connect to", .def = "[]",
        FIELD_RANGE(0, WORDS_MAX)),
    FIELD_STRS("args", struct box_setup, args, "additional arguments for the agent", .def = "[]",
        FIELD_RANGE(0, WORDS_MAX)),
    FIELD_OBJECT("limits", struct box_setup, limits, &limits_shape, "limits of the box"),
    FIELD_STRS("env_pass", struct box_setup, env.pass,
        "variables that are passed on, from the user's settings", .flags = FIELD_OMIT_EMPTY,
        FIELD_RANGE(0, WORDS_MAX)),
    FIELD_MAP("env_set", struct box_setup, env.set,
        "variables with their values, from the user's settings", .flags = FIELD_OMIT_EMPTY,
        FIELD_RANGE(0, WORDS_MAX)),
    FIELD_BOOL("inexact_limits", struct box_setup, inexact_limits,
        "whether limits that this machine cannot enforce exactly are accepted",
        .flags = FIELD_OMIT_EMPTY),
    FIELD_BOOL("include_ignored", struct box_setup, include_ignored,
        "whether files that git ignores are included", .def = "false"),
    FIELD_STRS("caches", struct box_setup, caches, "caches of package managers that it sees",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, WORDS_MAX)),
    FIELD_STR("home", struct box_setup, home, "path of its home directory in the box",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, PATH_MAX)),
};
const struct shape box_setup_shape =
    SHAPE("setup", struct box_setup, setup_fields, "settings of a box in addition to meta.json");

static void encode_extras(struct arena *a, struct box_setup *setup)
{
    struct box_extra *extras = ARENA_NEW(a, struct box_extra, setup->n_extras);
    for (size_t i = 0; i < setup->n_extras; i++) {
        AUTO_BUF struct buf encoded = BUF_INIT(CARET_GROWTH * PATH_MAX + 1);
        extras[i] = setup->extras[i];
        extras[i].encoded = (struct str){0};
        if (utf8_valid(extras[i].path))
            continue;
        caret_encode(extras[i].path, &encoded);
        extras[i].encoded = arena_str(a, buf_str(&encoded));
    }
    setup->extras = extras;
}

bool box_save_setup(int host_fd, const struct box_setup *setup, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(SETUP_MAX * CARET_GROWTH);
    AUTO_BUF struct buf text = BUF_INIT(SETUP_MAX);
    struct box_setup whole = *setup;
    encode_extras(&a, &whole);
    AUTO_JSON json_t *tree = field_write(&box_setup_shape, &whole);
    json_add_pretty(&text, tree);
    buf_add_byte(&text, '\n');
    if (!buf_ok(&text))
        return err_set(err, E_IO, "%s would be longer than %d bytes", setup_name, SETUP_MAX);
    return replace_private(host_fd, setup_name, buf_str(&text), err);
}

static bool decode_extras(struct arena *a, struct box_setup *setup, struct err *err)
{
    for (size_t i = 0; i < setup->n_extras; i++) {
        struct box_extra *extra = &setup->extras[i];
        AUTO_BUF struct buf bytes = BUF_INIT(extra->encoded.n + 8);
        if (extra->encoded.n) {
            if (!caret_decode(extra->encoded, CARET_PATH, &bytes, err)) {
                err->code = E_CONFIG;
                return err_wrap(err, "%s: dirs[%zu].encoded", setup_name, i);
            }
            extra->path = arena_str(a, buf_str(&bytes));
        }
        if (extra->path.p[0] != '/')
            return err_set(
                err, E_CONFIG, "%s: dirs[%zu]: its path must be absolute", setup_name, i);
    }
    return true;
}

/* Reads a regular file of host/ of limited size. A missing file is E_CONFIG: we created it. */
static bool box_read_host_file(
    int host_fd, const char *name, size_t max, struct buf *content, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = openat(host_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno == ENOENT ? E_CONFIG : E_IO, errno, "cannot open '%s'", name);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(err, E_CONFIG, "'%s' is not a regular file", name);
    return file_read(fd, max, name, content, err);
}

static bool load_setup(
    int host_fd, struct arena *arena, struct box_setup *ret_setup, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * SETUP_MAX);
    AUTO_JSON json_t *tree = NULL;
    struct box_setup setup;
    if (!box_read_host_file(host_fd, setup_name, SETUP_MAX, &text, err) ||
        !json_parse(buf_str(&text), setup_name, E_CONFIG, &tree, err))
        return false;
    if (!field_read(&box_setup_shape, tree, arena, E_CONFIG, &setup, err))
        return err_wrap(err, "%s", setup_name);
    if (!decode_extras(arena, &setup, err))
        return false;
    if (setup.home.n &&
        (setup.home.p[0] != '/' || setup.home.n < 2 || lexical_has_dots(setup.home)))
        return err_set(err, E_CONFIG, "%s: home: it must be absolute, without '..'", setup_name);
    for (size_t i = 0; i < setup.caches.n; i++)
        if (setup.caches.p[i].n < 2 || setup.caches.p[i].p[0] != '/' ||
            lexical_has_dots(setup.caches.p[i]))
            return err_set(
                err, E_CONFIG, "%s: caches[%zu]: it must be absolute, without '..'", setup_name, i);
    *ret_setup = setup;
    return true;
}

/* The box ------------------------------------------------------------------------------------- */

static bool box_open_parts(
    const struct boxes *boxes, struct box *box, struct arena *a, struct err *err)
{
    if (!boxes_find(boxes, box->name, &box->fd, err))
        return false;
    AUTO_FREE char *path = beneath_name(box->fd);
    box->host = openat(box->fd, "host", OPEN_DIR);
    if (!path || box->host < 0)
        return err_errno(err, E_IO, path ? errno : ENOENT, "cannot open the box '" STR_FMT "'",
            STR_ARG(box->name));
    box->path = arena_str(a, str_z(path));
    return true;
}

bool box_open(const struct boxes *boxes, struct str name, const struct agent_rows *users,
    struct arena *arena, struct box *ret_box, struct err *err)
{
    struct box box = BOX_NONE;
    box.name = arena_str(arena, name);
    bool ok = box_open_parts(boxes, &box, arena, err);
    if (ok)
        ok = (meta_load(box.fd, box.name, arena, &box.meta, err) &&
                 load_setup(box.host, arena, &box.setup, err) &&
                 agent_find(box.meta.agent, users, &box.agent, err)) ||
             err_wrap(err, "box '" STR_FMT "'", STR_ARG(name));
    if (ok)
        *ret_box = box;
    else
        box_close(&box);
    return ok;
}

void box_close(struct box *box)
{
    if (box->host >= 0)
        close(TAKE_FD(box->host));
    if (box->fd >= 0)
        close(TAKE_FD(box->fd));
}

bool box_prompt(const struct box *box, struct arena *arena, struct str *ret_prompt, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * COMMAND_PROMPT_MAX);
    *ret_prompt = (struct str){0};
    if (!box->meta.has_prompt)
        return true;
    if (!box_read_host_file(box->host, prompt_name, COMMAND_PROMPT_MAX, &text, err))
        return err_wrap(err, "box '" STR_FMT "'", STR_ARG(box->name));
    *ret_prompt = arena_str(arena, buf_str(&text));
    return true;
}

enum box_network box_network(const struct box *box, struct str_list *ret_hosts)
{
    const struct str_list *hosts = box->setup.hosts.n ? &box->setup.hosts : &box->agent->hosts;
    enum box_network mode = box->meta.network_mode;
    if (mode == BOX_NETWORK_DEFAULT)
        mode = hosts->n ? BOX_NETWORK_ALLOW : BOX_NETWORK_NONE;
    *ret_hosts = mode == BOX_NETWORK_ALLOW ? *hosts : (struct str_list){0};
    return mode;
}

struct str box_home(const struct box *box)
{
    return box->setup.home.n ? box->setup.home : agent_home(box->agent);
}

/* Trees --------------------------------------------------------------------------------------- */

struct str box_part_path(
    const struct box *box, const char *part, const char *leaf, struct arena *arena)
{
    char name[CARET_NAME_MAX + 1];
    caret_name(box->meta.workdir.host_path, name);
    return str_z(arena_printf(arena, STR_FMT "/%s/%s%s%s", STR_ARG(box->path), part, name,
        leaf ? "/" : "", leaf ? leaf : ""));
}

/* Opens a part of the box by its own name, without following symlinks. */
static bool box_open_part(
    const struct box *box, const char *part, const char *leaf, int *ret_fd, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct str path = box_part_path(box, part, leaf, &a);
    *ret_fd = beneath_open(
        box->fd, path.p + box->path.n + 1, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    return *ret_fd >= 0 ||
           err_errno(err, E_IO, errno, "cannot open '" STR_FMT "' of the box '" STR_FMT "'",
               STR_ARG(path), STR_ARG(box->name));
}

/* Opens the project at its original path. A path that now goes through a symlink is a different
 * project. */
static bool box_open_project(const struct box *box, int *ret_fd, struct err *err)
{
    const struct box_workdir *w = &box->meta.workdir;
    AUTO_FD int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *rest = w->host_path.n > 1 ? w->host_path.p + 1 : ".";
    int fd =
        root >= 0 ? beneath_open(root, rest, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS) : -1;
    bool gone = fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
    if (fd < 0 && !(gone && w->mode == BOX_COPY)) {
        err_errno(err, gone ? E_NOT_FOUND : E_IO, errno,
            "cannot open the project '" STR_FMT "' of the box '" STR_FMT "'", STR_ARG(w->host_path),
            STR_ARG(box->name));
        return err_ctx(err, "path", STR_FMT, STR_ARG(w->host_path));
    }
    *ret_fd = fd;
    return true;
}

bool box_open_trees(const struct box *box, struct box_trees *ret_trees, struct err *err)
{
    struct box_trees t = BOX_TREES_NONE;
    enum box_mode mode = box->meta.workdir.mode;
    t.opaque_root = box->setup.layering == BOX_LAYERS_SECOND_COPY;
    bool ok = box_open_project(box, &t.project, err);
    if (ok && mode == BOX_COPY)
        ok = box_open_part(box, "base", NULL, &t.baseline, err);
    if (ok && mode != BOX_RW)
        ok = box_open_part(box, "work", t.opaque_root ? "tree" : "upper", &t.upper, err);
    if (ok)
        *ret_trees = t;
    else
        box_close_trees(&t);
    return ok;
}

void box_close_trees(struct box_trees *t)
{
    int *const fds[] = {&t->project, &t->baseline, &t->upper};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (*fds[i] >= 0)
            close(TAKE_FD(*fds[i]));
}

void box_load_same(const struct box_trees *t, int host_fd, struct manifest *same)
{
    AUTO_ERR struct err ignored = {0};
    if (t->baseline < 0 || faccessat(host_fd, BOX_SAME, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (!manifest_read(host_fd, BOX_SAME, same, &ignored)) {
        manifest_done(same);
        *same = MANIFEST_INIT;
    }
}
