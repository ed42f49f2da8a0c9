/* Acknowledgements for other people's policies. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/consent.h"

#include "path/lexical.h"
#include "policy/blocked.h"
#include "sandbox/baseline.h"

#include <strings.h>

enum {
    WORDS_MAX = 64 * 1024,
    PATH_SHOWN = 200,
};

/* Directories of programs and headers that ordinary policies show in addition to the baseline: they
 * contain no user data. */
static const char *const system_dirs[] = {
    "/bin",
    "/etc/alternatives",
    "/sbin",
    "/usr/bin",
    "/usr/games",
    "/usr/include",
    "/usr/local/bin",
    "/usr/local/games",
    "/usr/local/include",
    "/usr/local/lib",
    "/usr/local/libexec",
    "/usr/local/sbin",
    "/usr/local/share",
    "/usr/sbin",
};

static bool consent_is_full_sandbox(const struct policy *p)
{
    return p->sandbox == POLICY_NATIVE || p->sandbox == POLICY_SEATBELT;
}

static bool uses_network(const struct policy *p)
{
    return p->network == POLICY_NETWORK_ENABLED || p->sandbox == POLICY_NO_SANDBOX;
}

void consent_adopt(enum consent_author author, struct policy *p)
{
    if (author == CONSENT_USER)
        return;
    p->sandbox_unsafe_ack = !consent_is_full_sandbox(p);
    p->network_unsafe_ack = uses_network(p);
    p->unix_sockets_unsafe_ack = p->allow_unix_sockets;
    if (author == CONSENT_RECORDING)
        p->fs_write_unsafe_ack = p->fs.allowed_write.n > 0;
}

/* Paths --------------------------------------------------------------------------------------- */

/* Whether a directory of the user implies consent to a path below it. A directory that no policy
 * may name (/, the home directory) does not; one above the home directory excludes the home
 * directory. */
static bool stands_for(const struct verdict *v, struct str dir, struct str path)
{
    struct str home = v->home_resolved;
    if (dir.n == 0 || blocked_path(dir, BLOCKED_READ) || str_eq(dir, v->home) ||
        str_eq(dir, home) || !lexical_is_below(dir, path))
        return false;
    return home.n == 0 || !lexical_is_below(dir, home) || !lexical_is_below(home, path);
}

/* Whether a path belongs to git or to cordon: files written there take effect later, outside the
 * sandbox, and so need a separate acknowledgement. */
static bool consent_is_protected(struct str below)
{
    static const char *const kept[] = {".git", ".cordon"};
    struct str part;
    while (lexical_next(&below, &part))
        for (size_t i = 0; i < ARRAY_LEN(kept); i++)
            if (part.n == strlen(kept[i]) && strncasecmp(part.p, kept[i], part.n) == 0)
                return true;
    return false;
}

static bool stands_for_write(const struct verdict *v, struct str dir, struct str path)
{
    return stands_for(v, dir, path) && !consent_is_protected(lexical_rest(dir, path));
}

static bool is_near(const struct consent_input *in, const struct verdict *v, struct str path)
{
    return stands_for(v, in->dir, path) || stands_for(v, in->cwd, path);
}

bool consent_is_system(struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(system_dirs); i++)
        if (lexical_is_below(str_z(system_dirs[i]), path))
            return true;
    return baseline_shows(path);
}

typedef bool (*covers_fn)(const struct consent_input *in, const struct verdict *v, struct str path);

/* A directory that may be written may be read: consent is asked for the write access. */
static bool covers_read(const struct consent_input *in, const struct verdict *v, struct str path)
{
    return is_near(in, v, path) || consent_is_system(path) || verdict_holds(&v->write, path);
}

static bool covers_write(const struct consent_input *in, const struct verdict *v, struct str path)
{
    return in->author == CONSENT_SCENARIO &&
           (stands_for_write(v, in->dir, path) || stands_for_write(v, in->cwd, path));
}

/* The first path that is not covered, and the number of such paths. */
struct consent_uncovered {
    const char *list;
    const struct verdict_path *first;
    size_t n;
};

static void consent_check_paths(const struct consent_input *in, const struct verdict *v,
    const struct verdict_paths *paths, covers_fn covers, const char *list,
    struct consent_uncovered *f)
{
    for (size_t i = 0; i < paths->n; i++) {
        if (covers(in, v, paths->p[i].resolved))
            continue;
        if (f->n++ == 0) {
            f->list = list;
            f->first = &paths->p[i];
        }
    }
}

/* Needs --------------------------------------------------------------------------------------- */

static void consent_add_need(struct consent_needs *needs, const struct consent_need *need)
{
    BUG_ON(needs->n == CONSENT_NEEDS);
    needs->p[needs->n++] = *need;
}

static void consent_add_paths(struct consent_needs *needs, const struct verdict *v,
    const struct consent_uncovered *f, const char *verb, const char *flag)
{
    struct arena *a = v->arena;
    if (f->n == 0)
        return;
    struct str path = str_head(f->first->resolved, PATH_SHOWN);
    const char *more = f->n > 1 ? arena_printf(a, " and %zu more", f->n - 1) : "";
    consent_add_need(
        needs, &(struct consent_need){arena_printf(a, "%s[%zu]", f->list, f->first->index),
                   arena_printf(a, "%s '" STR_FMT "'%s", verb, STR_ARG(path), more), flag});
}

void consent_find(
    const struct consent_input *in, const struct verdict *v, struct consent_needs *ret_needs)
{
    const struct policy *p = v->policy;
    const struct consent *given = in->given;
    struct consent_needs needs = {0};
    struct consent_uncovered write = {0}, read = {0};
    bool bare = p->sandbox == POLICY_NO_SANDBOX;
    bool said = in->author == CONSENT_SCENARIO && in->network;
    if (in->author != CONSENT_USER) {
        consent_check_paths(in, v, &v->write, covers_write, "fs.allowed_write", &write);
        consent_check_paths(in, v, &v->read, covers_read, "fs.allowed_read", &read);
        consent_check_paths(in, v, &v->exec, covers_read, "exec.allowed_executables", &read);
        if (!consent_is_full_sandbox(p) && !given->sandbox)
            consent_add_need(
                &needs, &(struct consent_need){"sandbox",
                            bare ? "runs without a sandbox" : "runs in a weaker sandbox",
                            "--ack-unsafe-sandbox"});
        if ((p->network == POLICY_NETWORK_ENABLED || in->hosts || (bare && !said)) &&
            !given->network)
            consent_add_need(&needs,
                &(struct consent_need){
                    p->network == POLICY_NETWORK_ENABLED || bare ? "network" : "allowed_hosts",
                    "uses the network", "--ack-unsafe-network"});
        if (p->allow_unix_sockets && !given->sockets)
            consent_add_need(&needs, &(struct consent_need){"allow_unix_sockets",
                                         "uses Unix sockets of the host", "--ack-unsafe-sockets"});
        if (p->env.inherit && !given->env)
            consent_add_need(
                &needs, &(struct consent_need){"env.inherit", "reads variables of your environment",
                            "--ack-unsafe-env"});
        if (!given->write)
            consent_add_paths(&needs, v, &write, "writes", "--ack-unsafe-write");
        if (!given->read && in->author == CONSENT_RECORDING)
            consent_add_paths(&needs, v, &read, "reads", "--ack-unsafe-read");
    }
    *ret_needs = needs;
}

/* Messages ------------------------------------------------------------------------------------ */

static const char *const documents[] = {
    [CONSENT_USER] = "the policy",
    [CONSENT_SCENARIO] = "the scenario's own policy",
    [CONSENT_RECORDING] = "the recorded policy",
};

const char *consent_flags(const struct consent_needs *needs, struct arena *arena)
{
    const char *flags = "";
    for (size_t i = 0; i < needs->n; i++)
        flags = arena_printf(arena, "%s%s%s", flags, i ? " " : "", needs->p[i].flag);
    return flags;
}

void consent_deny(const struct consent_needs *needs, enum consent_author author, struct verdict *v)
{
    const struct denials old = v->denials;
    v->denials = (struct denials){.arena = v->arena};
    for (size_t i = 0; i < needs->n; i++) {
        const struct consent_need *need = &needs->p[i];
        denials_add(&v->denials,
            &(struct denial){need->field, "not acknowledged by the user", str_z(need->what),
                arena_printf(v->arena, "%s requires more than was acknowledged", documents[author]),
                arena_printf(v->arena, "if you trust it, add %s", need->flag)});
    }
    for (size_t i = 0; i < old.n; i++)
        denials_add(&v->denials, &old.p[i]);
}

bool consent_error(const struct consent_needs *needs, enum consent_author author,
    const struct consent_hint *hint, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_BUF struct buf what = BUF_INIT(WORDS_MAX), fields = BUF_INIT(WORDS_MAX);
    const char *flags = consent_flags(needs, &a), *instead = "";
    for (size_t i = 0; i < needs->n; i++) {
        buf_printf(&what, "%s%s (%s)", i ? ", " : "", needs->p[i].what, needs->p[i].field);
        buf_printf(&fields, "%s%s", i ? " " : "", needs->p[i].field);
    }
    if (author == CONSENT_RECORDING)
        instead = ", or use --offline to run nothing";
    else if (hint->file)
        instead = arena_printf(&a, ", or run 'cordon trust %s'", hint->file);
    err_set(err, E_POLICY_DENIED,
        "%s %s: this needs your acknowledgement, not only its author's; if you trust it, "
        "add %s%s%s%s",
        documents[author], buf_z(&what), flags, instead, hint->note ? "; " : "",
        hint->note ? hint->note : "");
    err_ctx(err, "field", "%s", needs->p[0].field);
    err_ctx(err, "fields", "%s", buf_z(&fields));
    return err_ctx(err, "missing", "%s", flags);
}
