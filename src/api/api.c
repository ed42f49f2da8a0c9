/* Errors, paths and boundaries of the public C API. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "path/boundary.h"
#include "path/caret.h"
#include "path/glob.h"
#include "path/home.h"
#include "path/root.h"

#include <errno.h>
#include <fcntl.h>

void cordon_error_clear(struct cordon_error *error)
{
    free(error->message);
    free(error->json);
    *error = (struct cordon_error){0};
}

const char *cordon_version(void)
{
    return CORDON_VERSION;
}

void api_give_error(struct err *err, struct cordon_error *error)
{
    if (!error)
        return;
    AUTO_BUF struct buf json = BUF_INIT(1 << 20);
    AUTO_JSON json_t *tree = err_to_json(err);
    json_add_compact(&json, tree);
    cordon_error_clear(error);
    error->code = err_name(err->code);
    error->exit_status = err_status(err->code);
    error->message = strdup(err->message);
    BUG_ON(!error->message);
    error->json = buf_take(&json);
}

static char *copy_out(struct str s)
{
    char *copy = base_alloc(s.n + 1);
    memcpy(copy, s.p, s.n);
    return copy;
}

char *cordon_path_encode(const void *bytes, size_t n)
{
    AUTO_BUF struct buf out = BUF_INIT(CARET_GROWTH * n + 64);
    caret_encode(str_n(bytes, n), &out);
    return buf_take(&out);
}

char *cordon_path_decode(const char *encoded, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(strlen(encoded) + 64);
    if (caret_decode(str_z(encoded), CARET_PATH, &out, &err))
        return buf_take(&out);
    api_give_error(&err, error);
    return NULL;
}

char *cordon_project_root(const char *start, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)API_ARENA_MAX);
    struct root_found root;
    struct root_options options = {.home = home_dir(&a)};
    if (root_detect(start, &options, &a, &root, &err))
        return copy_out(root.dir);
    api_give_error(&err, error);
    return NULL;
}

struct cordon_boundary *cordon_boundary_new(void)
{
    return (struct cordon_boundary *)boundary_new();
}

void cordon_boundary_free(struct cordon_boundary *b)
{
    boundary_free((struct boundary *)b);
}

int cordon_boundary_add(struct cordon_boundary *b, const char *dir, enum cordon_access access,
    struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    enum boundary_access own = access == CORDON_READ_WRITE ? BOUNDARY_RW : BOUNDARY_RO;
    bool known = access == CORDON_READ_WRITE || access == CORDON_READ_ONLY;
    if (!known)
        err_set(&err, E_CLI_INVALID_ARG, "%d is no access", (int)access);
    else if (boundary_add((struct boundary *)b, dir, own, BOUNDARY_USER_PROJECT, &err))
        return 0;
    api_give_error(&err, error);
    return -1;
}

static bool has_roots(const struct cordon_boundary *b, struct err *err)
{
    if (boundary_has_roots((const struct boundary *)b))
        return true;
    return err_set(err, E_CLI_INVALID_ARG, "no directory has been added to the boundary");
}

char *cordon_boundary_resolve(
    struct cordon_boundary *b, const char *path, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)API_ARENA_MAX);
    struct resolved r;
    if (has_roots(b, &err) && boundary_resolve((struct boundary *)b, str_z(path), &a, &r, &err))
        return copy_out(r.path);
    api_give_error(&err, error);
    return NULL;
}

int cordon_boundary_open(
    struct cordon_boundary *b, const char *path, int flags, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    int fd = -1;
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)
        err_set(&err, E_CLI_INVALID_ARG, "a boundary opens only what is there, it makes no files");
    else if (has_roots(b, &err))
        fd = boundary_open((struct boundary *)b, str_z(path), flags, &err);
    if (fd < 0)
        api_give_error(&err, error);
    return fd;
}

struct glob_call {
    int (*found)(void *context, const char *path, size_t n);
    void *context;
};

static bool pass_on(void *context, struct str path)
{
    struct glob_call *call = context;
    return call->found(call->context, path.p, path.n) != 0;
}

int cordon_glob(const char *root, const char *pattern,
    int (*found)(void *context, const char *path, size_t n), void *context,
    struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)API_ARENA_MAX);
    AUTO_FD int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct glob_call call = {found, context};
    struct glob *glob;
    bool ok = fd >= 0 || err_errno(&err, E_IO, errno, "cannot use '%s' as a directory", root);
    ok = ok && glob_compile(str_z(pattern), &a, &glob, &err) &&
         glob_find(fd, glob, &(struct walk_options){.ignore = true}, pass_on, &call, &err);
    if (!ok)
        api_give_error(&err, error);
    return ok ? 0 : -1;
}
