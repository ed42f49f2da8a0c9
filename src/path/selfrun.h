/* Files that act by themselves, in two classes. A program on the host runs one of the first class
 * without being told to (git, a shell, an editor, a version manager, CI); one of the second class
 * steers builds, tests, linters or agents, which somebody starts. One table; a path is relative to
 * the project's top, and judged at any depth and in any case. Links are not followed: a caller that
 * knows where a link leads judges that path, too (box/acting.h).
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
    SELFRUN_STEERS, /* read by a build, a test, a linter or an agent that somebody starts */
    SELFRUN_RUNS,   /* runs, or says what runs, without being started */
};

struct selfrun {
    enum selfrun_class class;
    const char *reason; /* NULL: an ordinary file */
};

struct selfrun selfrun_look(struct str path);
enum selfrun_class selfrun_class(struct str path);
const char *selfrun_reason(struct str path);

/* The same for a directory on the way to such files, such as `.github`: harmless as a directory,
 * but a link in its place decides which files those are. */
struct selfrun selfrun_leads(struct str path);

#endif
