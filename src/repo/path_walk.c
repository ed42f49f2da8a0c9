/* Follows a path step by step. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/path_walk.h"

#include "path/lexical.h"

#include <sys/stat.h>

enum {
    LINKS_MAX = 40
}; /* same as the kernel's limit */

static void path_walk_step_up(struct path_walk *w)
{
    while (w->n && w->path[w->n - 1] != '/')
        w->n--;
    w->n -= w->n > 0;
    w->path[w->n] = '\0';
}

static bool path_walk_step_down(struct path_walk *w, struct str component)
{
    w->too_long = w->n + 1 + component.n >= sizeof(w->path);
    if (w->too_long)
        return false;
    w->path[w->n++] = '/';
    memcpy(w->path + w->n, component.p, component.n);
    w->path[w->n += component.n] = '\0';
    return true;
}

/* Continues with the target of the symlink at the current path. */
static bool path_walk_step_link(struct path_walk *w)
{
    char target[PATH_MAX], next[PATH_WALK_LONG];
    ssize_t n = readlink(w->path, target, sizeof(target));
    if (n <= 0 || n == sizeof(target) || w->links++ == LINKS_MAX ||
        (size_t)n + 1 + w->left.n >= sizeof(next))
        return false;
    memcpy(next, target, (size_t)n);
    next[n] = '/';
    memcpy(next + n + 1, w->left.p, w->left.n);
    w->left = str_n(w->rest, (size_t)n + 1 + w->left.n);
    memcpy(w->rest, next, w->left.n);
    if (target[0] == '/')
        w->path[w->n = 0] = '\0';
    else
        path_walk_step_up(w);
    return true;
}

bool path_walk_follow(struct path_walk *w, struct str path, size_t prefix)
{
    struct stat st;
    struct str component;
    w->n = prefix;
    w->links = 0;
    w->too_long = path.n >= sizeof(w->rest) || prefix >= sizeof(w->path);
    if (w->too_long)
        return false;
    memcpy(w->path, path.p, prefix);
    w->path[prefix] = '\0';
    memcpy(w->rest, path.p, path.n);
    w->left = str_n(w->rest + prefix, path.n - prefix);
    while (lexical_next(&w->left, &component)) {
        if (str_is(component, "."))
            continue;
        if (str_is(component, "..")) {
            path_walk_step_up(w);
            continue;
        }
        if (!path_walk_step_down(w, component))
            return false;
        if (lstat(w->path, &st) != 0 || !S_ISLNK(st.st_mode))
            continue;
        if (w->on_link)
            w->on_link(w->context, str_n(w->path, w->n));
        if (!path_walk_step_link(w))
            return false;
    }
    return w->n > 0;
}
