/* Files that run, or say what runs, without anybody starting them: a box that changes one could act
 * outside of it later. One table; a path is judged at any depth and in any case.
 *
 *     const char *why = selfrun_reason(STR(".github/workflows/ci.yml"));    "runs in CI"
 */
#ifndef BOX_SELFRUN_H
#define BOX_SELFRUN_H

#include "base/str.h"

/* NULL: an ordinary file. */
const char *selfrun_reason(struct str path);

#endif
