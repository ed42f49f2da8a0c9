/* The status line: directory, branch, model, boundary, usage, elapsed time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "chat/agent_view.h"
#include "chat/chat.h"
#include "path/gitdir.h"
#include "tui/bar.h"

#include <fcntl.h>

enum {
    PIECE_MAX = 512,
    LOOK_MS = 1000, /* interval for checking the branch */
    PARENTS_MAX = 64,
};

/* Items with a higher weight are kept longer if the line is too narrow. */
enum chat_status_weight {
    WEIGHT_TOKENS = 1,
    WEIGHT_COST,
    WEIGHT_BRANCH,
    WEIGHT_FULL,
    WEIGHT_MODEL,
    WEIGHT_ELAPSED,
    WEIGHT_WITHIN, /* the boundary: a user must know it on any screen */
    WEIGHT_DIR,
};

/* Looks up the branch of the repository that contains the directory. */
static void look_at_branch(struct chat_place *p, const char *cwd)
{
    uint64_t now = clock_mono_ms();
    if (p->looked_ms && now - p->looked_ms < LOOK_MS)
        return;
    p->looked_ms = now;
    buf_reset(&p->branch);
    AUTO_FD int dir = open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < PARENTS_MAX && dir >= 0 && !gitdir_present(dir); i++) {
        int parent = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(dir);
        dir = parent;
    }
    if (dir >= 0)
        gitdir_add_head(dir, &p->branch);
}

static void add_within(const struct chat *chat, struct buf *b)
{
    const struct agent_options *o = chat->setup.options;
    if (o->box)
        buf_printf(b, "box %s", o->box);
    else
        buf_add_z(b, toolbox_mode_names[chat->setup.tools.options.mode]);
    if (o->tools.policy) {
        struct str path = str_z(o->tools.policy);
        buf_add_byte(b, ' ');
        buf_add_str(b, str_skip(path, (size_t)(str_find_last(path, '/') + 1)));
    }
    if (chat->setup.tools.options.no_sandbox)
        buf_add_z(b, " no sandbox");
    else if (chat->setup.tools.options.landlock && !o->box)
        buf_add_z(b, " landlock");
}

static void add_elapsed(const struct chat *chat, struct buf *b)
{
    unsigned long long s = (clock_mono_ms() - chat->began_ms) / 1000;
    if (!chat->busy)
        return;
    if (s < 60)
        buf_printf(b, "%llu s", s);
    else
        buf_printf(b, "%llu min %llu s", s / 60, s % 60);
}

void chat_status_add(struct chat *chat, unsigned width, struct text *region)
{
    AUTO_BUF struct buf within = BUF_INIT(4 * PIECE_MAX), used = BUF_INIT(PIECE_MAX);
    AUTO_BUF struct buf full = BUF_INIT(PIECE_MAX), elapsed = BUF_INIT(PIECE_MAX);
    struct str cwd = str_z(chat->setup.tools.options.cwd), cost, tokens = {0};
    struct bar bar = {0};
    look_at_branch(&chat->place, cwd.p);
    add_within(chat, &within);
    add_elapsed(chat, &elapsed);
    agent_view_used(&chat->used, agent_setup_model(&chat->setup), &used);
    if (!str_cut(buf_str(&used), '$', &tokens, &cost))
        cost = STR("");
    if (chat->window && chat->context)
        buf_printf(&full, "%llu%% full", (unsigned long long)(100 * chat->context / chat->window));
    if (cost.n) /* including the dollar sign */
        cost = str_skip(buf_str(&used), tokens.n);
    struct str name = str_skip(cwd, (size_t)(str_find_last(cwd, '/') + 1));
    bar_add(&bar, WEIGHT_DIR, THEME_DIM, name.n ? name : cwd);
    bar_add(&bar, WEIGHT_BRANCH, THEME_DIM, buf_str(&chat->place.branch));
    bar_add(&bar, WEIGHT_MODEL, THEME_DIM, str_z(provider_model(chat->setup.provider)));
    bar_add(&bar, WEIGHT_WITHIN, THEME_DIM, buf_str(&within));
    bar_add(&bar, WEIGHT_TOKENS, THEME_DIM, str_trim_end(tokens, ' '));
    bar_add(&bar, WEIGHT_COST, THEME_DIM, cost);
    bar_add(&bar, WEIGHT_FULL, THEME_DIM, buf_str(&full));
    bar_add(&bar, WEIGHT_ELAPSED, THEME_DIM, buf_str(&elapsed));
    bar_put(&bar, width, region);
}
