/* The one way in which files of a project are changed: several at once, all or nothing.
 *
 *     writer_new(root_fd, journal_dir, &w, err)
 *     writer_put(w, STR("src/a.c"), text, &(struct writer_options){.expect = &stamp}, err)
 *     writer_remove(w, STR("src/b.c"), NULL, err)
 *     writer_commit(w, &result, err)
 *
 * Paths are resolved already: relative to the root, plain components, no links in them. Anything
 * else is E_FS_VIOLATION. Each call checks at once whether the file can be changed; until
 * writer_commit() nothing is created anywhere, and a call that failed adds nothing.
 *
 * A commit makes all new versions beside the old ones, records what it is about to do (see
 * journal.h), and only then renames, one exchange per file. An exchange and not a rename over the
 * old file, because what was displaced can then be looked at: if it isn't the file that was
 * read, everything goes back and the answer is E_CONFLICT. A process or machine that dies
 * on the way leaves all old, or a record from which journal_recover() makes all old or all new.
 *
 * What belongs to a file stays: mode, owner, attributes; where it can't be kept, nothing is
 * changed. A file with several hard links becomes a file of its own. A read-only file is
 * refused, for root too.
 *
 * A symbolic link at a path is refused, because whoever writes there may mean the file behind it.
 * Who knows that it is one says so with a stamp in `expect`: then the link itself is replaced or
 * removed. `link` makes one.
 *
 * A directory gives way to a file or link in the same manner: `expect` is its stamp, and each file
 * in it is removed by the same change; others in it are E_CONFLICT. A file or link gives way to a
 * directory if it is removed first, and files below it are put then. Both need a file system that
 * can exchange two names.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_WRITER_H
#define PATH_WRITER_H

#include "base/err.h"
#include "path/stamp.h"

enum {
    WRITER_MAX_FILES = 10 * 1000,
    WRITER_MAX_MANY = 200 * 1000,
};
#define WRITER_MAX_BYTES      ((uint64_t)1 << 30)  /* in memory */
#define WRITER_MAX_COPY_BYTES ((uint64_t)64 << 30) /* from other files */

struct writer;

/* As git has it: execute bits for all who may read the file, or none. */
enum writer_exec {
    WRITER_EXEC_KEEP,
    WRITER_EXEC_ON,
    WRITER_EXEC_OFF,
};

struct writer_options {
    const struct stamp *expect; /* what the caller read; NULL: whatever is there now */
    bool must_exist;
    bool must_not_exist;
    bool keep_eol; /* if all lines of the old file end in CRLF, bare LFs become CRLF */
    bool set_mode; /* otherwise the mode is kept; a new file gets 0666 without the umask */
    mode_t mode;
    enum writer_exec exec; /* of the mode that is kept, or of a new file's 0666 */
    bool link;             /* the content is where a symbolic link shall point to */
    bool like_source; /* a new file from another one: owner and attributes are that one's, too */
};

enum writer_action {
    WRITER_CREATED,
    WRITER_UPDATED,
    WRITER_DELETED,
};

struct writer_file {
    struct str path;
    enum writer_action action;
    uint64_t bytes_written;
};

/* In the order of the paths; belongs to the writer. */
struct writer_result {
    const struct writer_file *files;
    size_t n;
};

/* The descriptor is borrowed. The journal directory is a path, made when it is needed. */
MUST_USE bool writer_new(
    int root_fd, const char *journal_dir, struct writer **ret_writer, struct err *err);
void writer_free(struct writer *w);
void writer_free_at(struct writer **w);
#define AUTO_WRITER AUTO(writer_free_at)

/* Up to WRITER_MAX_MANY files: for what a person asks for, not a model. */
void writer_allow_many(struct writer *w);

/* The content is not copied: it must stay until the commit. NULL options: the defaults. */
MUST_USE bool writer_put(struct writer *w, struct str rel, struct str content,
    const struct writer_options *options, struct err *err);
/* The content of another file, which is copied by the commit, piece by piece or as blocks that both
 * share: descriptor and path must stay until then. */
struct writer_source {
    int root_fd;        /* with `part`: the open file itself, which stays as it is */
    struct str path;    /* below it, NUL-terminated, without links */
    struct stamp stamp; /* what it is; E_CONFLICT if it is changed before it was copied */
    bool part;          /* `at` and `size` say what of it; there is neither path nor stamp */
    uint64_t at, size;
};
MUST_USE bool writer_put_from(struct writer *w, struct str rel, const struct writer_source *source,
    const struct writer_options *options, struct err *err);
MUST_USE bool writer_remove(
    struct writer *w, struct str rel, const struct stamp *expect, struct err *err);
/* A new file that takes mode, owner, attributes and (with keep_eol) line ends from an old one,
 * which goes. expect is about the old one; the new one must not exist. */
MUST_USE bool writer_move(struct writer *w, struct str from, struct str to, struct str content,
    const struct writer_options *options, struct err *err);

/* Directories that the removals leave empty are to go, too. */
void writer_tidy(struct writer *w);

/* What each path is, and will be when the change is done; inode 0: nothing. */
struct writer_staged {
    struct str path;
    struct stamp old, new;
};
struct writer_dir {
    struct str path;
    ino_t ino;
};
struct writer_plan {
    int root_fd;
    struct str root; /* its path, for people and for finding it again */
    const struct writer_staged *files;
    size_t n;
    const struct writer_dir *dirs; /* that are made for it, parents first */
    size_t n_dirs;
};
/* Is asked when all new versions are on disk and nothing is replaced yet; may still refuse. */
typedef bool (*writer_staged_fn)(void *context, const struct writer_plan *plan, struct err *err);
void writer_when_staged(struct writer *w, writer_staged_fn ask, void *context);

/* Once; after it the writer is only good for reading the result. */
MUST_USE bool writer_commit(struct writer *w, struct writer_result *ret_result, struct err *err);

const char *writer_action_name(enum writer_action action); /* "created" */

#endif
