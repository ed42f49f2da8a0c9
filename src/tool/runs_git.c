/* Git commands that run other programs or lose data. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool_runs.h"

#define SETTING  "a setting of git may run any command"
#define PROGRAM  "git runs the program that it specifies"
#define LOSES    "it discards changes"
#define REPLACES "it replaces history that others may have"
#define HOOKS    "another repository has its own settings and hooks"
#define WRITES   "it writes a file"
#define UNKNOWN  "a subcommand that may run another program or lose work"

/* Only these options before the subcommand are known to be harmless. */
static const char global_options[] =
    "--glob-pathspecs --html-path --icase-pathspecs --info-path --literal-pathspecs --man-path "
    "--no-lazy-fetch --no-optional-locks --no-pager --no-replace-objects --noglob-pathspecs "
    "--version -P -h -v";

/* Subcommands that a pattern can cover. Any other may be an alias or a separate program (git-NAME,
 * also below the working directory if the name has a slash), runs configured programs (difftool,
 * hook, merge-index, submodule--helper), or loses work (prune, restore, update-ref). */
static const char subcommands[] =
    "add am annotate apply archive bisect blame branch cat-file check-attr check-ignore "
    "check-mailmap check-ref-format checkout cherry cherry-pick clean clone commit config "
    "count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch "
    "fsck gc get-tar-commit-id grep hash-object init log ls-files ls-remote ls-tree merge "
    "merge-base merge-tree mv name-rev notes patch-id pull push range-diff rebase reflog remote "
    "request-pull reset rev-list rev-parse revert rm shortlog show show-branch show-ref "
    "sparse-checkout stage stash status stripspace submodule switch tag var verify-commit "
    "verify-pack verify-tag version whatchanged worktree write-tree";

/* Subcommands whose words are texts, names and revisions, never the address of a repository. */
static const char texts[] =
    "add blame commit diff grep log mv notes rev-list rm shortlog show stash status tag";

static const struct runs_git_option {
    const char *subcommands; /* NULL: any */
    const char *letters;
    const char *names;
    const char *why;
} options[] = {
    {NULL, NULL,
        "config exec ext-diff extcmd open-files-in-pager receive-pack separate-git-dir template "
        "textconv upload-pack",
        PROGRAM},
    {NULL, NULL, "output", WRITES},
    {"archive", "o", "remote", WRITES},
    {"apply", NULL, "unsafe-paths", WRITES},
    {"branch", "CDMf", "force", LOSES},
    {"checkout", "Bf", "force ours pathspec-from-file theirs", LOSES},
    {"switch", "Cf", "discard-changes force force-create", LOSES},
    {"clean", "f", "force", "it removes files that git does not track"},
    {"clone", "cu", NULL, SETTING},
    {"config", "ef", "add edit file remove-section rename-section replace-all unset unset-all",
        SETTING},
    {"fetch pull", "fu", "force update-head-ok", LOSES},
    {"format-patch", "o", "output-directory", WRITES},
    {"fsck", NULL, "lost-found", WRITES},
    {"gc", NULL, "prune", LOSES},
    {"grep", "O", NULL, PROGRAM},
    {"mv notes", "f", "force", LOSES},
    {"push", "fd", "delete force force-if-includes force-with-lease mirror prune", REPLACES},
    {"rebase", "x", NULL, PROGRAM},
    {"reset", NULL, "hard merge", LOSES},
    {"rm submodule worktree", "f", "force", LOSES},
    {"tag", "df", "delete force", LOSES},
};

static const struct {
    const char *subcommand, *words, *why;
} actions[] = {
    {"bisect", "run view visualize", PROGRAM},
    {"notes", "prune remove", LOSES},
    {"reflog", "delete expire", LOSES},
    {"remote", "remove rm set-url", REPLACES},
    {"stash", "clear drop", LOSES},
    {"submodule", "foreach", PROGRAM},
};

/* `git config` only reads with one of these options or verbs; everything else writes a setting. */
static const char *config_runs(const struct cmdline_command *c, size_t at)
{
    static const char readers[] =
        "--get --get-all --get-color --get-colorbool --get-regexp --get-urlmatch --list -l";
    size_t i = at + 1;
    for (; i < c->n && str_starts_with(c->words[i], STR("-")); i++)
        if (runs_listed(readers, c->words[i]))
            return NULL;
    bool verb = i == at + 1 && i < c->n;
    return verb && runs_listed("get list", c->words[i]) ? NULL : SETTING;
}

static bool is_branch(struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (strchr("./:*?[\\", word.p[i]))
            return false;
    return word.n > 0;
}

/* `git checkout` of files discards their changes. A name may be a branch or a file: it counts as a
 * branch only if it does not look like a path, or if a branch is created. */
static const char *checkout_runs(const struct cmdline_command *c, size_t at)
{
    size_t operands = 0;
    bool makes = false;
    for (size_t i = at + 1; i < c->n; i++)
        makes |= runs_option(c->words[i], "bt", "orphan track");
    for (size_t i = at + 1; i < c->n; i++) {
        struct str word = c->words[i];
        bool option = word.n > 1 && word.p[0] == '-' && !str_is(word, "--");
        operands += !option;
        if (str_is(word, "--") || (!option && !makes && !is_branch(word)))
            return LOSES;
    }
    return !makes && operands > 1 ? LOSES : NULL;
}

/* ext::COMMAND and others: git starts git-remote-ext for these. */
static bool is_transport(struct str word)
{
    ptrdiff_t colon = str_find(word, ':');
    return colon > 0 && str_starts_with(str_skip(word, (size_t)colon), STR("::"));
}

static const char *word_runs(struct str subcommand, struct str word)
{
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if ((!options[i].subcommands || runs_listed(options[i].subcommands, subcommand)) &&
            runs_option(word, options[i].letters, options[i].names))
            return options[i].why;
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        if (str_is(subcommand, actions[i].subcommand) && runs_listed(actions[i].words, word))
            return actions[i].why;
    if (runs_listed("fetch pull push", subcommand) &&
        (str_starts_with(word, STR("+")) || str_find(word, ':') == 0))
        return REPLACES;
    return !runs_listed(texts, subcommand) && is_transport(word) ? PROGRAM : NULL;
}

const char *runs_git(const struct cmdline_command *c)
{
    size_t at = 1;
    for (; at < c->n && str_starts_with(c->words[at], STR("-")); at++)
        if (!runs_listed(global_options, c->words[at]))
            return str_starts_with(c->words[at], STR("-C")) ? HOOKS : SETTING;
    if (at == c->n)
        return NULL;
    struct str subcommand = c->words[at];
    if (!runs_listed(subcommands, subcommand))
        return UNKNOWN;
    for (size_t i = at + 1; i < c->n; i++) {
        const char *why = word_runs(subcommand, c->words[i]);
        if (why)
            return why;
    }
    if (str_is(subcommand, "checkout"))
        return checkout_runs(c, at);
    return str_is(subcommand, "config") ? config_runs(c, at) : NULL;
}
