/* Writing goldens. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/golden_select.h"

#include "base/utf8.h"
#include "path/gitdir.h"
#include "path/home.h"
#include "path/lexical.h"
#include "path/root.h"
#include "path/selfrun.h"

enum {
    SHOWN_MAX = 8, /* names listed in a question */
    NAME_MAX_BYTES = 4096,
};

const char *const golden_select_modes[] = {"none", "missing", "changed", "stale", "all", NULL};
static const enum golden_mode modes[] = {
    GOLDEN_NONE, GOLDEN_MISSING, GOLDEN_CHANGED, GOLDEN_STALE, GOLDEN_ALL};

_Static_assert(ARRAY_LEN(modes) + 1 == ARRAY_LEN(golden_select_modes), "a mode for each word");

/* The scenario's directory relative to its project or to the home directory: a path that acts by
 * itself may start there. */
static struct str golden_scenario_place(struct arena *a, const struct scenario *s)
{
    struct root_found root;
    AUTO_ERR struct err ignored = {0};
    const char *home = home_dir(a);
    if (!s->dir.p)
        return STR("");
    const struct root_options options = {.home = home};
    if (root_detect(s->dir.p, &options, a, &root, &ignored) && root.marker.n &&
        lexical_is_below(root.dir, s->dir))
        return lexical_rest(root.dir, s->dir);
    struct str below = lexical_absolute(a, STR("/"), str_z(home ? home : "/"));
    return lexical_rest(lexical_is_below(below, s->dir) ? below : STR("/"), s->dir);
}

struct golden_place {
    struct arena *arena;
    struct str dir;
    const struct scenario *scenario;
};

/* Whether a golden would replace a file that determines what runs: a scenario, or this one's
 * policy. */
static bool golden_steers_run(const struct golden_place *p, struct str file)
{
    static const char *const ends[] = {".scenario.yaml", ".scenario.yml", ".scenario.json"};
    const struct scenario *s = p->scenario;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends_with(file, str_z(ends[i])))
            return true;
    struct str path = s->dir.p ? lexical_absolute(p->arena, s->dir, file) : file;
    return (s->reference.path.p && str_eq(path, s->reference.path)) ||
           (s->file.p && str_eq(path, s->file));
}

static const char *golden_refusal_reason(void *context, struct str file)
{
    const struct golden_place *p = context;
    if (golden_steers_run(p, file))
        return "it determines which programs run";
    struct str name, rest = file;
    while (lexical_next(&rest, &name))
        if (gitdir_stands_for_git(name) && name.n != 4)
            return "its name is equivalent to .git on other systems";
    const char *path = arena_printf(
        p->arena, STR_FMT "%s" STR_FMT, STR_ARG(p->dir), p->dir.n ? "/" : "", STR_ARG(file));
    return selfrun_reason(str_z(path));
}

struct str golden_select_missing(struct arena *arena, const struct scenario *s)
{
    AUTO_BUF struct buf names = BUF_INIT(SHOWN_MAX * NAME_MAX_BYTES);
    struct golden *g;
    size_t n = 0;
    for (size_t i = 0; (g = scenario_golden(s, i)); i++) {
        if (!golden_is_missing(g) || s->goldens->refuses(s->goldens->context, g->file))
            continue;
        if (n++ >= SHOWN_MAX)
            continue;
        buf_add_z(&names, names.n ? ", '" : "'");
        utf8_add_printable(&names, g->file);
        buf_add_byte(&names, '\'');
    }
    if (n > SHOWN_MAX)
        buf_printf(&names, " and %zu more", n - SHOWN_MAX);
    return n ? arena_str(arena, buf_str(&names)) : (struct str){0};
}

bool golden_select(
    struct arena *arena, const char *which, struct scenario *scenario, struct err *err)
{
    struct golden_home *home = scenario->goldens;
    struct golden_place *place = ARENA_NEW(arena, struct golden_place, 1);
    struct golden *g;
    if (!scenario_golden(scenario, 0))
        return true;
    *place = (struct golden_place){arena, golden_scenario_place(arena, scenario), scenario};
    home->refuses = golden_refusal_reason;
    home->context = place;
    size_t mode = 0;
    while (which && strcmp(golden_select_modes[mode], which) != 0)
        mode++;
    home->mode = modes[mode];
    for (size_t i = 0; (g = scenario_golden(scenario, i)); i++)
        if (!golden_check(g, err))
            return false;
    return true;
}
