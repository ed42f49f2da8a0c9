/* Commands and their options as tables. Parsing, --help, completions and the option sections of the
 * manual are all generated from them.
 *
 *     static const struct opt glob_opts[] = {
 *         OPT_SET("json", 0, struct glob_options, json, "print JSON"),
 *     };
 *     const struct cmd cmd_glob = {.name = "glob", .opts = glob_opts, ...};
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/field.h"

enum opt_type {
    OPT_FLAG,     /* bool */
    OPT_TEXT,     /* const char * */
    OPT_NUMBER,   /* int64_t within [min, max] */
    OPT_CHOICE,   /* const char *, one of the choices */
    OPT_LIST,     /* struct opt_list: repeatable, each one of the choices */
    OPT_WORDLIST, /* struct opt_words: repeatable, any word */
    OPT_STRLIST,  /* struct str_list: the same, for structs that are not of the CLI */
};

/* Values in the order given. */
enum {
    OPT_LIST_MAX = 16,
};
struct opt_list {
    const char *v[OPT_LIST_MAX];
    size_t n;
};

enum {
    OPT_WORDS_MAX = 64,
};
struct opt_words {
    const char *v[OPT_WORDS_MAX];
    size_t n;
};

/* Kind of a value, for completions. */
enum arg_kind {
    ARG_ANY,
    ARG_FILE,
    ARG_DIR,
    ARG_COMMAND,   /* the name of a command */
    ARG_SESSION,   /* the id of a session */
    ARG_BOX,       /* the name of a box */
    ARG_BOX_FILES, /* the name of a box, then files */
};

struct opt {
    const char *name;
    const char *old_name; /* still accepted; NULL: none */
    size_t typed;         /* offset of a const char * for "--NAME" as typed; 0: none */
    char letter;          /* 0: none */
    enum opt_type type;
    size_t offset;
    const char *value;          /* placeholder in the help and the manual */
    const char *const *choices; /* NULL-terminated; of a text: suggestions, others are allowed */
    const char *bare;           /* for a choice: value of the option if none is given */
    enum arg_kind kind;
    int64_t min, max;
    const char *help; /* {choices} stands for their names */
    bool replaces;    /* replaces the global option of the same name */
};

/* The member must have the type that the option writes. */
#define OPT_OFFSET(type, s, m) \
    (offsetof(s, m) +          \
        0 * sizeof(char[__builtin_types_compatible_p(type, __typeof__(((s *)0)->m)) ? 1 : -1]))
#define OPT_SET(n, l, s, m, h)                                                                \
    {                                                                                         \
        .name = n, .letter = l, .type = OPT_FLAG, .offset = OPT_OFFSET(bool, s, m), .help = h \
    }
#define OPT_STRING(n, l, s, m, v, k, h)                                                     \
    {                                                                                       \
        .name = n, .letter = l, .type = OPT_TEXT, .offset = OPT_OFFSET(const char *, s, m), \
        .value = v, .kind = k, .help = h                                                    \
    }
/* t: member for the name as typed, for messages. */
#define OPT_STRING_WAS(old, n, s, m, t, v, k, h)                                                \
    {                                                                                           \
        .name = n, .old_name = old, .type = OPT_TEXT, .offset = OPT_OFFSET(const char *, s, m), \
        .typed = OPT_OFFSET(const char *, s, t), .value = v, .kind = k, .help = h               \
    }
#define OPT_INT(n, l, s, m, v, lo, hi, h)                                                \
    {                                                                                    \
        .name = n, .letter = l, .type = OPT_NUMBER, .offset = OPT_OFFSET(int64_t, s, m), \
        .value = v, .min = lo, .max = hi, .help = h                                      \
    }
#define OPT_ONE_OF(n, l, s, m, v, c, h)                                                       \
    {                                                                                         \
        .name = n, .letter = l, .type = OPT_CHOICE, .offset = OPT_OFFSET(const char *, s, m), \
        .value = v, .choices = c, .help = h                                                   \
    }
/* Any text; the names are common ones. */
#define OPT_SUGGEST(n, l, s, m, v, c, h)                                                    \
    {                                                                                       \
        .name = n, .letter = l, .type = OPT_TEXT, .offset = OPT_OFFSET(const char *, s, m), \
        .value = v, .choices = c, .help = h                                                 \
    }
/* --NAME or --NAME=VALUE. */
#define OPT_BARE_OR_ONE_OF(n, s, m, v, c, b, h)                                              \
    {                                                                                        \
        .name = n, .type = OPT_CHOICE, .offset = OPT_OFFSET(const char *, s, m), .value = v, \
        .choices = c, .bare = b, .kind = ARG_FILE, .help = h                                 \
    }
#define OPT_MANY_OF(n, l, s, m, v, c, h)                                                       \
    {                                                                                          \
        .name = n, .letter = l, .type = OPT_LIST, .offset = OPT_OFFSET(struct opt_list, s, m), \
        .value = v, .choices = c, .help = h                                                    \
    }

#define OPT_WORDS(n, l, s, m, v, h)                                         \
    {                                                                       \
        .name = n, .letter = l, .type = OPT_WORDLIST,                       \
        .offset = OPT_OFFSET(struct opt_words, s, m), .value = v, .help = h \
    }

#define OPT_STRS(n, s, m, v, k, h)                                                               \
    {                                                                                            \
        .name = n, .type = OPT_STRLIST, .offset = OPT_OFFSET(struct str_list, s, m), .value = v, \
        .kind = k, .help = h                                                                     \
    }

struct buf;
struct cli;

/* Options struct and arguments (argv strings) of a command. */
struct args {
    const void *options;
    const char *const *v;
    size_t n;
    size_t n_before; /* number of these before a "--" */
};

struct example {
    const char *command;
    const char *about;
};

/* A heading among the options, in help and manual: before the option of this name. */
struct opt_group {
    const char *first;
    const char *title;
};

/* Initializers for the tables of a command. */
#define CMD_OPTS(table, type) \
    .opts = (table), .n_opts = ARRAY_LEN(table), .options_size = sizeof(type)
#define CMD_GROUPS(table)   .groups = (table), .n_groups = ARRAY_LEN(table)
#define CMD_EXAMPLES(table) .examples = (table), .n_examples = ARRAY_LEN(table)

struct cmd {
    const char *name;
    const char *summary; /* one line, no full stop */
    const char *about;   /* paragraphs for the help and the manual */
    const char *usage;   /* the arguments: "PATTERN" or "[DIR]" */
    size_t min_args, max_args;
    size_t own_args; /* after this many, all words (even options) are another program's; 0: off */
    enum arg_kind arg_kind;
    const char *const *arg_choices; /* NULL-terminated */
    const struct opt *opts;
    size_t n_opts;
    size_t options_size;
    const struct opt_group *groups; /* in the order of the options */
    size_t n_groups;
    const struct example *examples;
    size_t n_examples;
    const struct cmd *const *subs; /* NULL-terminated; NULL if the command has run */
    bool hidden;                   /* for the build, not for users */
    bool minor;                    /* only listed by name at the end of the overview */
    bool no_json;                  /* refuses --json, which is then not offered */
    bool (*run)(struct cli *cli, const struct args *args, struct err *err);
};

/* The program itself: the root of the command tree. */
extern const struct cmd cmd_cordon;

/* Options that commands take, except those with no_json. */
struct global_options {
    bool help;
    bool version;
    bool json;
    bool verbose;
    const char *color;
};
extern const struct opt global_opts[];
extern const size_t n_global_opts;

/* Option number i of a command: its own options, then the global ones that it does not replace or
 * refuse. NULL after the last. */
const struct opt *cmd_option(const struct cmd *cmd, size_t i);

/* The heading before an option of the command, or NULL. */
const char *cmd_heading(const struct cmd *cmd, const struct opt *opt);

enum {
    OPT_HELP_MAX = 4096,
};
/* The help of an option, with its choices: in their place, or at the end unless it names them all.
 * May use the buffer. */
const char *opt_help(const struct opt *opt, struct buf *b);

/* Finds a subcommand by name. For an unknown one, fails with E_CLI_INVALID_ARG and suggests the
 * closest match. */
MUST_USE bool cmd_find(
    const struct cmd *parent, const char *name, const struct cmd **ret_cmd, struct err *err);

/* Finds a command by its path from the root. */
MUST_USE bool cmd_find_path(
    const char *const *words, size_t n, const struct cmd **ret_cmd, struct err *err);

/* Sets the error for a command that was given without a subcommand; returns false. */
bool cmd_needs_command(const struct cmd *cmd, struct err *err);

/* Adds the full name, such as "cordon path glob". */
void cmd_full_name(const struct cmd *cmd, struct buf *b);

#endif
