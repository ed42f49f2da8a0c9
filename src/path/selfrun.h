/* Files that take effect automatically, in two classes. A program on the host runs one of the first
 * class without being asked (git, a shell, an editor, a version manager, CI); one of the second
 * class controls builds, tests, linters or agents, which a user starts. One table; a path is
 * relative to the project's top, and is matched at any depth, ignoring case. Symlinks are not
 * followed: a caller that knows the target of a symlink also checks that path (change/risks.h).
 *
 *     if (selfrun_class(STR("sub/.envrc")) == SELFRUN_RUNS) ...
 *     const char *why = selfrun_reason(STR(".github/workflows/ci.yml"));    "runs in CI"
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_SELFRUN_H
#define PATH_SELFRUN_H

#include "base/str.h"

enum selfrun_class {
    SELFRUN_NONE,   /* an ordinary file */
    SELFRUN_STEERS, /* read by a build, test, linter or agent that a user starts */
    SELFRUN_RUNS,   /* runs, or determines what runs, without being started */
};

struct selfrun {
    enum selfrun_class class;
    const char *reason; /* NULL: an ordinary file */
};

struct selfrun selfrun_look(struct str path);
enum selfrun_class selfrun_class(struct str path);
const char *selfrun_reason(struct str path);

/* The same for a directory on the path to such files, such as `.github`: harmless as a directory,
 * but a symlink in its place determines which files those are. */
struct selfrun selfrun_leads(struct str path);

/* SELFRUN_RUNS if tools must not change the file without the user's consent: a file of that class,
 * unless it belongs to a version control system (protected by repo/protect.h) or is in a directory
 * that package managers and build tools fill (`.venv`, `.gradle`). */
struct selfrun selfrun_guards(struct str path);

#endif
