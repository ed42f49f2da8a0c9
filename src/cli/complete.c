/* Shell completions. Each script first determines the command from the words so far, then offers
 * its subcommands, its options, or the values of the option before the cursor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/complete.h"

typedef void (*visit_fn)(struct buf *b, const struct cmd *cmd, const char *words);

/* Calls fn for every command; `words` is "" for the program, "path glob" for that command. */
static void complete_visit(struct buf *b, const struct cmd *cmd, visit_fn fn)
{
    AUTO_BUF struct buf full = BUF_INIT(256);
    cmd_full_name(cmd, &full);
    const char *blank = strchr(buf_z(&full), ' ');
    fn(b, cmd, blank ? blank + 1 : "");
    for (size_t i = 0; cmd->subs && cmd->subs[i]; i++)
        if (!cmd->subs[i]->hidden)
            complete_visit(b, cmd->subs[i], fn);
}

/* Escapes text for single quotes of a shell. */
static void add_quoted(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            buf_add_z(b, "'\\''");
        else
            buf_add_byte(b, *text);
    }
}

static void complete_add_words(struct buf *b, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        buf_printf(b, "%s%s", i ? " " : "", words[i]);
}

/* Adds the words that may come next: subcommands, or choices of the argument. */
static void add_next_words(struct buf *b, const struct cmd *cmd)
{
    if (cmd->arg_choices)
        complete_add_words(b, cmd->arg_choices);
    for (size_t i = 0, n = 0; cmd->subs && cmd->subs[i]; i++)
        if (!cmd->subs[i]->hidden)
            buf_printf(b, "%s%s", n++ ? " " : "", cmd->subs[i]->name);
}

/* Last case for bash and zsh: any other word is an argument. */
#define COUNT_ARGUMENTS "    *:-*) ;;\n    *) ((given += 1)) ;;\n"

/* bash and zsh: case lines that follow the words down the tree. `help` does not descend, since the
 * words after it name commands again; the value of an option is skipped. */
static void add_descent(struct buf *b, const struct cmd *cmd, const char *words)
{
    for (size_t i = 0; cmd->subs && cmd->subs[i]; i++)
        if (!cmd->subs[i]->hidden && cmd->subs[i]->arg_kind != ARG_COMMAND)
            buf_printf(b, "    '%s:%s') at='%s%s%s' ;;\n", words, cmd->subs[i]->name, words,
                words[0] ? " " : "", cmd->subs[i]->name);
    const struct opt *opt;
    for (size_t i = 0; (opt = cmd_option(cmd, i)); i++)
        if (opt->type != OPT_FLAG)
            buf_printf(b, "    '%s:--%s') ((i++)) ;;\n", words, opt->name);
}

/* File completion of each shell. */
static const char *const bash_files[] = {[ARG_ANY] = "",
    [ARG_FILE] = "-f",
    [ARG_DIR] = "-d",
    [ARG_COMMAND] = "",
    [ARG_SESSION] = "-f",
    [ARG_BOX] = "",
    [ARG_BOX_FILES] = ""};
static const char *const zsh_files[] = {[ARG_ANY] = "",
    [ARG_FILE] = "_files",
    [ARG_DIR] = "_files -/",
    [ARG_COMMAND] = "",
    [ARG_SESSION] = "_files",
    [ARG_BOX] = "",
    [ARG_BOX_FILES] = ""};

/* Commands that print existing names, one per line. */
#define BOX_NAMES "cordon box list --names 2>/dev/null"
static const char *const names_of[] = {
    [ARG_SESSION] = "cordon sessions list --ids 2>/dev/null",
    [ARG_BOX] = BOX_NAMES,
    [ARG_BOX_FILES] = BOX_NAMES,
};

static const char *names_of_kind(enum arg_kind kind)
{
    return kind < ARRAY_LEN(names_of) ? names_of[kind] : NULL;
}

static const char *names_command(const struct cmd *cmd)
{
    return names_of_kind(cmd->arg_kind);
}

static void bash_values(struct buf *b, const struct cmd *cmd, const char *words)
{
    const struct opt *opt;
    for (size_t i = 0; (opt = cmd_option(cmd, i)); i++) {
        if (opt->type == OPT_FLAG)
            continue;
        buf_printf(b, "    '%s:--%s'", words, opt->name);
        if (opt->letter)
            buf_printf(b, "|'%s:-%c'", words, opt->letter);
        buf_printf(b, ") mapfile -t COMPREPLY < <(compgen %s", bash_files[opt->kind]);
        if (opt->choices) {
            buf_add_z(b, " -W '");
            complete_add_words(b, opt->choices);
            buf_add_z(b, "'");
        }
        if (names_of_kind(opt->kind))
            buf_printf(b, " -W \"$(%s)\"", names_of_kind(opt->kind));
        buf_add_z(b, " -- \"$cur\"); return ;;\n");
    }
}

static void bash_options(struct buf *b, const struct cmd *cmd, const char *words)
{
    const struct opt *opt;
    buf_printf(b, "    '%s') opts='", words);
    for (size_t i = 0; (opt = cmd_option(cmd, i)); i++)
        buf_printf(b, "%s--%s", i ? " " : "", opt->name);
    buf_add_z(b, "' next='");
    add_next_words(b, cmd);
    if (names_command(cmd))
        buf_printf(b, "'\"$(%s)\"'", names_command(cmd));
    buf_printf(b, "' files='%s'", cmd->arg_choices ? "" : bash_files[cmd->arg_kind]);
    if (cmd->arg_kind == ARG_BOX_FILES)
        buf_add_z(b, "; ((given)) && next='' files='-f'");
    buf_add_z(b, " ;;\n");
}

void complete_bash(struct buf *b)
{
    buf_add_z(b, "# bash completion for cordon\n"
                 "_cordon() {\n"
                 "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "  local at='' opts='' next='' files='' i given=0\n"
                 "  COMPREPLY=()\n"
                 "  # --name=value comes as three words\n"
                 "  if [ \"$cur\" = '=' ]; then cur=''\n"
                 "  elif [ \"$prev\" = '=' ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                 "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                 "    case \"$at:${COMP_WORDS[i]}\" in\n");
    complete_visit(b, &cmd_cordon, add_descent);
    buf_add_z(b, COUNT_ARGUMENTS "    esac\n  done\n  case \"$at:$prev\" in\n");
    complete_visit(b, &cmd_cordon, bash_values);
    buf_add_z(b, "  esac\n  case \"$at\" in\n");
    complete_visit(b, &cmd_cordon, bash_options);
    buf_add_z(b, "  esac\n"
                 "  case \"$cur\" in\n"
                 "    -*) mapfile -t COMPREPLY < <(compgen -W \"$opts\" -- \"$cur\") ;;\n"
                 "    *) mapfile -t COMPREPLY < <(compgen $files -W \"$next\" -- \"$cur\") ;;\n"
                 "  esac\n"
                 "}\n"
                 "complete -o filenames -F _cordon cordon\n");
}

/* zsh shows 'name:description', split at the first colon. */
static void zsh_item(struct buf *b, const char *name, const char *about)
{
    buf_printf(b, " '%s:", name);
    add_quoted(b, about);
    buf_add_z(b, "'");
}

static void zsh_values(struct buf *b, const struct cmd *cmd, const char *words)
{
    const struct opt *opt;
    for (size_t i = 0; (opt = cmd_option(cmd, i)); i++) {
        if (opt->type == OPT_FLAG)
            continue;
        buf_printf(b, "    '%s:--%s') ", words, opt->name);
        if (opt->choices) {
            buf_add_z(b, "compadd -- ");
            complete_add_words(b, opt->choices);
            buf_add_z(b, opt->bare ? "; _files" : "");
        } else {
            if (names_of_kind(opt->kind))
                buf_printf(b, "compadd -- ${(f)\"$(%s)\"}; ", names_of_kind(opt->kind));
            buf_add_z(b, zsh_files[opt->kind]);
        }
        buf_add_z(b, "; return ;;\n");
    }
}

static void zsh_options(struct buf *b, const struct cmd *cmd, const char *words)
{
    const struct opt *opt;
    buf_printf(b, "    '%s')\n      opts=(", words);
    for (size_t i = 0; (opt = cmd_option(cmd, i)); i++) {
        char name[128];
        AUTO_BUF struct buf help = BUF_INIT(OPT_HELP_MAX);
        snprintf(name, sizeof(name), "--%s", opt->name);
        zsh_item(b, name, opt_help(opt, &help));
    }
    buf_add_z(b, ")\n      next=(");
    for (size_t i = 0; cmd->subs && cmd->subs[i]; i++)
        if (!cmd->subs[i]->hidden)
            zsh_item(b, cmd->subs[i]->name, cmd->subs[i]->summary);
    for (size_t i = 0; cmd->arg_choices && cmd->arg_choices[i]; i++)
        buf_printf(b, " '%s'", cmd->arg_choices[i]);
    if (names_command(cmd))
        buf_printf(b, "${(f)\"$(%s)\"}", names_command(cmd));
    buf_printf(b, ")\n      files='%s'", cmd->arg_choices ? "" : zsh_files[cmd->arg_kind]);
    if (cmd->arg_kind == ARG_BOX_FILES)
        buf_add_z(b, "; ((given)) && next=() files='_files'");
    buf_add_z(b, " ;;\n");
}

void complete_zsh(struct buf *b)
{
    buf_add_z(b, "#compdef cordon\n"
                 "# zsh completion for cordon\n"
                 "_cordon() {\n"
                 "  local at='' files='' i given=0\n"
                 "  local -a opts next\n"
                 "  for ((i = 2; i < CURRENT; i++)); do\n"
                 "    case \"$at:${words[i]}\" in\n");
    complete_visit(b, &cmd_cordon, add_descent);
    buf_add_z(b, COUNT_ARGUMENTS "    esac\n  done\n"
                                 "  local option=${words[CURRENT-1]}\n"
                                 "  if [[ $PREFIX == --*=* ]]; then\n"
                                 "    option=${PREFIX%%=*}\n"
                                 "    compset -P '*='\n"
                                 "  fi\n"
                                 "  case \"$at:$option\" in\n");
    complete_visit(b, &cmd_cordon, zsh_values);
    buf_add_z(b, "  esac\n  case \"$at\" in\n");
    complete_visit(b, &cmd_cordon, zsh_options);
    buf_add_z(b, "  esac\n"
                 "  if [[ $PREFIX == -* ]]; then\n"
                 "    _describe -o option opts\n"
                 "  else\n"
                 "    (( $#next )) && _describe word next\n"
                 "    [[ -n $files ]] && ${=files}\n"
                 "  fi\n"
                 "}\n"
                 "if [ \"$funcstack[1]\" = '_cordon' ]; then _cordon \"$@\"; else compdef _cordon "
                 "cordon; fi\n");
}

static void fish_descent(struct buf *b, const struct cmd *cmd, const char *words)
{
    for (size_t i = 0; cmd->subs && cmd->subs[i]; i++)
        if (!cmd->subs[i]->hidden && cmd->subs[i]->arg_kind != ARG_COMMAND)
            buf_printf(b, "            case '%s:%s'\n                set at '%s%s%s'\n", words,
                cmd->subs[i]->name, words, words[0] ? " " : "", cmd->subs[i]->name);
    const struct opt *opt;
    for (size_t i = 0; (opt = cmd_option(cmd, i)); i++)
        if (opt->type != OPT_FLAG)
            buf_printf(
                b, "            case '%s:--%s'\n                set skip 1\n", words, opt->name);
}

/* `when`: argument position, " first" or " more"; "": any. */
static void fish_line(
    struct buf *b, const char *words, const char *when, const char *flags, const char *about)
{
    buf_printf(b, "complete -c cordon -n '__cordon_at \"%s\"%s' %s", words, when, flags);
    if (about) {
        buf_add_z(b, " -d '");
        add_quoted(b, about);
        buf_add_z(b, "'");
    }
    buf_add_z(b, "\n");
}

static void fish_options(struct buf *b, const struct cmd *cmd, const char *words)
{
    const struct opt *opt;
    for (size_t i = 0; (opt = cmd_option(cmd, i)); i++) {
        AUTO_BUF struct buf flags = BUF_INIT(4096);
        buf_printf(&flags, "-l %s", opt->name);
        if (opt->letter)
            buf_printf(&flags, " -s %c", opt->letter);
        if (opt->type != OPT_FLAG)
            buf_add_z(&flags, zsh_files[opt->kind][0] ? " -r -F" : " -x");
        if (names_of_kind(opt->kind))
            buf_printf(&flags, " -a '(%s)'", names_of_kind(opt->kind));
        if (opt->choices) {
            buf_add_z(&flags, " -a '");
            complete_add_words(&flags, opt->choices);
            buf_add_z(&flags, "'");
        }
        AUTO_BUF struct buf help = BUF_INIT(OPT_HELP_MAX);
        fish_line(b, words, "", buf_z(&flags), opt_help(opt, &help));
    }
}

static void fish_words(struct buf *b, const struct cmd *cmd, const char *words)
{
    char flags[256];
    for (size_t i = 0; cmd->subs && cmd->subs[i]; i++) {
        snprintf(flags, sizeof(flags), "-f -a '%s'", cmd->subs[i]->name);
        if (!cmd->subs[i]->hidden)
            fish_line(b, words, "", flags, cmd->subs[i]->summary);
    }
    for (size_t i = 0; cmd->arg_choices && cmd->arg_choices[i]; i++) {
        snprintf(flags, sizeof(flags), "-f -a '%s'", cmd->arg_choices[i]);
        fish_line(b, words, "", flags, NULL);
    }
    if (names_command(cmd)) {
        snprintf(flags, sizeof(flags), "%s -a '(%s)'", cmd->arg_kind == ARG_SESSION ? "-F" : "-f",
            names_command(cmd));
        fish_line(b, words, cmd->arg_kind == ARG_BOX_FILES ? " first" : "", flags, NULL);
    }
    if (cmd->arg_kind == ARG_BOX_FILES)
        fish_line(b, words, " more", "-F", NULL);
    if (!cmd->arg_choices && cmd->arg_kind == ARG_FILE)
        fish_line(b, words, "", "-F", NULL);
    if (!cmd->arg_choices && cmd->arg_kind == ARG_DIR)
        fish_line(b, words, "", "-f -a '(__fish_complete_directories)'", NULL);
    fish_options(b, cmd, words);
}

void complete_fish(struct buf *b)
{
    buf_add_z(b, "# fish completion for cordon\n"
                 "function __cordon_at\n"
                 "    set -l at ''\n"
                 "    set -l skip 0\n"
                 "    set -l given 0\n"
                 "    for word in (commandline -opc)[2..-1]\n"
                 "        if test $skip = 1\n"
                 "            set skip 0\n"
                 "            continue\n"
                 "        end\n"
                 "        switch \"$at:$word\"\n");
    complete_visit(b, &cmd_cordon, fish_descent);
    buf_add_z(b, "            case '*:-*'\n"
                 "            case '*'\n"
                 "                set given (math $given + 1)\n"
                 "        end\n"
                 "    end\n"
                 "    test \"$at\" = \"$argv[1]\"; or return 1\n"
                 "    test \"$argv[2]\" != first -o $given -eq 0; or return 1\n"
                 "    test \"$argv[2]\" != more -o $given -gt 0\n"
                 "end\n"
                 "complete -c cordon -f\n");
    complete_visit(b, &cmd_cordon, fish_words);
}
