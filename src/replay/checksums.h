/* Checks the files of a recording against its checksums.json.
 *
 *     struct mismatch m = {0};
 *     if (!checksums_verify(dir, &needs, &m, err)) return false;
 *     if (m.kind) ...a file is missing, was changed or was added...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_CHECKSUMS_H
#define REPLAY_CHECKSUMS_H

#include "record/reader.h"
#include "replay/mismatch.h"

struct checksums_needs {
    bool events, checksums;
};

/* Checks every file that is listed, and that every file is listed. Without checksums.json there is
 * nothing to check, unless it is needed. */
MUST_USE bool checksums_verify(
    int dir, const struct checksums_needs *needs, struct mismatch *m, struct err *err);

#endif
