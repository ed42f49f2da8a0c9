/* Fixes of denials. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/denied_fix.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "path/lexical.h"
#include "path/selfrun.h"
#include "policy/validate.h"
#include "sandbox/denied_git.h"

#include <sys/stat.h>

/* Paths --------------------------------------------------------------------------------------- */

/* Whether a policy may name this path for this purpose; otherwise adds the reason, if its guards
 * have one. */
static bool fix_may_name(enum denied_op op, struct str path, const char *home, struct buf *why)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(VERDICT_ARENA);
    const struct policy_host host = {.home = home};
    const struct str_list one = {&path, 1};
    struct policy policy = {.fs_write_unsafe_ack = true};
    struct verdict v;
    if (op == DENIED_READ)
        policy.fs.allowed_read = one;
    else if (op == DENIED_WRITE)
        policy.fs.allowed_write = one;
    else
        policy.exec.allowed_executables = one;
    policy_validate(&policy, &host, &arena, &v);
    if (v.denials.n == 0)
        return true;
    if (v.denials.p[0].blocked)
        buf_printf(why, "%s", v.denials.p[0].reason);
    return false;
}

/* The path that an option must name: for a new file, and for an entry that is removed or replaced,
 * its directory. Returns no value if it can't be written on a command line. */
static struct str fix_path(const struct denied_act *act, char text[DENIED_TARGET_MAX + 1])
{
    struct str path = str_n(text, act->target.n);
    if (path.n >= DENIED_TARGET_MAX || !utf8_printable(act->target))
        return (struct str){0};
    memcpy(text, act->target.p, path.n);
    text[path.n] = '\0';
    if (act->op == DENIED_WRITE && (act->entry || access(text, F_OK) != 0)) {
        path.n = (size_t)MAX(str_find_last(path, '/'), 0);
        text[path.n] = '\0';
    }
    return path.n ? path : (struct str){0};
}

/* Programs that must also be allowed: interpreters. */
static void fix_add_needs(struct buf *b, const struct denied_act *act, const char *home)
{
    AUTO_BUF struct buf unused = BUF_INIT(1 << 10);
    struct str rest = act->needs, one;
    while (rest.n && str_cut(rest, '\0', &one, &rest)) {
        if (!one.n || !utf8_printable(one) || !fix_may_name(DENIED_EXEC, one, home, &unused))
            continue;
        buf_add_z(b, " --allow-exec ");
        denied_git_add_word(b, one);
    }
}

static void add_path_fix(
    struct buf *b, struct buf *why, const struct denied_act *act, const struct denied_style *style)
{
    static const char *const flags[] = {
        [DENIED_READ] = "--read ", [DENIED_WRITE] = "--write ", [DENIED_EXEC] = "--allow-exec "};
    char text[DENIED_TARGET_MAX + 1];
    AUTO_BUF struct buf reason = BUF_INIT(1 << 10);
    struct str path = fix_path(act, text);
    if (!path.n)
        return;
    if (!fix_may_name(act->op, path, style->home, &reason)) {
        if (reason.n)
            buf_printf(why, "cannot be allowed: " STR_FMT, STR_ARG(buf_str(&reason)));
        return;
    }
    buf_add_z(b, flags[act->op]);
    denied_git_add_word(b, path);
    if (act->op == DENIED_WRITE && style->front == DENIED_FOR_EXEC)
        buf_add_z(b, " --ack-unsafe-write");
    fix_add_needs(b, act, style->home);
}

/* Boxes show directories, and only from the beginning. */
static void add_box_dir(
    struct buf *b, struct buf *why, const struct denied_act *act, const struct denied_style *style)
{
    char text[DENIED_TARGET_MAX + 1];
    AUTO_BUF struct buf reason = BUF_INIT(1 << 10);
    struct stat st;
    struct str path = fix_path(act, text);
    if (path.n && (stat(text, &st) != 0 || !S_ISDIR(st.st_mode))) {
        path.n = (size_t)MAX(str_find_last(path, '/'), 0);
        text[path.n] = '\0';
    }
    if (!path.n)
        return;
    if (!fix_may_name(DENIED_WRITE, path, style->home, &reason)) {
        if (reason.n)
            buf_printf(why, "cannot be allowed: " STR_FMT, STR_ARG(buf_str(&reason)));
        return;
    }
    buf_add_z(b, DENIED_FIX_BOX " --dir ");
    denied_git_add_word(b, path);
    if (act->op == DENIED_WRITE)
        buf_add_z(b, ":rw");
}

/* Protected files ----------------------------------------------------------------------------- */

/* Files that take effect without being started are protected unless the user names them. */
static bool fix_can_name_kept(const struct denied_act *act, const struct denied_style *style)
{
    return style->front == DENIED_FOR_TOOL && lexical_is_below(style->root, act->target) &&
           selfrun_guards(lexical_rest(style->root, act->target)).reason;
}

/* Other settings of git are changed outside, by a command of the user. */
static void add_kept_fix(
    struct buf *b, struct buf *why, const struct denied_act *act, const struct denied_style *style)
{
    struct denied_act itself = *act;
    itself.entry = false; /* the protection applies to the file, not to its directory */
    if (fix_can_name_kept(act, style))
        add_path_fix(b, why, &itself, style);
    else if (str_ends_with(act->program, STR("/git")))
        denied_git_add_fix(b, act->command, act->target);
}

/* By front end and rule ----------------------------------------------------------------------- */

static const char *fix_network(const struct denied_act *act, enum denied_front front)
{
    if (front == DENIED_FOR_BOX)
        return DENIED_FIX_BOX " --allow-host HOST, or --network on";
    if (front == DENIED_FOR_TOOL)
        return "--allow-host HOST";
    return act->rule == DENIED_NO_NAMES
               ? "--allow-host HOST, or --enable-network --ack-unsafe-network"
               : "--enable-network --ack-unsafe-network";
}

void denied_fix_add(struct buf *fix, struct buf *why, const struct denied_act *act,
    const struct denied_style *style)
{
    const bool box = style->front == DENIED_FOR_BOX;
    const bool path = act->op <= DENIED_EXEC && !act->own && act->rule != DENIED_HIDDEN;
    if (act->rule == DENIED_KEPT && !box)
        add_kept_fix(fix, why, act, style);
    else if (act->rule == DENIED_NO_NETWORK || act->rule == DENIED_NO_NAMES)
        buf_add_z(fix, fix_network(act, style->front));
    else if (act->rule == DENIED_ONE_LISTENER && !box)
        buf_add_z(fix, "--no-denials");
    else if (box && path && act->rule == DENIED_NOT_SHOWN)
        add_box_dir(fix, why, act, style);
    else if (!box && path)
        add_path_fix(fix, why, act, style);
}
