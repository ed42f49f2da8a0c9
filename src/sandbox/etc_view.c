/* Finds the entries of /etc to show or to hide. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/etc_view.h"

#include "io/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum {
    ETC_DEPTH = 12,
    ETC_ENTRIES = 20000, /* that are looked at: with more, /etc is not shown */
    ETC_FILE_MODE = S_IROTH,
    ETC_DIR_MODE = S_IROTH | S_IXOTH,
    ETC_COPY = 64 << 10, /* larger files are mounted */
    ETC_PATTERN = 64,
    ETC_SCRATCH = 64 << 20,
    ETC_ROOM = 2 << 20, /* of the caller's arena */
};

/* Passwords and keys, and settings that often contain them, even if any user may read them; and the
 * identity of the machine. Patterns of paths relative to /etc; none starts with a wildcard. */
static const char *const omitted[] = {
    ".git",
    ".pwd.lock",
    "NetworkManager",
    "aliases.db",
    "ansible",
    "apt/auth.conf*",
    "boto.cfg",
    "chef",
    "cloud",
    "credstore*",
    "cups",
    "davfs2",
    "docker",
    "exim4",
    "fstab",
    "gitconfig",
    "gshadow*",
    "ipsec*",
    "iscsi",
    "krb5.keytab",
    "kubernetes",
    "ldap.secret",
    "letsencrypt",
    "libvirt",
    "machine-id",
    "msmtprc",
    "multipath",
    "mysql/debian.cnf",
    "netplan",
    "netrc",
    "npmrc",
    "openvpn",
    "pip.conf",
    "pki/*/private",
    "pki/private",
    "postfix",
    "ppp",
    "puppet*",
    "rancher",
    "salt",
    "samba",
    "security/opasswd",
    "shadow*",
    "smbcredentials*",
    "ssh/ssh_host_*",
    "ssl/private",
    "strongswan*",
    "sudoers*",
    "swanctl",
    "vpnc",
    "wireguard",
    "wpa_supplicant",
};

/* Whole directories of symlinks and certificates, which need no look. */
static const char *const public[] = {"alternatives", "ssl/certs"};

/* A step, without what is read later. */
struct etc_found {
    enum plan_kind kind;
    const char *path; /* relative to /etc */
};

struct etc_walk {
    const struct etc_input *in;
    struct arena *scratch;
    struct etc_found *found;
    size_t n, cap;
    uint64_t mount; /* entries on other mounts are hidden */
    size_t seen;    /* entries looked at */
    bool failed;
};

/* An entry of a directory. */
struct etc_entry {
    int dir;
    const char *name, *path; /* relative to /etc */
    unsigned char type;
    int depth;
};

static size_t count_slashes(const char *path)
{
    size_t n = 0;
    for (; *path; path++)
        n += *path == '/';
    return n;
}

bool etc_view_omits(const char *path)
{
    const size_t depth = count_slashes(path);
    for (size_t i = 0; i < ARRAY_LEN(omitted); i++)
        if (omitted[i][0] == path[0] && count_slashes(omitted[i]) == depth &&
            fnmatch(omitted[i], path, FNM_PATHNAME) == 0)
            return true;
    return false;
}

/* The first components of a pattern, as many as a path with this number of slashes has; none if the
 * pattern has no more. */
static size_t etc_pattern_head(const char *pattern, size_t slashes)
{
    for (size_t i = 0; pattern[i]; i++)
        if (pattern[i] == '/' && slashes-- == 0)
            return i;
    return 0;
}

/* Whether a known place of secrets is below a directory. */
static bool etc_leads_to_secrets(const char *path)
{
    const size_t slashes = count_slashes(path);
    for (size_t i = 0; i < ARRAY_LEN(omitted); i++) {
        char head[ETC_PATTERN] = {0};
        size_t n = etc_pattern_head(omitted[i], slashes);
        memcpy(head, omitted[i], MIN(n, sizeof(head) - 1));
        if (n && fnmatch(head, path, FNM_PATHNAME) == 0)
            return true;
    }
    return false;
}

static bool etc_is_known_public(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(public); i++)
        if (strcmp(path, public[i]) == 0)
            return true;
    return false;
}

/* The baseline puts a file there. */
static bool etc_has_own_files(const char *path)
{
    return strcmp(path, "ssl") == 0;
}

/* Walking ------------------------------------------------------------------------------------- */

static void etc_add(struct etc_walk *w, enum plan_kind kind, const char *path)
{
    ARENA_GROW(w->scratch, w->found, w->n, w->cap);
    w->found[w->n++] = (struct etc_found){kind, path};
}

/* Whether any user may read it, and it is on the same mount as /etc. */
static bool etc_is_public(uint64_t mount, const struct statx *st)
{
    const mode_t need = S_ISDIR(st->stx_mode) ? ETC_DIR_MODE : ETC_FILE_MODE;
    return (S_ISDIR(st->stx_mode) || S_ISREG(st->stx_mode)) && (st->stx_mode & need) == need &&
           st->stx_mnt_id == mount;
}

static bool etc_stat(int dir, const char *name, struct statx *ret_st)
{
    return statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID,
               ret_st) == 0;
}

/* Whether it may be shown; its type is PLAN_DIR, PLAN_FILE or PLAN_LINK. The mode matters only if
 * the user can read more than others; but what is on another mount would be shown by a mount. */
static bool etc_may_show(
    const struct etc_walk *w, const struct etc_entry *e, enum plan_kind *ret_type)
{
    struct statx st;
    unsigned char type = e->type;
    if (etc_view_omits(e->path))
        return false;
    if (type == DT_UNKNOWN || (type != DT_LNK && (w->in->modes || !w->in->layered))) {
        if (!etc_stat(e->dir, e->name, &st) ||
            (!S_ISLNK(st.stx_mode) && !etc_is_public(w->mount, &st)))
            return false;
        type = (unsigned char)IFTODT(st.stx_mode);
    }
    *ret_type = type == DT_DIR ? PLAN_DIR : type == DT_LNK ? PLAN_LINK : PLAN_FILE;
    return true;
}

static bool etc_walk_dir(struct etc_walk *w, const struct etc_entry *e);

/* Returns whether all of an entry may be shown. Symlinks may: their targets are shown by their own
 * paths, or not. */
static bool etc_look_at(struct etc_walk *w, const struct etc_entry *e)
{
    enum plan_kind type = PLAN_OMIT;
    const char *path = arena_strdup(w->scratch, str_z(e->path));
    w->failed |= ++w->seen > ETC_ENTRIES;
    if (w->failed)
        return false;
    bool may = etc_may_show(w, e, &type);
    bool enters = type == PLAN_DIR && !etc_is_known_public(path) &&
                  (w->in->modes || !w->in->layered || etc_leads_to_secrets(path));
    if (enters)
        return etc_walk_dir(w, &(struct etc_entry){e->dir, e->name, path, e->type, e->depth});
    if (w->in->layered ? !may : may)
        etc_add(w, type == PLAN_DIR ? PLAN_BIND : type, path);
    return may;
}

/* All entries first, as if the directory were our own; if they all may be shown, one mount shows
 * them. */
static bool etc_walk_dir(struct etc_walk *w, const struct etc_entry *e)
{
    AUTO_DIR struct dir list = DIR_INIT(ETC_ENTRIES);
    const size_t before = w->n;
    bool all = true;
    w->failed |= e->depth == ETC_DEPTH;
    if (w->failed || !dir_open(&list, e->dir, e->name)) {
        w->failed |= errno != EACCES; /* the command can't open it either */
        return false;
    }
    if (!w->in->layered && e->path[0])
        etc_add(w, PLAN_DIR, e->path);
    while (!w->failed && dir_next(&list)) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s%s%s", e->path, e->path[0] ? "/" : "", list.name);
        all &=
            etc_look_at(w, &(struct etc_entry){list.fd, list.name, path, list.type, e->depth + 1});
    }
    w->failed |= !dir_complete(&list);
    if (!w->in->layered && all && e->path[0] && !etc_has_own_files(e->path)) {
        w->n = before;
        etc_add(w, PLAN_BIND, e->path);
    }
    return all;
}

/* Steps --------------------------------------------------------------------------------------- */

static bool etc_make_link(const char *from, struct arena *arena, struct plan_step *step)
{
    char target[PATH_MAX];
    ssize_t n = readlink(from, target, sizeof(target));
    if (n <= 0 || (size_t)n == sizeof(target))
        return false;
    step->text = arena_str(arena, str_n(target, (size_t)n));
    return true;
}

/* A mount of exactly the file or directory that may be shown. */
static bool etc_make_bind(const char *from, uint64_t mount, struct plan_step *step)
{
    struct statx st;
    if (!etc_stat(AT_FDCWD, from, &st) || !etc_is_public(mount, &st))
        return false;
    step->kind = PLAN_BIND;
    step->text = str_z(from);
    step->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
    step->ino = st.stx_ino;
    step->access = PLAN_READ | (S_ISDIR(st.stx_mode) ? PLAN_IS_DIR : 0u);
    step->may_vanish = true;
    return true;
}

/* The mode is checked on the open file: that is the one that is copied. */
static bool etc_make_file(
    const char *from, uint64_t mount, struct arena *arena, struct plan_step *step)
{
    struct stat st;
    AUTO_FD int fd = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !(st.st_mode & ETC_FILE_MODE))
        return false;
    if (st.st_size > ETC_COPY)
        return etc_make_bind(from, mount, step);
    char *bytes = arena_alloc(arena, (size_t)st.st_size + 1);
    ssize_t n = read(fd, bytes, (size_t)st.st_size);
    step->text = str_n(bytes, (size_t)MAX(n, 0));
    step->mode = 0644;
    return n >= 0;
}

/* Returns false for an entry that is gone. */
static bool etc_make_step(const struct etc_walk *w, const struct etc_found *f, struct arena *arena,
    struct plan_step *ret_step)
{
    const char *from = arena_printf(arena, "%s/%s", w->in->from, f->path);
    *ret_step =
        (struct plan_step){.kind = f->kind, .at = str_z(arena_printf(arena, "/etc/%s", f->path))};
    switch (f->kind) {
    case PLAN_LINK:
        return etc_make_link(from, arena, ret_step);
    case PLAN_FILE:
        return etc_make_file(from, w->mount, arena, ret_step);
    case PLAN_BIND:
        return etc_make_bind(from, w->mount, ret_step);
    default:
        return true;
    }
}

static struct plan_step etc_layer(const struct etc_input *in, const struct statx *st)
{
    return (struct plan_step){.kind = PLAN_LAYERED,
        .at = STR("/etc"),
        .text = str_z(in->from),
        .dev = makedev(st->stx_dev_major, st->stx_dev_minor),
        .ino = st->stx_ino};
}

void etc_view_collect(const struct etc_input *in, struct arena *arena, struct etc_view *ret_view)
{
    AUTO_ARENA struct arena scratch = ARENA_INIT(ETC_SCRATCH);
    struct etc_walk w = {.in = in, .scratch = &scratch};
    struct statx st;
    *ret_view = (struct etc_view){0};
    if (!etc_stat(AT_FDCWD, in->from, &st))
        return;
    w.mount = st.stx_mnt_id;
    etc_walk_dir(&w, &(struct etc_entry){AT_FDCWD, in->from, "", DT_DIR, 0});
    if (w.failed || arena_left(arena) < ETC_ROOM + (w.n + 1) * sizeof(*ret_view->steps))
        return;
    struct etc_view view = {.steps = ARENA_NEW(arena, struct plan_step, w.n + 1)};
    if (in->layered)
        view.steps[view.n++] = etc_layer(in, &st);
    for (size_t i = 0; i < w.n && arena_left(arena) > ETC_ROOM; i++)
        view.n += etc_make_step(&w, &w.found[i], arena, &view.steps[view.n]);
    *ret_view = view;
}
