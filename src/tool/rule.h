/* Rules that say which calls need no question.
 *
 *     "shell:git *"          any git command, alone or beside others that are allowed, too
 *     "write_file:src/"      a path below src; "src/x.c": that one; "*.md": by name
 *     "edit_file:*"          any path
 *
 * A command line is covered if it is plain (tool/cmdline.h) and each simple command in it is
 * covered by some rule. In a rule for commands `*` stands for any text within a word; as the last
 * word, for any further words, or none. A pattern, which is a rule with a `*`, does not cover a
 * command that runs more than its words show (tool/runs.h): only a rule without one does, which
 * somebody has read as a whole. `*` alone does not cover commands that deserve a second look, and
 * nothing covers a shell that is fed its commands.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_RULE_H
#define TOOL_RULE_H

#include "base/err.h"
#include "base/field.h"

/* Is it a rule at all? E_CONFIG otherwise. */
MUST_USE bool rule_check(struct str rule, struct err *err);

struct rule_set {
    const struct str_list *lists[2]; /* may be NULL */
};

/* Whether the command line is covered; if not, ret_why (of the program's, or in the arena) says
 * what stands against it. */
bool rule_covers_command(const struct rule_set *rules, const char *tool, struct str line,
    struct arena *a, const char **ret_why);

/* Whether every path (one a line, relative to the root) is covered. */
bool rule_covers_paths(const struct rule_set *rules, const char *tool, struct str paths);

/* The rule that `always` would add: it covers what was asked, and nothing else. No value: there is
 * no such rule. */
struct str rule_propose(const char *tool, bool is_command, struct str subject, struct arena *a);

#endif
