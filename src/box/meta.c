/* meta.json as a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/meta.h"

#include "base/utf8.h"
#include "box/name.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/caret.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    META_MAX = 256 * 1024,
    WORD_MAX = 4096,
    PORTS_MAX = 64,
    PORT_MAX = 65535,
    SHA1_HEX = 40,
    SHA256_HEX = 64,
};

static const char file_name[] = "meta.json";

static const char *const mode_names[] = {
    [BOX_COPY] = "copy", [BOX_OVERLAY] = "overlay", [BOX_RW] = "rw"};
static const char *const network_names[] = {
    [BOX_NETWORK_NONE] = "none", [BOX_NETWORK_ON] = "on", [BOX_NETWORK_ALLOW] = "allow"};

static const struct field workdir_fields[] = {
    FIELD_STR("host_path", struct box_workdir, host_path, "the project", .flags = FIELD_REQUIRED,
        FIELD_RANGE(1, PATH_MAX)),
    FIELD_STR("mount_path", struct box_workdir, mount_path, "path of the project in the box",
        .flags = FIELD_REQUIRED, FIELD_RANGE(1, PATH_MAX)),
    FIELD_ENUM(
        "mode", struct box_workdir, mode, mode_names, "project mode", .flags = FIELD_REQUIRED),
    FIELD_STR("baseline_sha", struct box_workdir, baseline_sha, "HEAD when the box was created",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, SHA256_HEX)),
    FIELD_MAP("inexact", struct box_workdir, inexact, "paths that are not UTF-8, caret-encoded",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, 2)),
};
static const struct shape workdir_shape =
    SHAPE("workdir", struct box_workdir, workdir_fields, "the project of a box");

static const struct field meta_fields[] = {
    FIELD_STR("cordon_version", struct box_meta, cordon_version,
        "version of cordon that created it", .flags = FIELD_REQUIRED, FIELD_RANGE(1, WORD_MAX)),
    FIELD_STR("name", struct box_meta, name, "name of the box", .flags = FIELD_REQUIRED,
        FIELD_RANGE(1, BOX_NAME_MAX)),
    FIELD_STR("created_at", struct box_meta, created_at, "time of creation, RFC 3339",
        .flags = FIELD_REQUIRED, FIELD_RANGE(1, WORD_MAX)),
    FIELD_STR("agent", struct box_meta, agent, "name of the agent", .flags = FIELD_REQUIRED,
        FIELD_RANGE(1, WORD_MAX)),
    FIELD_STR("model", struct box_meta, model, "model; absent: the agent's default",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, WORD_MAX)),
    FIELD_OBJECT("workdir", struct box_meta, workdir, &workdir_shape, "the project",
        .flags = FIELD_REQUIRED),
    FIELD_BOOL("has_prompt", struct box_meta, has_prompt, "whether the agent was given a prompt",
        .flags = FIELD_REQUIRED),
    FIELD_ENUM("network_mode", struct box_meta, network_mode, network_names,
        "network access; absent: the agent's default",
        FIELD_HAS(struct box_meta, has_network_mode)),
    FIELD_STRS("ports", struct box_meta, ports, "forwarded ports, as HOST:BOX",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, PORTS_MAX)),
};
const struct shape box_meta_shape =
    SHAPE("meta", struct box_meta, meta_fields, "properties of a box, set when it was created");

/* Saving -------------------------------------------------------------------------------------- */

static void add_inexact(struct arena *a, struct str_map *map, const char *key, struct str path)
{
    AUTO_BUF struct buf encoded = BUF_INIT(CARET_GROWTH * PATH_MAX + 1);
    if (utf8_valid(path))
        return;
    caret_encode(path, &encoded);
    map->p[map->n++] = (struct str_pair){str_z(key), arena_str(a, buf_str(&encoded))};
}

bool meta_save(int box_fd, const struct box_meta *meta, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(META_MAX);
    AUTO_BUF struct buf text = BUF_INIT(META_MAX);
    struct box_meta whole = *meta;
    struct str_pair pairs[2];
    whole.has_network_mode = meta->network_mode != BOX_NETWORK_DEFAULT;
    whole.workdir.inexact = (struct str_map){.p = pairs};
    add_inexact(&a, &whole.workdir.inexact, "host_path", meta->workdir.host_path);
    add_inexact(&a, &whole.workdir.inexact, "mount_path", meta->workdir.mount_path);
    AUTO_JSON json_t *tree = field_write(&box_meta_shape, &whole);
    json_add_pretty(&text, tree);
    buf_add_byte(&text, '\n');
    if (!buf_ok(&text))
        return err_set(err, E_IO, "%s would be longer than %d bytes", file_name, META_MAX);
    return replace_private(box_fd, file_name, buf_str(&text), err);
}

/* Loading ------------------------------------------------------------------------------------- */

static bool meta_restore_path(struct arena *a, const struct str_map *inexact, const char *key,
    struct str *path, struct err *err)
{
    for (size_t i = 0; i < inexact->n; i++) {
        AUTO_BUF struct buf bytes = BUF_INIT(inexact->p[i].text.n + 8);
        if (!str_is(inexact->p[i].key, key))
            continue;
        if (!caret_decode(inexact->p[i].text, CARET_PATH, &bytes, err)) {
            err->code = E_CONFIG;
            return err_wrap(err, "%s: workdir.inexact.%s", file_name, key);
        }
        *path = arena_str(a, buf_str(&bytes));
    }
    return true;
}

static bool meta_is_hex(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789abcdef", s.p[i]))
            return false;
    return s.n == SHA1_HEX || s.n == SHA256_HEX;
}

bool meta_port_valid(struct str port)
{
    struct str from, to;
    int64_t n;
    return str_cut(port, ':', &from, &to) && str_to_int(from, 1, PORT_MAX, &n) &&
           str_to_int(to, 1, PORT_MAX, &n);
}

/* Checks that the table cannot express. */
static bool meta_check(const struct box_meta *m, struct str name, struct err *err)
{
    const struct box_workdir *w = &m->workdir;
    if (!str_eq(m->name, name))
        return err_set(err, E_CONFIG,
            "%s: it belongs to the box '" STR_FMT "', not to '" STR_FMT "'", file_name,
            STR_ARG(m->name), STR_ARG(name));
    if (w->host_path.p[0] != '/' || w->mount_path.p[0] != '/')
        return err_set(err, E_CONFIG, "%s: workdir: its paths must be absolute", file_name);
    if (w->baseline_sha.n && !meta_is_hex(w->baseline_sha))
        return err_set(err, E_CONFIG, "%s: workdir.baseline_sha: not a commit id", file_name);
    for (size_t i = 0; i < m->ports.n; i++)
        if (!meta_port_valid(m->ports.p[i]))
            return err_set(err, E_CONFIG, "%s: ports[%zu]: '" STR_FMT "' is not HOST:BOX",
                file_name, i, STR_ARG(m->ports.p[i]));
    return true;
}

static bool meta_read_text(int box_fd, struct buf *text, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = openat(box_fd, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_errno(
            err, errno == ENOENT ? E_CONFIG : E_IO, errno, "cannot open '%s'", file_name);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > META_MAX)
        return err_set(
            err, E_CONFIG, "'%s' is not a regular file of at most %d bytes", file_name, META_MAX);
    return file_read(fd, META_MAX, file_name, text, err);
}

bool meta_load(
    int box_fd, struct str name, struct arena *arena, struct box_meta *ret_meta, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * META_MAX);
    AUTO_JSON json_t *tree = NULL;
    struct box_meta m;
    if (!meta_read_text(box_fd, &text, err) ||
        !json_parse(buf_str(&text), file_name, E_CONFIG, &tree, err))
        return false;
    if (!field_read(&box_meta_shape, tree, arena, E_CONFIG, &m, err))
        return err_wrap(err, "%s", file_name);
    struct box_workdir *w = &m.workdir;
    if (!meta_restore_path(arena, &w->inexact, "host_path", &w->host_path, err) ||
        !meta_restore_path(arena, &w->inexact, "mount_path", &w->mount_path, err) ||
        !meta_check(&m, name, err))
        return false;
    *ret_meta = m;
    return true;
}

const char *box_mode_name(enum box_mode mode)
{
    static const char *const names[] = {
        [BOX_COPY] = "copy",
        [BOX_OVERLAY] = "overlay",
        [BOX_RW] = "rw",
    };
    return names[mode];
}
