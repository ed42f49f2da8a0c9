/* Commands of git that write protected parts of a repository: the command for the user, who can run
 * it outside.
 *
 *     struct str command = denied_git_command(thread, plan->cwd, text);   while the process waits
 *     denied_git_add_fix(&b, command, target);                            "git push -u origin main"
 *
 * A process chooses its arguments, and a user may repeat what is printed: only commands are named
 * that change where git looks for something, without options that could run a program.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_DENIED_GIT_H
#define SANDBOX_DENIED_GIT_H

#include "base/buf.h"
#include "sandbox/denied.h"

/* Reads the arguments of the git command that the user or a script started, each ended by NUL: git
 * runs itself for parts of its work. If it works in another directory than `start`, "-C" and that
 * directory are its first arguments. Returns no value if they are too long, or it is not git. */
struct str denied_git_command(pid_t thread, struct str start, char to[DENIED_COMMAND_MAX]);

/* Adds that command as text for a shell. For other changes of settings, adds the command that opens
 * the file in an editor; otherwise nothing. */
void denied_git_add_fix(struct buf *b, struct str command, struct str target);

/* Adds a word for a shell. */
void denied_git_add_word(struct buf *b, struct str word);

/* Whether creating this directory adds a linked work tree to a repository whose settings are
 * protected. Such a directory may be anywhere, also where it ends with the sandbox. The path is
 * absolute. */
struct plan;
bool denied_git_adds_tree(const struct plan *plan, struct str path);

#endif
