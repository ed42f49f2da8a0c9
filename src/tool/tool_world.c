/* The world of a toolbox. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool_world.h"

#include "repo/protect.h"
#include "tool/sessions.h"
#include "tool/tool.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Identifies what is mounted: the same number can be given to a new file. */
struct world_stamp {
    struct str path;
    uint32_t dev_major, dev_minor;
    uint64_t ino;
    struct statx_timestamp at;
};

bool tool_world_is_wanted(const struct toolbox_options *o)
{
    return !o->one_call && !o->no_sandbox && !o->landlock &&
           (!o->policy ||
               (o->policy->sandbox != POLICY_LANDLOCK && o->policy->sandbox != POLICY_NO_SANDBOX));
}

/* Protected paths ------------------------------------------------------------------------------ */

/* A directory keeps its mount until it is removed. A file loses it with its name, which it can get
 * back by a link: so it counts as new when it was changed in any way. */
static void stamp_take(struct str path, struct world_stamp *ret_stamp)
{
    struct statx st;
    *ret_stamp = (struct world_stamp){.path = path};
    if (statx(AT_FDCWD, path.p, AT_SYMLINK_NOFOLLOW,
            STATX_TYPE | STATX_INO | STATX_BTIME | STATX_CTIME, &st) != 0)
        return;
    const bool born = S_ISDIR(st.stx_mode) && st.stx_mask & STATX_BTIME;
    ret_stamp->dev_major = st.stx_dev_major;
    ret_stamp->dev_minor = st.stx_dev_minor;
    ret_stamp->ino = st.stx_ino;
    ret_stamp->at = born ? st.stx_btime : st.stx_ctime;
}

static bool stamp_holds(const struct world_stamp *s, struct str path)
{
    struct world_stamp now;
    if (!str_eq(s->path, path))
        return false;
    stamp_take(path, &now);
    return now.dev_major == s->dev_major && now.dev_minor == s->dev_minor && now.ino == s->ino &&
           now.at.tv_sec == s->at.tv_sec && now.at.tv_nsec == s->at.tv_nsec;
}

static void take_stamps(struct tool_world *w)
{
    const struct confined *c = &w->confined;
    w->n_stamps = c->n_kept;
    w->stamps = ARENA_NEW(&w->arena, struct world_stamp, c->n_kept);
    for (size_t i = 0; i < c->n_kept; i++)
        stamp_take(c->kept[i], &w->stamps[i]);
}

/* Begins a command: what is there now is the user's. */
static bool stamps_hold(struct toolbox *box, const struct tool_world *w)
{
    AUTO_ARENA struct arena a = ARENA_INIT(VERDICT_ARENA);
    struct str *paths = NULL;
    const size_t n = box->protect ? protect_kept(box->protect, &a, &paths) : 0;
    bool same = n == w->n_stamps;
    for (size_t i = 0; same && i < n; i++)
        same = stamp_holds(&w->stamps[i], paths[i]);
    return same;
}

/* Worlds -------------------------------------------------------------------------------------- */

struct tool_world *tool_world_new(void)
{
    struct tool_world *w = base_alloc(sizeof(*w));
    w->arena = ARENA_INIT(VERDICT_ARENA);
    return w;
}

void tool_world_drop(struct toolbox *box, struct tool_world *w)
{
    sessions_leave_world(box->sessions, w->world);
    world_close(w->world);
    denied_free(w->confined.denied);
    arena_done(&w->arena);
    free(w);
}

static void drop_oldest_worlds(struct toolbox *box)
{
    struct tool_world **at = &box->world;
    for (size_t i = 0; *at && i < TOOL_WORLDS_MAX; i++)
        at = &(*at)->next;
    while (*at) {
        struct tool_world *w = *at;
        *at = w->next;
        tool_world_drop(box, w);
    }
}

bool tool_world_open(struct toolbox *box, struct tool_world *w, struct err *err)
{
    take_stamps(w); /* before the mounts: what is replaced in between is noticed */
    if (!box->options->no_denials)
        w->confined.denied = denied_new();
    if (!world_open(&w->confined.plan, w->confined.denied, &w->world, err))
        return false;
    w->next = box->world;
    box->world = w;
    drop_oldest_worlds(box);
    return true;
}

struct tool_world *tool_world_current(struct toolbox *box)
{
    struct tool_world *w = box->world;
    if (!w)
        return NULL;
    world_handle_events(w->world);
    if (world_is_gone(w->world)) {
        box->new_world = "the sandbox of this session had ended, and a new one was started: /tmp "
                         "and HOME are empty again";
        return NULL;
    }
    const bool holds = stamps_hold(box, w); /* always: it begins a command */
    if (holds && !world_is_stale(w->world))
        return w;
    if (holds)
        box->new_world = "file systems in the project were mounted or unmounted, so commands run "
                         "in a new sandbox: /tmp and HOME are empty again, and servers that were "
                         "started before cannot be reached";
    else
        box->new_world =
            "a protected part of a repository was changed outside, so commands run in a "
            "new sandbox: /tmp and HOME are empty again, and servers that were started "
            "before cannot be reached";
    return NULL;
}

bool tool_worlds_are_busy(struct toolbox *box)
{
    bool busy = false;
    for (struct tool_world **at = &box->world; *at;) {
        struct tool_world *w = *at;
        const bool works = world_is_busy(w->world);
        busy |= works;
        if (works || w == box->world) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        tool_world_drop(box, w);
    }
    return busy;
}

int tool_world_descriptor(const struct toolbox *box)
{
    return box->world ? world_descriptor(box->world->world) : -1;
}

void tool_world_handle_events(struct toolbox *box)
{
    if (box->world)
        world_handle_events(box->world->world);
}

bool tool_world_needs_tending(const struct toolbox *box)
{
    return box->world && world_has_left(box->world->world);
}

void tool_world_tell(struct toolbox *box, struct tool_result *result)
{
    if (!box->new_world)
        return;
    tool_detail(result, "new_sandbox", json_true());
    buf_printf(&result->content, "%s[%s]\n",
        result->content.n && result->content.p[result->content.n - 1] != '\n' ? "\n" : "",
        box->new_world);
    box->new_world = NULL;
}

void tool_worlds_close(struct toolbox *box)
{
    while (box->world) {
        struct tool_world *w = box->world;
        box->world = w->next;
        tool_world_drop(box, w);
    }
}
