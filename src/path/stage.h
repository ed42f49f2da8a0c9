/* Makes the new version of a file beside the old one: content, owner, mode, attributes, on disk.
 *
 *     struct stage_spec spec = {.content = text, .keep_eol = true};
 *     stage_file(&change, i, &spec, &bytes, err)
 *
 * Whatever belongs to the old file and can't be given to the new one is an error, not a loss. Only
 * what the kernel itself takes away when a file is written goes: set-user-id, set-group-id,
 * capabilities.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_STAGE_H
#define PATH_STAGE_H

#include "path/change.h"
#include "path/writer.h"

/* A file whose content is copied when the new version is made, so that it need not be in memory. */
struct stage_source {
    int root_fd;        /* borrowed */
    struct str path;    /* below it, NUL-terminated, without links; p NULL: there is no such file */
    struct stamp stamp; /* what it was; E_CONFLICT if it is not before the copy and after */
    bool part;          /* of root_fd, which is the open file itself, which stays as it is */
    uint64_t at, size;
};

struct stage_spec {
    struct str content;
    struct stage_source source; /* instead of the content */
    struct str like; /* a path, NUL-terminated: take everything from that file; p NULL: no */
    struct stamp like_stamp; /* what it was */
    bool like_source;        /* of a new file: or from its source */
    mode_t mode;
    bool set_mode;         /* otherwise the old mode; for a new file 0666 without the umask */
    enum writer_exec exec; /* what of the execute bits changes then */
    bool link;             /* the content is where a symbolic link shall point to */
    bool keep_eol;         /* the old file's lines all end in CRLF: so do the new ones */
};

/* Writes the temporary file of the i-th operation and records its stamp there. */
MUST_USE bool stage_file(struct change *c, size_t i, const struct stage_spec *spec,
    uint64_t *ret_bytes, struct err *err);

/* The directory that the i-th operation makes out of a file is filled; the file is still as it was.
 */
MUST_USE bool stage_dir(struct change *c, size_t i, struct err *err);

/* A file that is to be deleted has no new version: it is still as it was, and not read-only. */
MUST_USE bool stage_delete(const struct change *c, size_t i, struct err *err);

/* A file that nobody may write to is refused, for root too. */
MUST_USE bool stage_writable(
    int dir_fd, const char *name, struct str rel, const struct stat *st, struct err *err);

#endif
