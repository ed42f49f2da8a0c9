/* git: what makes it run other programs, or lose what it keeps. */
#include "tool/runs.h"

#define SETTING  "a setting of git may run any command"
#define PROGRAM  "git runs the program that it names"
#define LOSES    "it throws changes away"
#define REPLACES "it replaces what others may have"
#define HOOKS    "another repository has settings and hooks of its own"
#define WRITES   "it writes a file"

/* Before the subcommand only these are known to be harmless. */
static const char global_options[] =
    "--glob-pathspecs --html-path --icase-pathspecs --info-path --literal-pathspecs --man-path "
    "--no-lazy-fetch --no-optional-locks --no-pager --no-replace-objects --noglob-pathspecs "
    "--version -P -h -v";

/* Subcommands that run what others chose, whatever their words are. */
static const char subcommands[] =
    "archimport bisect--helper citool credential credential-cache credential-cache--daemon "
    "credential-store cvsexportcommit cvsimport cvsserver daemon difftool difftool--helper "
    "fast-import filter-branch filter-repo for-each-repo gui help hook http-backend imap-send "
    "instaweb maintenance mergetool p4 quiltimport receive-pack remote-ext remote-fd send-email "
    "shell svn upload-archive upload-pack web--browse";

/* Subcommands whose words are texts, names and revisions, and never a repository's address. */
static const char texts[] =
    "add blame commit diff grep log mv notes rev-list rm shortlog show stash status tag";

static const struct option {
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
    {"branch", "D", NULL, LOSES},
    {"checkout switch", "f", "discard-changes force", LOSES},
    {"clean", "f", "force", "it removes files that git does not know"},
    {"clone", "cu", NULL, SETTING},
    {"config", "ef", "add edit file remove-section rename-section replace-all unset unset-all",
        SETTING},
    {"grep", "O", NULL, PROGRAM},
    {"push", "fd", "delete force force-if-includes force-with-lease mirror prune", REPLACES},
    {"rebase", "x", NULL, PROGRAM},
    {"reset", NULL, "hard", LOSES},
    {"rm worktree", "f", "force", LOSES},
    {"update-ref", "d", "stdin", LOSES},
};

static const struct {
    const char *subcommand, *words, *why;
} actions[] = {
    {"bisect", "run view visualize", PROGRAM},
    {"reflog", "delete expire", LOSES},
    {"stash", "clear drop", LOSES},
    {"submodule", "foreach", PROGRAM},
};

/* Reading a setting says so; everything else of `git config` writes one. */
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

/* ext::COMMAND and others: git starts git-remote-ext for them. */
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
    if (str_is(subcommand, "push") && (str_starts_with(word, STR("+")) || str_find(word, ':') == 0))
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
    if (runs_listed(subcommands, subcommand))
        return PROGRAM;
    for (size_t i = at + 1; i < c->n; i++) {
        const char *why = word_runs(subcommand, c->words[i]);
        if (why)
            return why;
    }
    return str_is(subcommand, "config") ? config_runs(c, at) : NULL;
}
