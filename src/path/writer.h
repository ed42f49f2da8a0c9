/* The only way to change files of a project: several at once, all or nothing.
 *
 *     writer_new(root_fd, journal_dir, &w, err)
 *     writer_put(w, STR("src/a.c"), text, &(struct writer_options){.expect = &stamp}, err)
 *     writer_remove(w, STR("src/b.c"), NULL, err)
 *     writer_commit(w, &result, err)
 *
 * Paths must already be resolved: relative to the root, plain components, no symlinks in them.
 * Anything else is E_FS_VIOLATION. Each call checks immediately whether the file can be changed;
 * nothing is created before writer_commit(), and a call that failed adds nothing.
 *
 * A commit creates all new versions beside the old ones, records its intent (see journal.h), and
 * only then renames, one exchange per file. It uses an exchange instead of a rename over the old
 * file so that the displaced file can be checked: if it isn't the file that was read, everything is
 * undone and the result is E_CONFLICT. A process or machine that dies in between leaves all files
 * old, or a journal from which journal_recover() makes all old or all new.
 *
 * Mode, owner and attributes of a file are kept; if that is not possible, nothing is changed. A
 * file with several hard links becomes a separate file. A read-only file is refused, even for root.
 *
 * A symlink at a path is refused, because the caller may mean the file behind it. A caller that
 * knows that it is a symlink passes its stamp in `expect`: then the symlink itself is replaced or
 * removed. `link` creates one.
 *
 * A directory is replaced by a file or symlink in the same way: `expect` is its stamp, and each
 * file in it is removed by the same change; other files in it are E_CONFLICT. A file or symlink is
 * replaced by a directory by removing it first and then putting files below it. Both need a file
 * system that can exchange two names.
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

/* As in git: execute bits for everyone who may read the file, or none. */
enum writer_exec {
    WRITER_EXEC_KEEP,
    WRITER_EXEC_ON,
    WRITER_EXEC_OFF,
};

struct writer_options {
    const struct stamp *expect; /* what the caller read; NULL: accept any current state */
    bool must_exist;
    bool must_not_exist;
    bool keep_eol; /* if all lines of the old file end in CRLF, bare LFs become CRLF */
    bool set_mode; /* otherwise the mode is kept; a new file gets 0666 & ~umask */
    mode_t mode;
    enum writer_exec exec; /* applies to the mode that is kept, or to a new file's 0666 */
    bool link;             /* create a symlink; the content is its target */
    bool like_source;      /* a new file from another one: also copy its owner and attributes */
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

/* In the order of the paths; owned by the writer. */
struct writer_result {
    const struct writer_file *files;
    size_t n;
};

/* The descriptor is borrowed. The journal directory is a path, created on demand. */
MUST_USE bool writer_new(
    int root_fd, const char *journal_dir, struct writer **ret_writer, struct err *err);
void writer_free(struct writer *w);
void writer_free_at(struct writer **w);
#define AUTO_WRITER AUTO(writer_free_at)

/* Allows up to WRITER_MAX_MANY files: for requests of a person, not of a model. */
void writer_allow_many(struct writer *w);

/* The content is not copied: it must stay valid until the commit. NULL options: the defaults. */
MUST_USE bool writer_put(struct writer *w, struct str rel, struct str content,
    const struct writer_options *options, struct err *err);
/* The content of another file, copied during the commit or sharing its blocks: descriptor and path
 * must stay valid until then. */
struct writer_source {
    int root_fd;        /* with `part`: the open, unchanging file itself */
    struct str path;    /* below it, NUL-terminated, without symlinks */
    struct stamp stamp; /* its state; E_CONFLICT if it changes before it is copied */
    bool part;          /* `at` and `size` select a part; path and stamp are unused */
    uint64_t at, size;
};
MUST_USE bool writer_put_from(struct writer *w, struct str rel, const struct writer_source *source,
    const struct writer_options *options, struct err *err);
MUST_USE bool writer_remove(
    struct writer *w, struct str rel, const struct stamp *expect, struct err *err);
/* Creates a file with the mode, owner, attributes and (with keep_eol) line endings of an old one,
 * which is removed. expect refers to the old one; the new one must not exist. */
MUST_USE bool writer_move(struct writer *w, struct str from, struct str to, struct str content,
    const struct writer_options *options, struct err *err);

/* Also removes directories that the removals leave empty. */
void writer_tidy(struct writer *w);

/* Also replaces and deletes read-only files: for trees of our own. */
void writer_any_mode(struct writer *w);

/* If we are root, new files and directories belong to the owner and group of the directory that
 * they are created in. */
void writer_own_as_dirs(struct writer *w);

/* The state of each path before and after the change; inode 0: no file. */
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
    struct str root; /* its path, for messages and for finding it again */
    const struct writer_staged *files;
    size_t n;
    const struct writer_dir *dirs; /* created by the change, parents first */
    size_t n_dirs;
};
/* Called when all new versions are on disk and nothing is replaced yet; may still refuse. */
typedef bool (*writer_staged_fn)(void *context, const struct writer_plan *plan, struct err *err);
void writer_when_staged(struct writer *w, writer_staged_fn ask, void *context);

/* Call once; afterwards the writer is only valid for reading the result. */
MUST_USE bool writer_commit(struct writer *w, struct writer_result *ret_result, struct err *err);

const char *writer_action_name(enum writer_action action); /* "created" */

#endif
