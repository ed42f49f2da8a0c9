/* Contents that files had when a manifest was made, as far as git's index knows them. An `:overlay`
 * box has no copy of the project; a file that was changed since and changed back (checkout, stash,
 * another branch and back, touch) is recognized by its hash.
 *
 *     former_save(project_fd, host_fd);                      with the manifest
 *     former_load(host_fd, &k);
 *     if (former_is(&k, manifest_find(&m, path), path, fd, &st)) ... the content is the same again
 *
 * git's index has the hash of a file together with its inode, size and times: if these are those of
 * the manifest, the hash is that of the file at that time. So nothing is read to save them. Files
 * that git does not track, and files with filters, are unknown.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_FORMER_H
#define CHANGE_FORMER_H

#include "change/manifest.h"

#define FORMER_FILE "index"

struct former_file; /* an entry of the index */

struct former {
    struct buf index; /* as git wrote it */
    uint64_t written_s, written_ns;
    struct arena arena;
    struct former_file *files; /* by path; parsed on the first use */
    size_t n;
    bool parsed;
};

#define FORMER_INIT \
    ((struct former){.index = BUF_INIT(256 << 20), .arena = ARENA_INIT((size_t)1 << 30)})
#define AUTO_FORMER AUTO(former_done)

/* Copies the index into the box's host/; a project without one has none. Failing is not an error:
 * then nothing is known. */
void former_save(int project_fd, int host_fd);
void former_load(int host_fd, struct former *k); /* k must be empty */
void former_done(struct former *k);

/* Whether the content of an open regular file is the one that the entry described. */
bool former_is(struct former *k, const struct manifest_entry *e, struct str path, int fd,
    const struct stat *st);

#endif
