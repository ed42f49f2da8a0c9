/* Sets forbidden changes aside after a command. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "io/dir.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "repo/force.h"
#include "repo/gitdir_links.h"
#include "repo/gitdir_target.h"
#include "repo/gitlink_check.h"
#include "repo/known.h"
#include "repo/quarantine.h"
#include "repo/tree.h"
#include "repo/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    WHAT_MAX = 400, /* bytes of a description */
    POINTER_MAX = PATH_MAX + 64,
    REPORT_SPARE = 1 << 20, /* bytes of the session's arena that reports must leave free */
    HOOKS_MAX = 20000,      /* entries of a hooks directory */
    HEAD_BYTES = 255,       /* that git reads from a HEAD */
};

struct check_context {
    struct protect *p;
    struct protect_root *root;
    struct arena *arena;
    bool *would;  /* NULL: set things aside; otherwise only note whether anything would be */
    bool touched; /* something was set aside, or should have been */
};

/* Returns the earlier state of a place; NULL in a trial. */
static struct known_place *check_find_known(
    const struct check_context *c, const struct scan_place *place)
{
    return c->would ? NULL : (struct known_place *)known_find(c->root, place);
}

static bool is_trial(struct check_context *c)
{
    if (c->would)
        *c->would = true;
    return c->would;
}

/* Returns the list slot for a held file: one that could not be moved replaces one that was. */
static struct protect_held *check_held_slot(struct protect *p, const struct protect_held *held)
{
    size_t bytes = held->path.n + held->what.n + held->where.n + held->why.n;
    if (arena_left(&p->arena) < bytes + REPORT_SPARE)
        return NULL;
    if (p->n_held < PROTECT_HELD_MAX)
        return &p->held[p->n_held++];
    for (size_t i = p->n_held; known_is_stuck(held) && i-- > 0;)
        if (!known_is_stuck(&p->held[i]))
            return &p->held[i];
    return NULL;
}

void protect_add_held(struct protect *p, const struct protect_held *held)
{
    p->stuck |= held->errnum != 0;
    p->n_reported++;
    size_t n = p->n_held;
    struct protect_held *h = check_held_slot(p, held);
    p->n_unnamed += p->n_held == n;
    if (!h)
        return;
    *h = (struct protect_held){.path = arena_str(&p->arena, held->path),
        .what = arena_str(&p->arena, held->what),
        .errnum = held->errnum};
    if (held->why.n)
        h->why = arena_str(&p->arena, held->why);
    if (!known_is_stuck(held))
        h->where = arena_str(&p->arena, held->where);
}

static void check_report(struct check_context *c, const struct protect_held *held)
{
    c->touched = true;
    protect_add_held(c->p, held);
}

/* The path is relative to the root. */
static bool is_accepted(const struct check_context *c, struct str path, struct str bytes)
{
    const struct protect_options *o = &c->p->options;
    return o->accepted && o->accepted(o->context, known_absolute(c->root, path, c->arena), bytes);
}

static struct str check_join_path(struct check_context *c, struct str dir, const char *name)
{
    return str_z(arena_printf(c->arena, STR_FMT "%s%s", STR_ARG(dir), dir.n ? "/" : "", name));
}

/* A part of an open directory. */
struct check_part {
    int dir;
    struct str path; /* path of the directory, relative to the root */
    const char *name;
};

/* Reports a part that was moved to `where`, in its directory; errnum if that failed. */
static void check_report_part(struct check_context *c, const struct check_part *part,
    const char *where, struct str what, int errnum)
{
    check_report(c,
        &(struct protect_held){
            .path = known_absolute(c->root, check_join_path(c, part->path, part->name), c->arena),
            .where = known_absolute(c->root, check_join_path(c, part->path, where), c->arena),
            .what = what,
            .errnum = errnum});
}

static void check_hold_part(struct check_context *c, const struct check_part *part, struct str what)
{
    AUTO_BUF struct buf where = BUF_INIT(PATH_MAX);
    if (is_trial(c))
        return;
    int errnum = quarantine_part(part->dir, part->name, &where);
    if (errnum == ENOENT)
        return;
    check_report_part(c, part, buf_z(&where), what, errnum);
}

static bool has_accepted_file(struct check_context *c, const struct check_part *part)
{
    AUTO_BUF struct buf bytes = BUF_INIT(2 * PROTECT_FILE_MAX);
    return quarantine_read(part->dir, part->name, &bytes) &&
           is_accepted(c, check_join_path(c, part->path, part->name), buf_str(&bytes));
}

/* Settings --------------------------------------------------------------------------------------
 */

static void check_add_key(struct buf *what, const struct gitconfig_entry *e)
{
    buf_add_z(what, what->n ? ", " : "the settings ");
    utf8_add_printable(what, e->section);
    if (e->subsection.p) {
        buf_add_byte(what, '.');
        utf8_add_printable(what, e->subsection);
    }
    buf_add_byte(what, '.');
    utf8_add_printable(what, e->name);
}

static bool check_same_entry(const struct gitconfig_entry *a, const struct gitconfig_entry *b)
{
    return str_eq(a->section, b->section) && str_eq(a->subsection, b->subsection) &&
           str_eq(a->name, b->name) && str_eq(a->value, b->value);
}

static bool check_has_entry(const struct gitconfig *config, const struct gitconfig_entry *e)
{
    for (size_t i = 0; i < config->n; i++)
        if (check_same_entry(&config->p[i], e))
            return true;
    return false;
}

/* `git submodule` writes the path of the work tree, and the `.git` file there points back. */
static bool is_own_worktree(
    const struct check_context *c, const struct check_part *part, const struct gitconfig_entry *e)
{
    return tree_is_setting(e) && tree_is_own(c->root, part->path, e->value);
}

/* The settings that may stay: those that existed before, and those that are harmless here. */
struct rule {
    struct str before; /* the text when the command started; no value: none existed */
    bool (*allows)(const struct gitconfig_entry *e);
};

static bool may_stay(struct check_context *c, const struct check_part *part,
    const struct rule *rule, const struct gitconfig *old, const struct gitconfig_entry *e)
{
    return rule->allows(e) || check_has_entry(old, e) ||
           (rule->allows == parts_setting_is_plain && is_own_worktree(c, part, e));
}

/* Nothing is kept of a text that git may refuse to read. */
static bool split_settings(struct check_context *c, const struct check_part *part, struct str text,
    const struct rule *rule, struct arena *a, struct buf *plain, struct buf *what)
{
    struct gitconfig config, old = {0};
    if (rule->before.n && !gitconfig_parse(rule->before, a, &old))
        old = (struct gitconfig){0};
    if (!gitconfig_parse(text, a, &config)) {
        buf_add_z(what, "settings that cannot be read");
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < config.n; i++) {
        if (may_stay(c, part, rule, &old, &config.p[i]))
            config.p[n++] = config.p[i];
        else if (what->n < WHAT_MAX)
            check_add_key(what, &config.p[i]);
    }
    if (n < config.n)
        gitconfig_write(config.p, n, plain);
    return n == config.n;
}

static void check_settings(
    struct check_context *c, const struct check_part *part, const struct rule *rule)
{
    AUTO_ARENA struct arena a = ARENA_INIT(32 << 20);
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    AUTO_BUF struct buf plain = BUF_INIT(4 * PROTECT_FILE_MAX);
    AUTO_BUF struct buf what = BUF_INIT(4 * WHAT_MAX), where = BUF_INIT(PATH_MAX);
    struct known_name now = known_read_name(part->dir, part->name, c->arena);
    if (!now.type)
        return;
    if (!S_ISREG(now.type) || !quarantine_read(part->dir, part->name, &text)) {
        check_hold_part(c, part, STR("settings that are not a regular file"));
        return;
    }
    if (split_settings(c, part, buf_str(&text), rule, &a, &plain, &what) ||
        is_accepted(c, check_join_path(c, part->path, part->name), buf_str(&text)) || is_trial(c))
        return;
    if (!buf_ok(&plain))
        buf_reset(&plain);
    int errnum = quarantine_settings(part->dir, part->name, buf_str(&plain), &where);
    struct str from = check_join_path(c, part->path, part->name);
    check_report(c, &(struct protect_held){.path = known_absolute(c->root, from, c->arena),
                        .where = known_absolute(
                            c->root, check_join_path(c, part->path, buf_z(&where)), c->arena),
                        .what = buf_str(&what),
                        .errnum = errnum});
}

/* Hooks -----------------------------------------------------------------------------------------
 */

/* Each name has its own arena: there may be very many. */
static void check_hook(struct check_context *all, const struct check_part *hooks, const char *file)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct check_context c = *all;
    c.arena = &a;
    struct check_part hook = {
        hooks->dir, hooks->path, arena_printf(&a, "%s/%s", hooks->name, file)};
    if (!has_accepted_file(&c, &hook))
        check_hold_part(&c, &hook, STR("a hook"));
    all->touched |= c.touched;
}

static void check_hooks(struct check_context *c, const struct check_part *part)
{
    struct known_name now = known_read_name(part->dir, part->name, c->arena);
    if (now.type && !S_ISDIR(now.type)) {
        check_hold_part(c, part, STR("a link instead of the hooks directory"));
        return;
    }
    AUTO_DIR struct dir d = DIR_INIT(HOOKS_MAX);
    bool listed = dir_take(&d, force_open(part->dir, part->name, true));
    while (listed && dir_next(&d))
        if (!str_ends_with(str_z(d.name), STR(".sample")))
            check_hook(c, part, d.name);
    if (d.cut)
        check_hold_part(c, part, STR("too many hooks to check"));
    else if (now.type && !dir_complete(&d))
        check_hold_part(c, part, STR("hooks that cannot be listed"));
}

/* Repositories ----------------------------------------------------------------------------------
 */

/* The git directory of a work tree made by `git worktree add`. */
static bool is_worktree(struct check_context *c, const struct check_part *part)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    struct str above = known_above(part->path);
    if (!str_is(above, "worktrees") && !str_ends_with(above, STR("/worktrees")))
        return false;
    struct str gitdir = arena_str(c->arena, known_above(above));
    const struct scan_place *place = scan_find(&c->root->scan, gitdir);
    return place && place->kind == SCAN_GITDIR && quarantine_read(part->dir, part->name, &text) &&
           str_is(str_trim_end(buf_str(&text), '\n'), "../..");
}

static bool is_empty_dir(const struct check_part *part)
{
    AUTO_DIR struct dir d = DIR_INIT(0);
    return dir_take(&d, force_open(part->dir, part->name, true)) && !dir_next(&d) &&
           dir_complete(&d);
}

static bool is_jj_name(const char *name)
{
    return strcmp(name, PARTS_JJ_REPO) == 0 || strcmp(name, PARTS_JJ_TARGET) == 0;
}

/* A jj file that points to the repository of a work tree in the same tree, or to git's. */
static bool is_jj_way(struct check_context *c, const struct check_part *part)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    bool is_repo = strcmp(part->name, PARTS_JJ_REPO) == 0;
    if (!quarantine_read(part->dir, part->name, &text) || text.n > POINTER_MAX ||
        memchr(text.p, '\0', text.n))
        return false;
    struct str above = is_repo ? part->path : check_join_path(c, part->path, "repo/store");
    struct str line = str_trim_end(buf_str(&text), '\n');
    struct str to = lexical_absolute(c->arena, known_absolute(c->root, above, c->arena), line);
    if (!lexical_is_below(c->root->path, to))
        return false;
    struct str inner = arena_str(c->arena, lexical_rest(c->root->path, to));
    if (is_repo && !str_ends_with(inner, STR(".jj/" PARTS_JJ_REPO)))
        return false;
    if (is_repo)
        inner = arena_str(c->arena, str_head(inner, inner.n - strlen("/" PARTS_JJ_REPO)));
    const struct scan_place *place = scan_find(&c->root->scan, inner);
    return place && place->kind == (is_repo ? SCAN_JJ : SCAN_GITDIR);
}

/* Returns the known repository of a path, which is not merely a directory that git does not accept
 * yet. */
static const struct known_place *find_owner(const struct check_context *c, struct str path)
{
    const struct protect_root *r = c->root->before ? c->root->before : c->root;
    const struct scan_place *place = scan_find(&c->root->scan, path);
    const struct known_place *known = place ? known_find(r, place) : NULL;
    return known && known->kind == SCAN_GITDIR && !known->dormant ? known : NULL;
}

/* The first settings of a work tree. Those of a known repository's are also settings of that
 * repository: only what `git sparse-checkout` writes may be added to it, and to a new work tree
 * what `git worktree add` copies. */
static void check_tree_settings(struct check_context *c, const struct check_part *part)
{
    struct rule rule = {.before = STR(""), .allows = parts_setting_is_plain};
    struct str above = known_above(part->path);
    const struct known_place *owner = find_owner(c, part->path);
    if (owner) {
        rule.allows = parts_setting_is_sparse;
    } else if (str_is(lexical_name(above), "worktrees") &&
               (owner = find_owner(c, arena_str(c->arena, known_above(above))))) {
        rule.allows = parts_setting_is_sparse;
        rule.before = owner->texts[1].ino ? owner->texts[1].text : STR("");
    }
    check_settings(c, part, &rule);
}

/* Checks a part that did not exist when the session began, or whose repository did not. */
static void check_new_part(
    struct check_context *c, enum scan_kind kind, const struct check_part *part)
{
    struct stat st;
    const char *name = part->name;
    if (kind == SCAN_GITDIR && strcmp(name, "config") == 0)
        check_settings(c, part, &(struct rule){STR(""), parts_setting_is_plain});
    else if (kind == SCAN_GITDIR && strcmp(name, "config.worktree") == 0)
        check_tree_settings(c, part);
    else if (kind == SCAN_GITDIR && strcmp(name, "hooks") == 0)
        check_hooks(c, part);
    else if (strcmp(name, PARTS_HELD) == 0)
        return;
    else if (strcmp(name, "gitdir") == 0 &&
             tree_back_is_plain(c->p, c->root, part->dir, part->path))
        return;
    else if (strcmp(name, "commondir") == 0 && is_worktree(c, part))
        return;
    else if (kind == SCAN_JJ && is_jj_name(name) && is_jj_way(c, part))
        return;
    else if (fstatat(part->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
             !parts_is_free(kind, name, st.st_mode & S_IFMT) &&
             !(S_ISREG(st.st_mode) && st.st_size == 0 && strcmp(name, "commondir") != 0) &&
             !(S_ISDIR(st.st_mode) && is_empty_dir(part)) && !has_accepted_file(c, part))
        check_hold_part(c, part,
            strcmp(name, "commondir") == 0 ? STR("points to another repository")
            : strcmp(name, "gitdir") == 0  ? STR("points to another work tree")
                                           : STR("controls a version control system"));
}

/* `info` as a symlink would bring in attributes from elsewhere, `rebase-merge` the steps of a
 * rebase. */
static void check_way(struct check_context *c, const struct check_part *part)
{
    for (const char *slash = part->name; (slash = strchr(slash, '/')); slash++) {
        const char *dir = arena_strdup(c->arena, str_n(part->name, (size_t)(slash - part->name)));
        struct known_name now = known_read_name(part->dir, dir, c->arena);
        if (S_ISLNK(now.type))
            check_hold_part(
                c, &(struct check_part){part->dir, part->path, dir}, STR("a link in a repository"));
    }
}

/* A symlink can be replaced by any process that can write its directory. It is recreated. */
static void check_known_link(
    struct check_context *c, const struct check_part *part, const struct known_name *then)
{
    struct known_name now = known_read_name(part->dir, part->name, c->arena);
    if (known_name_equal(then, &now))
        return;
    if (now.type)
        check_hold_part(c, part, STR("replaces a link of the repository"));
    (void)!symlinkat(then->target.p, part->dir, part->name);
}

/* Returns true if git accepts a HEAD as one: by its first bytes, as git's own check does. A HEAD
 * that can't be read counts as one, and so does a missing one: a .git may get it later. */
bool known_has_head(int dir)
{
    char text[HEAD_BYTES];
    struct stat st;
    if (fstatat(dir, "HEAD", &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return true;
    AUTO_FD int fd = beneath_open(
        dir, "HEAD", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, BENEATH_NO_SYMLINKS);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof(text)) : -1;
    if (got < 0 || str_starts_with(str_n(text, (size_t)got), STR("ref:")))
        return true;
    size_t n = 0;
    while (n < (size_t)got && memchr("0123456789abcdefABCDEF", text[n], 22))
        n++;
    return n >= 40;
}

/* A directory whose names happen to be those of a repository: its HEAD is empty. */
static bool check_is_lookalike(int dir, struct str path)
{
    struct stat st;
    return !str_is(lexical_name(path), ".git") &&
           fstatat(dir, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           st.st_size == 0;
}

/* Sets aside a symlink that replaces settings, and restores them as far as they were read. */
static void restore_settings(
    struct check_context *c, const struct check_part *part, const struct known_text *then)
{
    static const struct str what = {"replaces settings", 17};
    AUTO_BUF struct buf where = BUF_INIT(PATH_MAX);
    if (!then->ino || then->text.n != (size_t)then->size) {
        check_hold_part(c, part, what);
        return;
    }
    int errnum = quarantine_settings(part->dir, part->name, then->text, &where);
    check_report_part(c, part, buf_z(&where), what, errnum);
}

/* The mount of a file that the user replaced is gone, and the command may have written to the
 * file. */
static void check_replaced(
    struct check_context *c, const struct check_part *part, const struct known_text *then)
{
    struct known_text now = *then;
    mode_t type = known_read_name(part->dir, part->name, c->arena).type;
    if (type && !S_ISREG(type))
        restore_settings(c, part, then);
    else if (then->ino && known_update_text(part->dir, part->name, &now, NULL))
        check_settings(c, part, &(struct rule){then->text, parts_setting_is_plain});
}

/* A part that the user removes also loses its mount, and the command can make it again, even behind
 * a link. */
static void check_remade(struct check_context *c, const struct scan_place *place,
    const struct known_place *known, const struct check_part *part, const struct known_name *then)
{
    const struct known_name now = known_read_name(part->dir, part->name, c->arena);
    if (c->p->no_mounts || !known_name_replaced(then, &now))
        return;
    if (!known->info_link)
        check_way(c, part);
    if (now.type)
        check_new_part(c, place->kind, part);
}

/* Conflicts -------------------------------------------------------------------------------------
 */

struct check_conflicts {
    int dir;             /* the git directory */
    bool inside;         /* in each work tree, all listed files are inside it */
    bool other;          /* there are work trees besides the usual one, or instead of it */
    struct str resolved; /* records of files whose conflict the user has resolved */
};

static void check_tree(struct check_conflicts *x, int tree)
{
    x->inside = x->inside && (tree < 0 || rebase_conflicts_are_inside(x->dir, tree, x->resolved));
}

/* Work trees set by core.worktree. */
static void check_set_trees(struct check_conflicts *x)
{
    for (size_t i = 0; i < KNOWN_TEXTS; i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(32 << 20);
        struct str value = tree_setting(x->dir, parts_for_kind(SCAN_GITDIR)[i], &a);
        if (!value.p)
            continue;
        AUTO_FD int tree = openat(x->dir, value.p, O_PATH | O_DIRECTORY | O_CLOEXEC);
        check_tree(x, tree);
        x->other = true;
    }
}

/* Work trees whose `.git` points to the git directory. */
static void check_led_trees(
    const struct check_context *c, struct check_conflicts *x, const struct stat *st)
{
    const struct repo_scan *s = &c->root->scan;
    for (size_t i = 0; i < s->n_places; i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        const struct scan_place *place = &s->places[i];
        if (place->kind != SCAN_POINTER && place->kind != SCAN_LINK)
            continue;
        struct known_lead lead = gitdir_target_of(c->root, place->kind, place->path);
        if (lead.dev != st->st_dev || lead.ino != st->st_ino)
            continue;
        AUTO_FD int tree = known_open(c->root, arena_str(&a, known_above(place->path)));
        check_tree(x, tree);
        x->other = true;
    }
}

/* git copies the listed files when the user commits, even if a command has replaced them by
 * symlinks since. In work trees other than the usual one, only an unchanged list may stay. */
static bool conflicts_may_stay(const struct check_context *c, int dir,
    const struct scan_place *place, const struct known_text *then)
{
    struct check_conflicts x = {
        .dir = dir, .inside = true, .other = true, .resolved = then ? then->text : STR("")};
    struct stat st;
    if (fstat(dir, &st) != 0)
        return false;
    if (str_is(lexical_name(place->path), ".git")) {
        AUTO_FD int tree = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        check_tree(&x, tree);
        x.other = false;
    }
    check_set_trees(&x);
    check_led_trees(c, &x, &st);
    bool same =
        then && then->ino && known_text_unchanged(dir, rebase_files[REBASE_RERERE].name, then);
    return x.inside && (!x.other || same);
}

/* Rebases ---------------------------------------------------------------------------------------
 */

static bool is_rebase_plain(const struct check_context *c, int dir, const struct scan_place *place,
    enum rebase_file which, const struct known_text *then)
{
    if (which == REBASE_RERERE)
        return !rebase_has_conflicts(dir) || conflicts_may_stay(c, dir, place, then);
    return (then && then->ino && known_text_unchanged(dir, rebase_files[which].name, then)) ||
           !rebase_adds_programs(dir, which, then ? then->text : STR(""));
}

/* git continues a rebase that a command began, even if its directory is a symlink. */
static void check_rebase(struct check_context *c, int dir, const struct scan_place *place,
    const struct known_place *known)
{
    for (enum rebase_file i = 0; i < REBASE_FILES; i++) {
        struct check_part part = {dir, place->path, rebase_files[i].name};
        const struct known_text *then = known ? &known->steps[i] : NULL;
        check_way(c, &part);
        if (!is_rebase_plain(c, dir, place, i, then) && !has_accepted_file(c, &part))
            check_hold_part(c, &part, str_z(rebase_files[i].what));
    }
}

static void check_dir(struct check_context *c, const struct scan_place *place)
{
    struct known_place *known = check_find_known(c, place);
    const char *const *parts = parts_for_kind(place->kind);
    AUTO_FD int dir = known_open(c->root, place->path);
    struct stat st;
    if (dir < 0 || fstat(dir, &st) != 0 ||
        (!known && place->kind == SCAN_GITDIR && check_is_lookalike(dir, place->path)))
        return;
    if (known)
        known->awake = known->dormant && known_has_head(dir);
    if (known && known->awake)
        known = NULL;
    for (size_t i = 0; parts[i]; i++) {
        struct check_part part = {dir, place->path, parts[i]};
        const struct known_name *then = known ? &known->parts[i] : NULL;
        if (then && S_ISLNK(then->type)) {
            check_known_link(c, &part, then);
        } else if (!then || !then->type) {
            if (!known || !known->info_link)
                check_way(c, &part);
            check_new_part(c, place->kind, &part);
        } else if (place->kind == SCAN_GITDIR && i < KNOWN_TEXTS &&
                   !watch_has_whole(c->p, c->root, check_join_path(c, place->path, parts[i]))) {
            check_replaced(c, &part, &known->texts[i]);
        } else {
            check_remade(c, place, known, &part, then);
        }
    }
    if (place->kind == SCAN_GITDIR)
        check_rebase(c, dir, place, known);
}

/* `.git` and `.cordon` ---------------------------------------------------------------------------
 */

static void check_hold_place(struct check_context *c, struct str path, struct str what)
{
    AUTO_BUF struct buf where = BUF_INIT(PATH_MAX);
    if (is_trial(c))
        return;
    const char *name = lexical_name(path).p;
    struct str above = arena_str(c->arena, known_above(path));
    AUTO_FD int dir = known_open(c->root, above);
    if (dir < 0)
        return;
    int errnum = quarantine_beside(dir, name, &where);
    if (errnum == ENOENT)
        return;
    check_report(
        c, &(struct protect_held){.path = known_absolute(c->root, path, c->arena),
               .where = known_absolute(c->root, check_join_path(c, above, buf_z(&where)), c->arena),
               .what = what,
               .errnum = errnum});
}

/* A `.git` file may name a repository of the same tree, which is checked itself. */
static bool pointer_is_plain(struct check_context *c, struct str path)
{
    if (check_accepts(c->p, c->root, path))
        return true;
    struct str gitdir = gitdir_target_of_file(c->root, path, c->arena);
    const struct scan_place *place = gitdir.p ? scan_find(&c->root->scan, gitdir) : NULL;
    return place && place->kind == SCAN_GITDIR;
}

/* Cordon creates its own directory while it works. */
static bool check_is_own_dir(struct check_context *c, const struct scan_place *place)
{
    const struct protect_options *o = &c->p->options;
    struct str path = known_absolute(c->root, place->path, c->arena);
    for (size_t i = 0; i < o->n_own; i++)
        if (str_eq(o->own[i], path))
            return true;
    return false;
}

/* Returns true if git finds another directory from a known place than before the command. */
static bool note_lead(const struct check_context *c, struct known_place *known)
{
    struct known_lead now = gitdir_target_of(c->root, known->kind, known->path);
    known->moved = gitdir_target_changed(&known->lead, &now);
    return known->moved;
}

static void check_place(struct check_context *c, const struct scan_place *place)
{
    struct known_place *known = check_find_known(c, place);
    bool moved = known && note_lead(c, known);
    switch (place->kind) {
    case SCAN_POINTER:
        if ((!known || moved) && !pointer_is_plain(c, place->path))
            check_hold_place(c, place->path, STR("points to another repository"));
        return;
    case SCAN_CORDON:
        if (!known && !check_is_own_dir(c, place))
            check_hold_place(c, place->path, STR("settings of cordon"));
        return;
    case SCAN_LINK:
        /* A symlink with a different target is checked separately. */
        if (!known || (moved && !gitdir_target_link_is_plain(c->root, place->path)))
            check_hold_place(c, place->path, STR("a link to another location"));
        return;
    default:
        check_dir(c, place);
    }
}

/* Recreates a symlink that existed; sets aside anything that replaces it. */
static void check_link(
    struct check_context *c, struct str path, const struct known_name *then, struct str what)
{
    AUTO_FD int dir = known_open(c->root, arena_str(c->arena, known_above(path)));
    if (dir < 0)
        return;
    struct known_name now = known_read_name(dir, lexical_name(path).p, c->arena);
    if (known_name_equal(then, &now))
        return;
    if (now.type)
        check_hold_place(c, path, what);
    (void)!symlinkat(then->target.p, dir, lexical_name(path).p);
}

static void check_known_places(struct check_context *c)
{
    for (size_t i = 0; i < c->root->n_known; i++) {
        const struct known_place *k = &c->root->known[i];
        if (k->kind == SCAN_LINK)
            check_link(c, k->path, &k->self, STR("replaces a link"));
    }
}

/* Symlinks on the path to hooks and to files that settings name. */
static void check_ways(struct check_context *c)
{
    for (size_t i = 0; i < c->root->n_ways; i++)
        check_link(c, c->root->ways[i].path, &c->root->ways[i].then,
            STR("replaces a link that points to hooks or settings"));
}

/* Settings files, and files that settings name, that did not exist. */
static void check_named(struct check_context *c)
{
    struct protect_root *r = c->root;
    for (size_t i = 0; i < r->n_named; i++) {
        struct stat st;
        const struct known_named *n = &r->named[i];
        if (!n->type && lexical_is_below(r->path, n->path) && lstat(n->path.p, &st) == 0 &&
            !(n->word && S_ISDIR(st.st_mode)) &&
            !check_accepts(c->p, r, lexical_rest(r->path, n->path)))
            check_hold_place(c, lexical_rest(r->path, n->path),
                n->settings ? STR("settings of the user") : STR("named in git's settings"));
    }
}

/* Entry points ----------------------------------------------------------------------------------
 */

void check_set_aside(struct protect *p, struct protect_root *r, struct str path, struct str what)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    struct check_context c = {.p = p, .root = r, .arena = &a};
    check_hold_place(&c, path, what);
}

bool check_accepts(struct protect *p, struct protect_root *r, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    AUTO_BUF struct buf bytes = BUF_INIT(2 * PROTECT_FILE_MAX);
    struct check_context c = {.p = p, .root = r, .arena = &a};
    return quarantine_read(r->fd, path.p, &bytes) && is_accepted(&c, path, buf_str(&bytes));
}

bool check_would_pass(struct protect *p, struct protect_root *r, const struct scan_place *place)
{
    AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
    bool would = false;
    struct check_context c = {.p = p, .root = r, .arena = &a, .would = &would};
    check_place(&c, place);
    return !would;
}

bool check_one_place(struct protect *p, struct protect_root *r, const struct scan_place *place)
{
    AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
    struct check_context c = {.p = p, .root = r, .arena = &a};
    check_place(&c, place);
    return c.touched;
}

void check_root(struct protect *p, struct protect_root *r)
{
    AUTO_ARENA struct arena a = ARENA_INIT(256 << 20);
    struct check_context c = {.p = p, .root = r, .arena = &a};
    r->scan.forces = true;
    check_known_places(&c);
    scan_refresh(&r->scan);
    p->cut |= r->scan.cut;
    bool *touched = ARENA_NEW(&a, bool, r->scan.n_places + 1);
    for (size_t i = 0; i < r->scan.n_places; i++)
        touched[i] = check_one_place(p, r, &r->scan.places[i]);
    r->index_bytes = KNOWN_INDEX_BYTES;
    for (size_t i = 0; i < r->scan.n_places; i++)
        gitlink_check_check(p, r, i, touched);
    gitdir_links_check(p, r);
    check_ways(&c);
    tree_check(p, r);
    check_named(&c);
}
