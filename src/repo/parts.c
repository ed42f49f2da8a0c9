/* Tables of the parts that control a version control system. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/parts.h"

#include "base/base.h"

#include <ctype.h>
#include <sys/stat.h>

const char *const *parts_for_kind(enum scan_kind kind)
{
    static const char *const none[] = {NULL};
    /* Their numbers are stored in session files (repo/protect_state.h): append new ones at the end.
     */
    static const char *const git[PARTS_MAX] = {
        "config", "config.worktree", "commondir", "gitdir", "hooks", "info/attributes", "remotes",
        "branches", PARTS_HELD, "gitweb", /* settings and programs of `git instaweb` */
        "pid",                            /* the process that `git instaweb` ends */
    };
    static const char *const hg[PARTS_MAX] = {"hgrc", "hgrc-not-shared", "sharedpath", PARTS_HELD};
    static const char *const sapling[PARTS_MAX] = {"config", "sharedpath", PARTS_HELD};
    static const char *const jj[PARTS_MAX] = {
        PARTS_JJ_REPO,
        "repo/config.toml",
        PARTS_JJ_TARGET,
        "config.toml",
        "workspace-config.toml",
        PARTS_HELD,
    };
    static const char *const bzr[PARTS_MAX] = {"branch/branch.conf", "branch/location", PARTS_HELD};
    static const char *const darcs[PARTS_MAX] = {"prefs/defaults", "prefs/prefs", PARTS_HELD};
    static const char *const pijul[PARTS_MAX] = {"config", PARTS_HELD};
    static const char *const *const all[] = {
        [SCAN_GITDIR] = git,
        [SCAN_HG] = hg,
        [SCAN_SAPLING] = sapling,
        [SCAN_JJ] = jj,
        [SCAN_BZR] = bzr,
        [SCAN_DARCS] = darcs,
        [SCAN_PIJUL] = pijul,
    };
    return (size_t)kind < ARRAY_LEN(all) && all[kind] ? all[kind] : none;
}

bool parts_is_free(enum scan_kind kind, const char *part, mode_t type)
{
    return kind == SCAN_JJ && strcmp(part, PARTS_JJ_REPO) == 0 && S_ISDIR(type);
}

/* Compares a component with a name, ignoring case as some file systems do. */
static bool parts_same_name(struct str component, const char *name)
{
    return component.n == strlen(name) && strncasecmp(component.p, name, component.n) == 0;
}

static bool starts_with_part(struct str rest, enum scan_kind kind)
{
    for (const char *const *part = parts_for_kind(kind); *part; part++) {
        struct str p = str_z(*part);
        if (rest.n >= p.n && strncasecmp(rest.p, p.p, p.n) == 0 &&
            (rest.n == p.n || rest.p[p.n] == '/'))
            return true;
    }
    return false;
}

bool parts_is_refused(struct str path)
{
    static const struct {
        const char *name;
        enum scan_kind kind;
    } others[] = {
        {".hg", SCAN_HG},
        {".sl", SCAN_SAPLING},
        {".jj", SCAN_JJ},
        {".bzr", SCAN_BZR},
        {"_darcs", SCAN_DARCS},
        {".pijul", SCAN_PIJUL},
    };
    struct str component, rest = path;
    while (str_cut(rest, '/', &component, &rest)) {
        if (parts_same_name(component, ".git") || parts_same_name(component, ".cordon"))
            return true;
        for (size_t i = 0; i < ARRAY_LEN(others); i++)
            if (parts_same_name(component, others[i].name) &&
                starts_with_part(rest, others[i].kind))
                return true;
    }
    return false;
}

bool parts_can_create_repo(struct str path)
{
    static const char *const names[] = {
        "HEAD", "commondir", "config", "config.worktree", "hooks", "info", "objects", "refs"};
    struct str component, rest = path;
    while (str_cut(rest, '/', &component, &rest))
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            if (str_is(component, names[i]))
                return true;
    return false;
}

/* Values of settings ----------------------------------------------------------------------------
 */

/* git passes some names and values as arguments to itself and to other programs. */
static bool is_no_option(struct str s)
{
    return s.n && s.p[0] != '-';
}

/* Neither for a fetch helper program (`ext::`, `hg::`) nor an option. The name of a nonexistent
 * remote is also taken for an address. */
static bool is_plain_address(struct str url)
{
    for (size_t i = 0; i + 1 < url.n; i++)
        if (url.p[i] == ':' && url.p[i + 1] == ':')
            return false;
    return is_no_option(url);
}

/* The name of a remote: an argument of the `git fetch` that fetches all remotes, or objects that a
 * partial clone lacks. */
static bool is_remote_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        if (c < 0x80 && !isalnum(c) && !strchr("._/+@-", c))
            return false;
    }
    return is_no_option(name);
}

static bool is_tag_option(struct str value)
{
    return str_is(value, "--tags") || str_is(value, "--no-tags");
}

/* Modes in which `git submodule update` updates a submodule; a command begins with `!`. */
static bool is_plain_update(struct str value)
{
    return str_is(value, "checkout") || str_is(value, "merge") || str_is(value, "rebase") ||
           str_is(value, "none");
}

static bool is_false(struct str value)
{
    return value.p && (str_is(value, "false") || str_is(value, "no") || str_is(value, "off") ||
                          str_is(value, "0"));
}

/* Settings --------------------------------------------------------------------------------------
 */

/* A command chooses the subsection too: the name of a remote, a branch or a submodule. */
static bool has_plain_subsection(const struct gitconfig_entry *e)
{
    if (!e->subsection.p)
        return true;
    return str_is(e->section, "remote") ? is_remote_name(e->subsection)
                                        : is_plain_address(e->subsection);
}

bool parts_setting_is_plain(const struct gitconfig_entry *e)
{
    static const struct {
        const char *section;
        bool sub;                         /* there is a subsection between section and name */
        const char *name;                 /* NULL: any */
        bool (*allows)(struct str value); /* NULL: any value */
    } plain[] = {
        {"advice", false, NULL},
        {"branch", true, "merge", is_no_option},
        {"branch", true, "rebase", is_no_option},
        {"branch", true, "remote", is_plain_address},
        {"commit", false, "gpgsign", is_false},
        {"core", false, "autocrlf"},
        {"core", false, "bare"},
        {"core", false, "eol"},
        {"core", false, "filemode"},
        {"core", false, "ignorecase"},
        {"core", false, "logallrefupdates"},
        {"core", false, "longpaths"},
        {"core", false, "precomposeunicode"},
        {"core", false, "repositoryformatversion"},
        {"core", false, "safecrlf"},
        {"core", false, "sharedrepository"},
        {"core", false, "sparsecheckout"},
        {"core", false, "sparsecheckoutcone"},
        {"core", false, "symlinks"},
        {"extensions", false, "compatobjectformat"},
        {"extensions", false, "objectformat"},
        {"extensions", false, "partialclone", is_remote_name},
        {"extensions", false, "refstorage"},
        {"extensions", false, "relativeworktrees"},
        {"extensions", false, "worktreeconfig"},
        {"fetch", false, "prune"},
        {"gc", false, "auto"},
        {"index", false, "sparse"},
        {"init", false, "defaultbranch"},
        {"lfs", false, "repositoryformatversion"},
        {"pull", false, "ff"},
        {"pull", false, "rebase"},
        {"push", false, "default"},
        {"receive", false, "denynonfastforwards"},
        {"remote", true, "fetch", is_no_option},
        {"remote", true, "mirror"},
        {"remote", true, "partialclonefilter", is_no_option},
        {"remote", true, "promisor"},
        {"remote", true, "prune"},
        {"remote", true, "tagopt", is_tag_option},
        {"remote", true, "url", is_plain_address},
        {"submodule", false, "active"},
        {"submodule", true, "active"},
        {"submodule", true, "update", is_plain_update},
        {"submodule", true, "url", is_plain_address},
        {"tag", false, "gpgsign", is_false},
        {"user", false, "email"},
        {"user", false, "name"},
    };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (str_is(e->section, plain[i].section) && plain[i].sub == (e->subsection.p != NULL) &&
            (!plain[i].name || str_is(e->name, plain[i].name)))
            return has_plain_subsection(e) && (!plain[i].allows || plain[i].allows(e->value));
    return false;
}

bool parts_setting_is_sparse(const struct gitconfig_entry *e)
{
    return !e->subsection.p &&
           ((str_is(e->section, "core") &&
                (str_is(e->name, "sparsecheckout") || str_is(e->name, "sparsecheckoutcone"))) ||
               (str_is(e->section, "index") && str_is(e->name, "sparse")));
}
