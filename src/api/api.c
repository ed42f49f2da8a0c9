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
    if (!error)
        return;
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
    api_name_members(err);
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

int api_return(bool ok, struct err *err, struct cordon_error *error)
{
    if (!ok)
        api_give_error(err, error);
    return ok ? 0 : -1;
}

char *api_return_text(bool ok, struct buf *text, struct err *err, struct cordon_error *error)
{
    ok = ok && (buf_ok(text) || err_set(err, E_IO, "the result is too large"));
    if (ok)
        return buf_take(text);
    api_give_error(err, error);
    return NULL;
}

char *api_return_json(bool ok, json_t *tree, struct err *err, struct cordon_error *error)
{
    AUTO_JSON json_t *own = tree;
    AUTO_BUF struct buf text = BUF_INIT(API_JSON_MAX);
    if (ok)
        json_add_compact(&text, own);
    return api_return_text(ok, &text, err, error);
}

static char *copy_out(struct str s)
{
    char *copy = base_alloc(s.n + 1);
    memcpy(copy, s.p, s.n);
    return copy;
}

bool api_given(const char *name, const void *argument, struct err *err)
{
    return argument || err_set(err, E_CLI_INVALID_ARG, "%s must not be NULL", name);
}

bool api_not_empty(const char *name, const char *argument, struct err *err)
{
    return !argument || argument[0] ||
           err_set(err, E_CLI_INVALID_ARG, "%s must not be empty", name);
}

char *cordon_path_encode(const void *bytes, size_t n)
{
    if (n > API_ENCODE_MAX || (n && !bytes))
        return NULL;
    AUTO_BUF struct buf out = BUF_INIT(CARET_GROWTH * n + 64);
    caret_encode(str_n(bytes, n), &out);
    return buf_take(&out);
}

char *cordon_path_decode(const char *encoded, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    struct str text = str_z(encoded);
    AUTO_BUF struct buf out = BUF_INIT(text.n + 64);
    if (api_given("encoded", encoded, &err) && caret_decode(text, CARET_PATH, &out, &err))
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
    if (api_given("start", start, &err) && root_detect(start, &options, &a, &root, &err))
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
        err_set(&err, E_CLI_INVALID_ARG, "invalid access %d", (int)access);
    else if (api_given("dir", dir, &err) &&
             boundary_add((struct boundary *)b, dir, own, BOUNDARY_USER_PROJECT, &err))
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
    if (api_given("path", path, &err) && has_roots(b, &err) &&
        boundary_resolve((struct boundary *)b, str_z(path), &a, &r, &err))
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
        err_set(&err, E_CLI_INVALID_ARG,
            "a boundary opens only existing files: O_CREAT and O_TMPFILE are not supported");
    else if (api_given("path", path, &err) && has_roots(b, &err))
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
    AUTO_FD int fd = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    struct glob_call call = {found, context};
    struct glob *glob;
    bool ok = api_given("root", root, &err) && api_given("pattern", pattern, &err) &&
              api_given("found", (const void *)(uintptr_t)found, &err);
    if (ok && fd < 0)
        ok = err_errno(&err, E_IO, errno, "cannot use '%s' as a directory", root);
    ok = ok && glob_compile(str_z(pattern), &a, &glob, &err) &&
         glob_find(fd, glob, &(struct walk_options){.ignore = true}, pass_on, &call, &err);
    if (!ok)
        api_give_error(&err, error);
    return ok ? 0 : -1;
}
