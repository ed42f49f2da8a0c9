/* Trees of files for tests: creating them, describing them, and acting on them in another process.
 *
 *     tree_file(test_path("r/a"), "text", 0640);
 *     AUTO_FREE char *before = tree_describe(test_path("r"));
 *     CHECK_INT(child_run(act, arg), 0);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_TREE_H
#define TESTS_UNIT_TREE_H

#include "base/base.h"

#include <sys/types.h>

/* Creates a file with exactly this mode, and its parents. */
void tree_file(const char *path, const char *content, mode_t mode);
/* Sets an attribute; false if the file system has none. */
bool tree_set_xattr(const char *path, const char *name, const char *value);
/* Every entry in order: path, type and mode, content, user attributes. For free(). "" if there is
 * no such directory. */
char *tree_describe(const char *root);
void tree_remove(const char *root);
int tree_open(const char *root); /* a descriptor of the directory */

/* Runs it in a child: returns its result (0 to 255), or -1 if the child did not exit normally. */
typedef int (*child_fn)(void *arg);
int child_run(child_fn act, void *arg);
/* In the calling process: private mounts (with a user namespace if not root). */
bool child_private_mounts(void);
/* In the calling process: renameat2 answers EINVAL to every flag, as old file systems do. */
bool child_without_rename_flags(void);
/* In the calling process: a system call fails with this error number. */
bool child_without_call(long number, int errnum);
/* In the calling process: O_TMPFILE fails with this error number. */
bool child_without_unnamed_files(int errnum);

#endif
