/* Staging the new version of a file beside the old one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/writer_stage.h"

#include "base/buf.h"
#include "io/file.h"
#include "path/beneath.h"
#include "path/clone.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/xattr.h>

enum {
    CHUNK = 64 * 1024,
    NAMES_MAX = XATTR_LIST_MAX,
    VALUE_MAX = XATTR_SIZE_MAX,
};

static const char acl_name[] = "system.posix_acl_access";

struct staging {
    struct str rel; /* for messages */
    const struct stage_spec *spec;
    int old_fd; /* -1: no file to copy properties from */
    struct stat old;
    int fd;
};

bool stage_writable(const struct change *c, int dir_fd, const char *name, struct str rel,
    const struct stat *st, struct err *err)
{
    if (c->any_mode)
        return true;
    if ((st->st_mode & 0222) == 0)
        return err_set(err, E_IO,
            "'%s' is read-only (mode %04o): make it writable first (chmod u+w)", rel.p,
            (unsigned)(st->st_mode & 07777));
    if (faccessat(dir_fd, name, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    /* It existed at the stat: removed by another program since. */
    if (errno == ENOENT)
        return change_conflict(err, rel, "no longer exists");
    return err_errno(err, E_IO, errno, "cannot write '%s'", rel.p);
}

bool stage_delete(const struct change *c, size_t i, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    struct stat st;
    if (!change_place_open(c, i, &at, err))
        return false;
    if (fstatat(at.dir_fd, at.name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? change_conflict(err, op->rel, "no longer exists")
                               : err_errno(err, E_IO, errno, "cannot stat '%s'", op->rel.p);
    if (!stamp_is(&op->old, &st))
        return change_conflict(err, op->rel, "was changed in the meantime");
    return stage_writable(c, at.dir_fd, at.name, op->rel, &st, err);
}

bool stage_dir(struct change *c, size_t i, struct err *err)
{
    struct change_op *op = &c->ops[i];
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    struct stat st;
    if (!stage_delete(c, i, err) || !change_place_open(c, i, &at, err))
        return false;
    if (fstatat(at.dir_fd, at.temp, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return err_errno(err, E_IO, errno, "cannot create the directory '%s'", op->rel.p);
    op->new = stamp_of(&st);
    return true;
}

/* Opens the file whose properties to copy; it must be unchanged since the change was requested. */
static bool open_old(int dir_fd, const char *name, struct str rel, const struct stamp *stamp,
    struct staging *s, struct err *err)
{
    AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT && errno != ELOOP)
        return err_errno(err, E_IO, errno, "cannot read '%s' to preserve its attributes", rel.p);
    if (fd < 0 || fstat(fd, &s->old) != 0 || !S_ISREG(s->old.st_mode) || !stamp_is(stamp, &s->old))
        return change_conflict(err, rel, "was changed in the meantime");
    s->old_fd = TAKE_FD(fd);
    return true;
}

static bool open_like(
    const struct change *c, const struct stage_spec *spec, struct staging *s, struct err *err)
{
    const char *name;
    AUTO_FD int dir_fd = change_parent_open(c->root_fd, spec->like, &name);
    if (dir_fd < 0)
        return change_open_error(err, errno, spec->like);
    return open_old(dir_fd, name, spec->like, &spec->like_stamp, s, err);
}

/* Every line of the old file ends in CRLF, and there is at least one. */
static bool stage_all_crlf(const struct staging *s, bool *ret_all, struct err *err)
{
    AUTO_FREE char *chunk = base_alloc(CHUNK);
    size_t crlf = 0;
    char before = '\0';
    for (off_t at = 0;;) {
        ssize_t n = pread(s->old_fd, chunk, CHUNK, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, E_IO, errno, "cannot read '%s'", s->rel.p);
        for (ssize_t i = 0; i < n; i++) {
            if (chunk[i] == '\n' && before != '\r') {
                *ret_all = false;
                return true;
            }
            crlf += chunk[i] == '\n';
            before = chunk[i];
        }
        if (n == 0)
            break;
        at += n;
    }
    *ret_all = crlf > 0;
    return true;
}

static bool write_crlf(const struct staging *s, uint64_t *ret_bytes, struct err *err)
{
    AUTO_BUF struct buf b = BUF_INIT(2 * CHUNK);
    struct str left = s->spec->content;
    uint64_t bytes = 0;
    char before = '\0';
    while (left.n) {
        struct str part = str_head(left, CHUNK);
        buf_reset(&b);
        for (size_t i = 0; i < part.n; i++) {
            if (part.p[i] == '\n' && before != '\r')
                buf_add_byte(&b, '\r');
            before = part.p[i];
            buf_add_byte(&b, before);
        }
        if (!file_write(s->fd, buf_str(&b), s->rel.p, err))
            return false;
        bytes += b.n;
        left = str_skip(left, part.n);
    }
    *ret_bytes = bytes;
    return true;
}

static bool source_changed(const struct staging *s, struct err *err)
{
    struct str path = s->spec->source.path;
    err_set(err, E_CONFLICT, "'%s' was changed while it was being copied: try again", path.p);
    return err_ctx(err, "path", "%s", path.p);
}

/* Check the type first: opening a device or a pipe can have side effects. */
static int open_source(const struct stage_source *source)
{
    struct stat st;
    AUTO_FD int seen =
        beneath_open(source->root_fd, source->path.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (seen < 0 || fstat(seen, &st) != 0)
        return -1;
    if (!S_ISREG(st.st_mode)) {
        errno = ENOENT;
        return -1;
    }
    return beneath_open(source->root_fd, source->path.p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0,
        BENEATH_NO_SYMLINKS);
}

static bool is_source(const struct staging *s, int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && stamp_is(&s->spec->source.stamp, &st);
}

static bool stage_copy_part(const struct staging *s, uint64_t *ret_bytes, struct err *err)
{
    struct clone how = {0};
    const struct stage_source *source = &s->spec->source;
    const struct clone_part part = {
        .from = source->root_fd, .at = source->at, .to = s->fd, .size = source->size};
    if (!clone_part(&how, &part))
        return err_errno(err, E_IO, errno, "cannot write '%s'", s->rel.p);
    *ret_bytes = source->size;
    return true;
}

static bool copy_source(const struct staging *s, uint64_t *ret_bytes, struct err *err)
{
    struct clone how = {0};
    const struct stage_source *source = &s->spec->source;
    AUTO_FD int fd = open_source(source);
    if (fd < 0 && !change_is_gone(errno))
        return err_errno(err, E_IO, errno, "cannot read '%s'", source->path.p);
    if (fd < 0 || !is_source(s, fd))
        return source_changed(s, err);
    if (!clone_content(&how, fd, s->fd, (uint64_t)source->stamp.size))
        return err_errno(err, E_IO, errno, "cannot write '%s'", s->rel.p);
    if (!is_source(s, fd))
        return source_changed(s, err);
    *ret_bytes = (uint64_t)source->stamp.size;
    return true;
}

/* Copies the properties of the source to the new file. */
static bool open_source_like(struct staging *s, struct err *err)
{
    AUTO_FD int fd = open_source(&s->spec->source);
    if (fd < 0 || !is_source(s, fd) || fstat(fd, &s->old) != 0)
        return source_changed(s, err);
    s->old_fd = TAKE_FD(fd);
    return true;
}

static bool write_content(const struct staging *s, uint64_t *ret_bytes, struct err *err)
{
    bool crlf = false;
    if (s->spec->source.part)
        return stage_copy_part(s, ret_bytes, err);
    if (s->spec->source.path.p)
        return copy_source(s, ret_bytes, err);
    if (s->spec->keep_eol && s->old_fd >= 0 && !stage_all_crlf(s, &crlf, err))
        return false;
    if (crlf)
        return write_crlf(s, ret_bytes, err);
    if (!file_write(s->fd, s->spec->content, s->rel.p, err))
        return false;
    *ret_bytes = s->spec->content.n;
    return true;
}

static bool keep_owner(const struct staging *s, const struct stat *now, struct err *err)
{
    uid_t uid = now->st_uid == s->old.st_uid ? (uid_t)-1 : s->old.st_uid;
    gid_t gid = now->st_gid == s->old.st_gid ? (gid_t)-1 : s->old.st_gid;
    if (uid == (uid_t)-1 && gid == (gid_t)-1)
        return true;
    if (fchown(s->fd, uid, gid) == 0)
        return true;
    return err_errno(err, E_IO, errno,
        "cannot preserve the owner of '%s' (user %u, group %u): change the file as that "
        "user",
        s->rel.p, (unsigned)s->old.st_uid, (unsigned)s->old.st_gid);
}

/* Attributes of the content and not of the file: dropped when a file is written. */
static bool goes_with_content(const char *name)
{
    static const char *const names[] = {"security.capability", "security.evm", "security.ima"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool keep_attribute(const struct staging *s, const char *name, char *value, struct err *err)
{
    ssize_t n = fgetxattr(s->old_fd, name, value, VALUE_MAX);
    if (n < 0 && errno == ENODATA)
        return true;
    if (n >= 0 && fsetxattr(s->fd, name, value, (size_t)n, 0) == 0)
        return true;
    int errnum = errno;
    /* A label that the system assigns to both files can't be set and need not be. */
    AUTO_FREE char *given = base_alloc(VALUE_MAX);
    if (n >= 0 && fgetxattr(s->fd, name, given, VALUE_MAX) == n &&
        memcmp(given, value, (size_t)n) == 0)
        return true;
    return err_errno(
        err, E_IO, errnum, "cannot preserve the attribute '%s' of '%s'", name, s->rel.p);
}

static bool keep_attributes(const struct staging *s, struct err *err)
{
    char few[1024]; /* most files have few or none */
    AUTO_FREE char *many = NULL;
    char *names = few;
    ssize_t n = flistxattr(s->old_fd, names, sizeof(few));
    bool has_acl = false;
    if (n < 0 && errno == ERANGE) {
        names = many = base_alloc(NAMES_MAX);
        n = flistxattr(s->old_fd, names, NAMES_MAX);
    }
    if (n < 0 && errno != ENOTSUP)
        return err_errno(err, E_IO, errno, "cannot list the attributes of '%s'", s->rel.p);
    AUTO_FREE char *value = n > 0 ? base_alloc(VALUE_MAX) : NULL;
    for (const char *name = names; name < names + MAX(n, 0); name += strlen(name) + 1) {
        has_acl = has_acl || strcmp(name, acl_name) == 0;
        if (!goes_with_content(name) && !keep_attribute(s, name, value, err))
            return false;
    }
    /* Remove an ACL that a new file inherits from its directory. */
    if (!has_acl && fremovexattr(s->fd, acl_name) != 0 && errno != ENODATA && errno != ENOTSUP)
        return err_errno(err, E_IO, errno, "cannot preserve the access rights of '%s'", s->rel.p);
    return true;
}

/* The mode bits that the kernel keeps when a file is written. */
static mode_t mode_after_write(mode_t mode)
{
    mode &= 07777 & ~(mode_t)S_ISUID;
    return mode & S_IXGRP ? mode & ~(mode_t)S_ISGID : mode;
}

static mode_t stage_with_exec(mode_t mode, enum writer_exec exec)
{
    bool has = mode & S_IXUSR;
    if (exec == WRITER_EXEC_ON && !has)
        return mode | (mode & 0444) >> 2;
    return exec == WRITER_EXEC_OFF && has ? mode & ~(mode_t)0111 : mode;
}

/* Sets the mode if requested; *ret_st is the file afterwards. */
static bool stage_set_mode(
    const struct staging *s, bool set, mode_t mode, struct stat *ret_st, struct err *err)
{
    if ((set && fchmod(s->fd, mode) != 0) || fstat(s->fd, ret_st) != 0)
        return err_errno(err, E_IO, errno, "cannot set the mode of '%s'", s->rel.p);
    if (set && (ret_st->st_mode & 07777) != mode)
        return err_set(err, E_IO, "cannot set the mode of '%s' to %04o", s->rel.p, (unsigned)mode);
    return true;
}

static bool stage_keep_metadata(const struct staging *s, struct stat *ret_st, struct err *err)
{
    const struct stage_spec *spec = s->spec;
    struct stat now;
    if (s->old_fd < 0)
        return stage_set_mode(s, spec->set_mode, spec->mode, ret_st, err);
    if (fstat(s->fd, &now) != 0)
        return err_errno(err, E_IO, errno, "cannot stat the new version of '%s'", s->rel.p);
    mode_t kept = stage_with_exec(mode_after_write(s->old.st_mode), spec->exec);
    mode_t mode = spec->set_mode ? spec->mode : kept;
    /* The mode comes last: a change of owner clears bits. */
    return keep_owner(s, &now, err) && keep_attributes(s, err) &&
           stage_set_mode(s, true, mode, ret_st, err);
}

static bool stage_fill(
    const struct staging *s, bool sync, uint64_t *ret_bytes, struct stamp *ret_new, struct err *err)
{
    struct stat st;
    uint64_t bytes = 0;
    if (!write_content(s, &bytes, err) || !stage_keep_metadata(s, &st, err))
        return false;
    if (sync && fsync(s->fd) != 0)
        return err_errno(err, E_IO, errno, "cannot write '%s'", s->rel.p);
    *ret_new = stamp_of(&st);
    *ret_bytes = bytes;
    return true;
}

/* A symlink has no properties to keep; it must only be unchanged. */
static bool check_old_link(
    const struct change_place *at, const struct change_op *op, struct err *err)
{
    struct stat st;
    if (fstatat(at->dir_fd, at->name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !stamp_is(&op->old, &st))
        return change_conflict(err, op->rel, "was changed in the meantime");
    return true;
}

/* Everything in the directory is part of the change, and can be removed. */
static bool check_old_dir(
    const struct change *c, size_t i, const struct change_place *at, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    bool known;
    struct stat st;
    if (fstatat(at->dir_fd, at->name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !stamp_is(&op->old, &st))
        return change_conflict(err, op->rel, "was changed in the meantime");
    if (!shape_look(c, i, at->dir_fd, at->name, true, &known, err))
        return false;
    if (known)
        return true;
    err_set(err, E_CONFLICT, "the directory '%s' also contains other files", op->rel.p);
    return err_ctx(err, "path", "%s", op->rel.p);
}

static bool stage_check_old(const struct change *c, size_t i, const struct change_place *at,
    struct staging *s, struct err *err)
{
    const struct change_op *op = &c->ops[i];
    if (op->kind == CHANGE_TO_FILE)
        return check_old_dir(c, i, at, err);
    if (S_ISLNK(op->old.mode))
        return check_old_link(at, op, err);
    return open_old(at->dir_fd, at->name, op->rel, &op->old, s, err);
}

static bool make_link(const struct change *c, const struct change_place *at, const char *name,
    struct change_op *op, struct str target, struct err *err)
{
    char text[PATH_MAX];
    struct stat st;
    BUG_ON(target.n >= sizeof(text));
    memcpy(text, target.p, target.n);
    text[target.n] = '\0';
    AUTO_FD int fd = symlinkat(text, at->dir_fd, name) == 0
                         ? openat(at->dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
                         : -1;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot create the link '%s'", op->rel.p);
    if (!S_ISLNK(st.st_mode))
        return change_conflict(err, op->rel, "was created in the meantime");
    if (!change_give(c, at->dir_fd, fd) || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot set the owner of '%s'", op->rel.p);
    op->new = stamp_of(&st);
    return true;
}

bool stage_file(
    struct change *c, size_t i, const struct stage_spec *spec, uint64_t *ret_bytes, struct err *err)
{
    struct change_op *op = &c->ops[i];
    struct staging s = {.rel = op->rel, .spec = spec, .old_fd = -1, .fd = -1};
    AUTO_PLACE struct change_place at = {.dir_fd = -1};
    if (!change_place_open(c, i, &at, err))
        return false;
    if (op->kind != CHANGE_CREATE && !stage_check_old(c, i, &at, &s, err))
        return false;
    const char *name = change_staged_name(c, i, &at);
    if (op->kind == CHANGE_CREATE && spec->like.p && !open_like(c, spec, &s, err))
        return false;
    if (op->kind == CHANGE_CREATE && spec->like_source && !open_source_like(&s, err))
        return false;
    AUTO_FD int old_fd = s.old_fd;
    if (old_fd >= 0 && op->kind == CHANGE_UPDATE &&
        !stage_writable(c, at.dir_fd, at.name, op->rel, &s.old, err))
        return false;
    if (spec->link) {
        *ret_bytes = spec->content.n;
        return make_link(c, &at, name, op, spec->content, err);
    }
    /* Only a new file without an explicit mode is readable by others while it is written. */
    mode_t new = spec->exec == WRITER_EXEC_ON ? 0777 : 0666;
    mode_t mode = old_fd < 0 && !spec->set_mode ? new : 0600;
    AUTO_FD int fd =
        openat(at.dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0 && errno == ENOENT)
        return change_open_error(err, ENOENT, op->rel);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot write next to '%s'", op->rel.p);
    if (old_fd < 0 && !change_give(c, at.dir_fd, fd))
        return err_errno(err, E_IO, errno, "cannot set the owner of '%s'", op->rel.p);
    s.fd = fd;
    return stage_fill(&s, !change_syncs_whole(c, i), ret_bytes, &op->new, err);
}
