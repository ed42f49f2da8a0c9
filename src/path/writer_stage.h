/* Creates the new version of a file beside the old one: content, owner, mode, attributes, on disk.
 *
 *     struct stage_spec spec = {.content = text, .keep_eol = true};
 *     stage_file(&change, i, &spec, &bytes, err)
 *
 * Failure to transfer a property of the old file to the new one is an error, not a silent loss.
 * Only what the kernel itself drops when a file is written is lost: set-user-ID, set-group-ID,
 * capabilities.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_WRITER_STAGE_H
#define PATH_WRITER_STAGE_H

#include "path/change.h"
#include "path/writer.h"

/* A file whose content is copied during staging, so that it need not be in memory. */
struct stage_source {
    int root_fd;        /* borrowed */
    struct str path;    /* below it, NUL-terminated, without symlinks; p NULL: none */
    struct stamp stamp; /* expected state; E_CONFLICT if it differs before or after the copy */
    bool part;          /* a part of root_fd, which is then the open, unchanging file itself */
    uint64_t at, size;
};

struct stage_spec {
    struct str content;
    struct stage_source source; /* instead of the content */
    struct str like; /* a path, NUL-terminated: copy all properties of that file; p NULL: none */
    struct stamp like_stamp; /* its expected state */
    bool like_source;        /* new file: copy them from its source instead */
    mode_t mode;
    bool set_mode;         /* otherwise the old mode; a new file gets 0666 & ~umask */
    enum writer_exec exec; /* change of the execute bits if the mode is not set */
    bool link;             /* create a symlink; the content is its target */
    bool keep_eol;         /* if all lines of the old file end in CRLF, so do the new ones */
};

/* Writes the temporary file of the i-th operation and records its stamp there. */
MUST_USE bool stage_file(struct change *c, size_t i, const struct stage_spec *spec,
    uint64_t *ret_bytes, struct err *err);

/* Records the filled directory that replaces the file of the i-th operation; the file must be
 * unchanged. */
MUST_USE bool stage_dir(struct change *c, size_t i, struct err *err);

/* A file to be deleted has no new version: checks that it is unchanged, and not read-only. */
MUST_USE bool stage_delete(const struct change *c, size_t i, struct err *err);

/* Refuses a file without any write permission, even for root, unless the change is of any mode. */
MUST_USE bool stage_writable(const struct change *c, int dir_fd, const char *name, struct str rel,
    const struct stat *st, struct err *err);

#endif
