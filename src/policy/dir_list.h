/* Lists of directories, as policies and PATH have them. Pure.
 *
 *     if (!dir_list_holds(&policy->exec.allowed_executables, path))
 *         dir_list_append(&search_path, path);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_DIR_LIST_H
#define POLICY_DIR_LIST_H

#include "base/buf.h"
#include "base/field.h"

/* Whether a path is one of these, or below one. */
bool dir_list_holds(const struct str_list *dirs, struct str path);

/* A new list of both. */
struct str_list dir_list_join(struct arena *arena, struct str_list one, struct str_list two);

/* Appends a directory to a PATH, unless it is there. */
void dir_list_append(struct buf *search_path, struct str dir);

#endif
