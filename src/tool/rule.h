/* Rules that allow calls without asking.
 *
 *     "shell:git *"          any git command, alone or together with other allowed ones
 *     "write_file:src/"      a path below src; "src/x.c": that one; "*.md": by name
 *     "edit_file:*"          any path
 *
 * A command line is covered if it is plain (tool/cmdline.h) and each simple command in it is
 * covered by some rule. In a rule for commands `*` matches any text within a word; as the last
 * word, any number of further words. A pattern, which is a rule with a `*`, does not cover a
 * command that runs more than its words show (tool/tool_runs.h): only a rule without one does,
 * because the user has read it in full. `*` alone does not cover commands that deserve a second
 * look, and no rule covers a shell that reads its commands from input.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_RULE_H
#define TOOL_RULE_H

#include "base/err.h"
#include "base/field.h"

/* Validates a rule; E_CONFIG if it is invalid. */
MUST_USE bool rule_check(struct str rule, struct err *err);

struct rule_set {
    const struct str_list *lists[2]; /* may be NULL */
};

/* Whether the command line is covered; if not, *ret_why (static or in the arena) is the reason. */
bool rule_covers_command(const struct rule_set *rules, const char *tool, struct str line,
    struct arena *a, const char **ret_why);

/* Whether every path (one per line, relative to the root) is covered. */
bool rule_covers_paths(const struct rule_set *rules, const char *tool, struct str paths);

/* The same, by rules that name one path each, without a wildcard. */
bool rule_names_paths(const struct rule_set *rules, const char *tool, struct str paths);

/* Returns the rule that `always` would add, which covers exactly the subject; unset if
 * impossible. */
struct str rule_propose(const char *tool, bool is_command, struct str subject, struct arena *a);

#endif
