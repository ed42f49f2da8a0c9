/* Lexical path operations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/lexical.h"

#include "base/buf.h"

#include <errno.h>

bool lexical_is_below(struct str dir, struct str path)
{
    dir = str_trim_end(dir, '/'); /* "/" becomes "" */
    return str_starts_with(path, dir) && (path.n == dir.n || path.p[dir.n] == '/');
}

struct str lexical_rest(struct str dir, struct str path)
{
    BUG_ON(!lexical_is_below(dir, path));
    struct str rest = str_skip(path, str_trim_end(dir, '/').n);
    while (rest.n && rest.p[0] == '/')
        rest = str_skip(rest, 1);
    return rest;
}

bool lexical_next(struct str *rest, struct str *ret_component)
{
    while (rest->n && rest->p[0] == '/')
        *rest = str_skip(*rest, 1);
    return str_cut(*rest, '/', ret_component, rest);
}

struct str lexical_name(struct str path)
{
    path = str_trim_end(path, '/');
    ptrdiff_t slash = str_find_last(path, '/');
    return slash < 0 ? path : str_skip(path, (size_t)slash + 1);
}

static void lexical_add_clean(struct buf *b, struct str path)
{
    struct str component;
    while (lexical_next(&path, &component)) {
        if (str_is(component, "."))
            continue;
        if (str_is(component, "..")) {
            ptrdiff_t slash = str_find_last(buf_str(b), '/');
            buf_truncate(b, slash < 0 ? 0 : (size_t)slash);
            continue;
        }
        buf_add_byte(b, '/');
        buf_add_str(b, component);
    }
}

struct str lexical_absolute(struct arena *a, struct str base, struct str path)
{
    BUG_ON(base.n == 0 || base.p[0] != '/');
    AUTO_BUF struct buf b = BUF_INIT(base.n + path.n + 3);
    if (path.n == 0 || path.p[0] != '/')
        lexical_add_clean(&b, base);
    lexical_add_clean(&b, path);
    if (b.n == 0)
        buf_add_byte(&b, '/');
    BUG_ON(!buf_ok(&b));
    return arena_str(a, buf_str(&b));
}

bool lexical_cwd(struct arena *a, struct str *ret_cwd, struct err *err)
{
    AUTO_FREE char *cwd = getcwd(NULL, 0);
    if (!cwd || cwd[0] != '/')
        return err_errno(
            err, E_IO, cwd ? ENOENT : errno, "cannot determine the path of the current directory");
    *ret_cwd = arena_str(a, str_z(cwd));
    return true;
}

bool lexical_has_dots(struct str path)
{
    struct str component;
    while (lexical_next(&path, &component))
        if (str_is(component, ".."))
            return true;
    return false;
}
