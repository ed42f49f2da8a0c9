/* Programs that run others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/shell_programs.h"

#include "path/lexical.h"

#include <ctype.h>

static const struct shell_program programs[] = {
    {PROGRAM, " ! { builtin coproc do elif else if then until while ", "", "", "", false},
    {WRAPPED, " busybox chronic command doas nohup setsid unbuffer ", "u", "cfpnVvw", "", false},
    {WRAPPED, " env ", "Cu", "0iv", "S", false},
    {WRAPPED, " exec ", "a", "cl", "", false},
    {WRAPPED, " flock ", "Ew", "Fenosux", "c", true},
    {WRAPPED, " taskset ", "", "acp", "", true},
    {WRAPPED, " chrt ", "DPT", "Rabdfimoprv", "", true},
    {WRAPPED, " ionice nice ", "cnpPu", "t", "", false},
    {WRAPPED, " prlimit ", "op", "", "", false},
    {WRAPPED, " script ", "BEIOTmo", "aefq", "c", false},
    {WRAPPED, " setarch ", "", "3BFILRSTXZv", "", true},
    {WRAPPED, " setpriv ", "", "d", "", false},
    {WRAPPED, " unshare ", "GRSw", "CTUcfimnpru", "", false},
    {WRAPPED, " stdbuf ", "eio", "", "", false},
    {WRAPPED, " sudo ", "CDRTUghprtu", "ABEHKNPSVbeiklnsv", "", false},
    {WRAPPED, " time ", "fo", "Vapqv", "", false},
    {WRAPPED, " timeout ", "ks", "fpv", "", true},
    {WRAPPED, " xargs ", "EILPadns", "0oprtx", "", false},
    {SHELL, " ash bash csh dash fish ksh mksh rbash sh tcsh zsh ", "Oo", NULL, "c", false},
    {SCRIPT, " . source ", "", "", "", false},
    {SCRIPT, " bun deno lua luajit nodejs node tclsh ", "", "iAc", "", false},
    {SCRIPT, " perl ", "", "0UWXacflnpstuvw", "Ee", false},
    {SCRIPT, " php ", "", "ahilmnqsvw", "r", false},
    {SCRIPT, " pypy python ", "WX", "BEIOPSbdiqsuvx", "cm", false},
    {SCRIPT, " ruby ", "", "Sacdlnpsvwy", "e", false},
    {CODE, " eval trap ", "", "", "", false},
    {READER, " awk gawk mawk nawk ", "Fv", NULL, "Eif", false},
    {READER, " gmake make ninja ", "CIWo", NULL, "f", false},
    {READER, " gsed sed ", "el", NULL, "f", false},
    {FINDER, " find ", "", NULL, "", false},
    {MOVER, " cd pushd ", "", NULL, "", false},
};

static bool is_in(const char *names, struct str name)
{
    char word[16];
    snprintf(word, sizeof(word), " " STR_FMT " ", STR_ARG(str_head(name, sizeof(word) - 3)));
    return name.n && strstr(names, word);
}

/* python3.11 is python. */
const struct shell_program *shell_programs_find(struct str text)
{
    struct str name = lexical_name(text);
    while (name.n > 1 && strchr("0123456789.", name.p[name.n - 1]))
        name.n--;
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        if (is_in(programs[i].names, name))
            return &programs[i];
    return NULL;
}

bool shell_programs_only_reads(struct str text)
{
    static const char names[] =
        " bat basename cat chmod cmp code column comm cp curl cut date delta diff dirname du egrep "
        "emacs expr fgrep file fmt fold gh git grep gvim gzip head hexdump id install jq kill "
        "less ln ls md5sum meld mkdir mktemp more mv nano nl nvim od open paste patch printenv ps "
        "readlink realpath rev rg rm rmdir seq sha1sum sha256sum shellcheck shfmt shuf "
        "sleep sort stat strings subl sum tac tail tee touch tr tree true uname uniq vi view "
        "vim wc wget which xdg-open xxd yq zcat ";
    struct str name = lexical_name(text);
    if (str_find(text, '/') > 0) /* one of the project's */
        return false;
    return is_in(names, name) || (shell_programs_is_builtin(name) && !str_is(name, "for"));
}

const struct shell_program *shell_programs_of_variable(struct str name)
{
    char lower[16];
    if (str_is(name, "SHELL") || name.n > sizeof(lower))
        return str_is(name, "SHELL") ? shell_programs_find(STR("sh")) : NULL;
    for (size_t i = 0; i < name.n; i++)
        lower[i] = (char)tolower((unsigned char)name.p[i]);
    return shell_programs_find(str_n(lower, name.n));
}

const struct shell_program *shell_programs_of_search(struct str commands)
{
    if (!str_starts_with(commands, STR("which ")) &&
        !str_starts_with(commands, STR("command -v ")) &&
        !str_starts_with(commands, STR("type -p ")))
        return NULL;
    commands = str_trim_end(commands, ' ');
    return shell_programs_find(str_skip(commands, (size_t)str_find_last(commands, ' ') + 1));
}

bool shell_programs_is_builtin(struct str name)
{
    static const char names[] =
        " ! . : [ [[ ]] { } alias break builtin case cd command continue coproc declare do done "
        "echo elif else esac eval exec exit export fi for function getopts hash if in let local "
        "popd printf pushd pwd read readonly return set shift source test then trap type typeset "
        "ulimit umask unset until wait while ";
    return is_in(names, name);
}

bool shell_programs_is_exec(struct str option)
{
    return is_in(" -exec -execdir -ok -okdir ", option);
}
