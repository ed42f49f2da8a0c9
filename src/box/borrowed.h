/* Objects that a project's repository borrows from another one (`git clone --shared`, alternates),
 * packed into the copy of a box, which does not see the other repository.
 *
 *     if (!borrowed_copy(project_fd, base_fd)) ... git does not work in the copy ...
 *
 * Only objects that the copy's own references, HEAD and index lead to are packed: a repository that
 * another user prepared gets nothing from the other one of which it does not know the hash. git
 * runs in a sandbox, in an empty repository of ours, so that no setting of the project's applies.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_BORROWED_H
#define BOX_BORROWED_H

#include "base/base.h"

/* Whether the repository in `.git` of a work tree borrows objects. */
bool borrowed_any(int project_fd);

/* True if the copy has all objects now, and no longer refers to others. */
MUST_USE bool borrowed_copy(int project_fd, int base_fd);

#endif
