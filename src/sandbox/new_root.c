/* Mounting. Sources are opened again in the child's own mount namespace, since the kernel clones
 * mounts only from there; each is compared by device and inode with the file that the policy check
 * saw, and the mount is made from that descriptor. Mount points are created only on file systems of
 * our own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/new_root.h"

#include "io/file.h"
#include "path/lexical.h"
#include "sandbox/machine.h"
#include "sandbox/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

enum {
    ROOT_BYTES = 64 << 20, /* copies of small files and loaders */
    INODE_BYTES = 1024,    /* a tmpfs may have one file per this many bytes */
    OWN_MAX = 8,
    COMPONENT_MAX = 256,
    TTY_GID = 5,
    TERMINALS_MAX = 512, /* of the 3,072 for all devpts mounts but the machine's own */
};

#define ATTR_SAFE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define NO_LINKS  (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)

/* The parent directory of a step's place. Steps are sorted, so the next one often has the same. */
struct root_parent_dir {
    struct str path; /* points into the step's path */
    int fd;
    bool own; /* entries may be created in it */
};

struct root_option {
    const char *key, *value;
};

struct root_builder {
    const struct plan *plan;
    const struct new_root_options *options;
    struct root root;
    dev_t own[OWN_MAX]; /* file systems that we made */
    size_t n_own;
    struct root_error error;
    struct root_parent_dir parent;
    struct str layered; /* a directory with the host's below it; no value: none */
    int masks[2];       /* a mask for files and one for directories; -1: not made yet */
};

static bool root_fail(struct root_builder *b, enum stage stage)
{
    b->error.stage = stage;
    b->error.errnum = errno;
    return false;
}

static int root_openat2(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve};
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static bool set_attr(int fd, uint64_t set, uint64_t clear, bool recursive)
{
    struct mount_attr attr = {.attr_set = set, .attr_clr = clear};
    unsigned flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0u);
    return mount_setattr(fd, "", flags, &attr, sizeof(attr)) == 0;
}

/* Places -------------------------------------------------------------------------------------- */

static bool root_is_own(const struct root_builder *b, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    for (size_t i = 0; i < b->n_own; i++)
        if (b->own[i] == st.st_dev)
            return true;
    return false;
}

static bool root_add_own(struct root_builder *b, int fd)
{
    struct stat st;
    if (b->n_own == OWN_MAX || fstat(fd, &st) != 0)
        return false;
    b->own[b->n_own++] = st.st_dev;
    return true;
}

/* Gets the next component of a path; returns false at its end, or with errno if it is too long. */
static bool root_next_component(const char **path, char component[COMPONENT_MAX])
{
    size_t n = 0;
    while (**path == '/')
        (*path)++;
    while ((*path)[n] && (*path)[n] != '/')
        n++;
    errno = n < COMPONENT_MAX ? 0 : ENAMETOOLONG;
    if (n == 0 || n >= COMPONENT_MAX)
        return false;
    memcpy(component, *path, n);
    component[n] = '\0';
    *path += n;
    return true;
}

/* Opens a subdirectory. Creates it if it does not exist and the parent is ours. */
static int root_enter_dir(struct root_builder *b, int dir, const char *name)
{
    int fd = root_openat2(dir, name, O_PATH | O_DIRECTORY, NO_LINKS);
    if (fd >= 0 || errno != ENOENT || !root_is_own(b, dir))
        return fd;
    if (mkdirat(dir, name, 0755) != 0 && errno != EEXIST)
        return -1;
    return root_openat2(dir, name, O_PATH | O_DIRECTORY, NO_LINKS);
}

/* Opens a directory below the root, and creates components that do not exist. */
static int make_dirs(struct root_builder *b, const char *path)
{
    char component[COMPONENT_MAX];
    AUTO_FD int dir = root_openat2(b->root.fd, ".", O_PATH | O_DIRECTORY, NO_LINKS);
    while (dir >= 0 && root_next_component(&path, component)) {
        int inner = root_enter_dir(b, dir, component);
        close(dir);
        dir = inner;
        if (dir >= 0)
            errno = 0;
    }
    return errno ? -1 : TAKE_FD(dir);
}

static int root_open_dir(struct root_builder *b, struct str path)
{
    char text[PATH_MAX];
    errno = ENAMETOOLONG;
    if (path.n >= sizeof(text))
        return -1;
    memcpy(text, path.p, path.n);
    text[path.n] = '\0';
    int fd = root_openat2(b->root.fd, path.n ? text + 1 : ".", O_PATH | O_DIRECTORY, NO_LINKS);
    return fd >= 0 || errno != ENOENT ? fd : make_dirs(b, text);
}

/* Opens the parent directory of a path as b->parent; returns the last component. */
static const char *root_open_parent(struct root_builder *b, struct str at)
{
    struct str path = str_head(at, (size_t)str_find_last(at, '/'));
    if (b->parent.fd < 0 || !str_eq(b->parent.path, path)) {
        if (b->parent.fd >= 0)
            close(TAKE_FD(b->parent.fd));
        int fd = root_open_dir(b, path);
        if (fd < 0)
            return NULL;
        b->parent = (struct root_parent_dir){path, fd, root_is_own(b, fd)};
    }
    return at.p + path.n + 1;
}

static void root_close_parent(struct root_builder *b)
{
    if (b->parent.fd >= 0)
        close(TAKE_FD(b->parent.fd));
}

/* Returns the name of a mount point in its parent directory, which root_open_parent() opens.
 * Creates the mount point if it does not exist and that directory is ours. */
static const char *root_make_place(
    struct root_builder *b, const struct plan_step *step, bool is_dir)
{
    const char *name = root_open_parent(b, step->at);
    int dir = b->parent.fd;
    if (!name || !b->parent.own)
        return name;
    bool made = is_dir ? mkdirat(dir, name, 0755) == 0 : mknodat(dir, name, S_IFREG | 0444, 0) == 0;
    return made || errno == EEXIST ? name : NULL;
}

/* Whether the step's source on the host is gone by now, where that is not an error. */
static bool has_vanished(const struct plan_step *step)
{
    return step->may_vanish && (errno == ENOENT || errno == ENOTDIR || errno == ESTALE);
}

/* The name is one component, and move_mount() does not follow a symlink there. A source that was
 * unlinked since it was opened can't be mounted. */
static bool root_attach(struct root_builder *b, const struct plan_step *step, int tree, bool is_dir)
{
    const char *name = root_make_place(b, step, is_dir);
    if (!name)
        return root_fail(b, STAGE_PLACE);
    if (move_mount(tree, "", b->parent.fd, name, MOVE_MOUNT_F_EMPTY_PATH) != 0)
        return has_vanished(step) || root_fail(b, STAGE_BIND);
    return true;
}

/* Steps --------------------------------------------------------------------------------------- */

static bool root_make_dir(struct root_builder *b, const struct plan_step *step)
{
    if (step->at.n == 1)
        return true;
    return root_make_place(b, step, true) || root_fail(b, STAGE_PLACE);
}

/* Opens a step's source on the host, if it is still the file that was checked. */
static int open_exactly(const struct plan_source *source, uint64_t flags, struct stat *ret_stat)
{
    struct stat st;
    AUTO_FD int fd = root_openat2(
        AT_FDCWD, source->path.p, flags | O_NOFOLLOW, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    if (fd < 0 || fstat(fd, &st) != 0)
        return -1;
    if (st.st_dev != source->dev || st.st_ino != source->ino) {
        errno = ESTALE;
        return -1;
    }
    *ret_stat = st;
    return TAKE_FD(fd);
}

static int root_open_source(const struct plan_step *step, uint64_t flags, struct stat *ret_stat)
{
    return open_exactly(&(struct plan_source){step->text, step->dev, step->ino}, flags, ret_stat);
}

/* Copies a file of the host into one of ours, with the patch applied. */
static bool root_copy_file(
    struct root_builder *b, const struct plan_step *step, int dir, const char *name)
{
    struct stat st;
    AUTO_FD int source = root_open_source(step, O_RDONLY, &st);
    if (source < 0)
        return root_fail(b, STAGE_CHANGED);
    AUTO_FD int fd =
        openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, step->mode);
    if (fd < 0)
        return root_fail(b, STAGE_PLACE);
    for (off_t left = st.st_size; left > 0;) {
        ssize_t n = sendfile(fd, source, NULL, (size_t)left);
        if (n <= 0)
            return root_fail(b, STAGE_PLACE);
        left -= n;
    }
    const struct elf_patch *patch = step->patch;
    if (patch && pwrite(fd, patch->bytes, patch->n, (off_t)patch->at) != (ssize_t)patch->n)
        return root_fail(b, STAGE_PLACE);
    return true;
}

static bool root_make_file(struct root_builder *b, const struct plan_step *step)
{
    const char *name = root_open_parent(b, step->at);
    errno = name && !b->parent.own ? EXDEV : errno;
    if (!name || !b->parent.own)
        return root_fail(b, STAGE_PLACE);
    AUTO_FD int fd = openat(
        b->parent.fd, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, step->mode);
    return (fd >= 0 && file_write_all(fd, step->text)) || root_fail(b, STAGE_PLACE);
}

/* Creates a symlink as a second name for a file: if its place is taken by a symlink or is in a
 * directory of the host, the name already exists or can't be created. */
static bool root_make_link(struct root_builder *b, const struct plan_step *step)
{
    const char *name = root_open_parent(b, step->at);
    if (!name && errno != ELOOP && errno != ENOTDIR && errno != EXDEV)
        return root_fail(b, STAGE_PLACE);
    if (!name || !b->parent.own)
        return true;
    if (symlinkat(step->text.p, b->parent.fd, name) != 0 && errno != EEXIST)
        return root_fail(b, STAGE_PLACE);
    return true;
}

static uint64_t root_mount_attr(unsigned access)
{
    uint64_t attr = ATTR_SAFE;
    if (!(access & PLAN_WRITE))
        attr |= MOUNT_ATTR_RDONLY;
    if (!(access & (PLAN_EXEC | PLAN_MAP)))
        attr |= MOUNT_ATTR_NOEXEC;
    return attr;
}

static int clone_tree(int fd, bool recursive)
{
    unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH;
    return open_tree(fd, "", flags | (recursive ? AT_RECURSIVE : 0u));
}

bool root_map_step(const struct plan_step *step, int user_namespace, int *ret_tree)
{
    struct stat st;
    bool is_dir = step->access & PLAN_IS_DIR;
    /* Private: as a peer of the host's mount it would propagate every mount made on it to the
     * host. */
    struct mount_attr attr = {.attr_set = root_mount_attr(step->access) |
                                          (step->unmapped ? 0u : (unsigned)MOUNT_ATTR_IDMAP),
        .propagation = MS_PRIVATE,
        .userns_fd = step->unmapped ? 0u : (unsigned)user_namespace};
    errno = EOPNOTSUPP;
    if (step->kind == PLAN_OVERLAY)
        return false;
    *ret_tree = -1;
    if (step->kind != PLAN_BIND)
        return true;
    AUTO_FD int source = root_open_source(step, O_PATH, &st);
    AUTO_FD int tree = source >= 0 ? clone_tree(source, is_dir) : -1;
    if (tree < 0) {
        *ret_tree = ROOT_VANISHED;
        return has_vanished(step);
    }
    const unsigned flags = AT_EMPTY_PATH | (is_dir ? AT_RECURSIVE : 0u);
    if (mount_setattr(tree, "", flags, &attr, sizeof(attr)) != 0)
        return false;
    *ret_tree = TAKE_FD(tree);
    return true;
}

static bool bind_mapped(struct root_builder *b, const struct plan_step *step)
{
    AUTO_FD int tree = b->options->trees[step - b->plan->steps];
    errno = EBADF;
    if (tree < 0)
        return tree == ROOT_VANISHED || root_fail(b, STAGE_BIND);
    return root_attach(b, step, tree, step->access & PLAN_IS_DIR);
}

static bool bind_host(struct root_builder *b, const struct plan_step *step)
{
    struct stat st;
    bool is_dir = step->access & PLAN_IS_DIR;
    if (b->options->trees)
        return bind_mapped(b, step);
    AUTO_FD int source = root_open_source(step, O_PATH, &st);
    if (source < 0)
        return has_vanished(step) || root_fail(b, STAGE_CHANGED);
    AUTO_FD int tree = clone_tree(source, is_dir);
    if (tree < 0 || !set_attr(tree, root_mount_attr(step->access), 0, is_dir))
        return has_vanished(step) || root_fail(b, STAGE_BIND);
    return root_attach(b, step, tree, is_dir);
}

/* The patched copy is in our root for a moment, and afterwards only at the loader's path. */
static bool bind_loader(struct root_builder *b, const struct plan_step *step)
{
    static const char name[] = "loader";
    if (!root_copy_file(b, step, b->root.fd, name))
        return false;
    AUTO_FD int file = root_openat2(b->root.fd, name, O_PATH, NO_LINKS);
    AUTO_FD int tree = file >= 0 ? clone_tree(file, false) : -1;
    if (tree < 0 || !set_attr(tree, ATTR_SAFE | MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOEXEC, false))
        return root_fail(b, STAGE_BIND);
    if (!root_attach(b, step, tree, false))
        return false;
    return unlinkat(b->root.fd, name, 0) == 0 || root_fail(b, STAGE_PLACE);
}

static bool new_root_is_harmless(dev_t rdev)
{
    static const unsigned char memory[] = {3, 5, 7, 8, 9}; /* null zero full random urandom */
    for (size_t i = 0; i < sizeof(memory); i++)
        if (rdev == makedev(1, memory[i]))
            return true;
    return rdev == makedev(5, 0); /* tty: the opener's own terminal */
}

static bool bind_device(struct root_builder *b, const struct plan_step *step)
{
    struct stat st;
    /* Read-only applies to the node, which belongs to the host, not to the device behind it. */
    const uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY;
    AUTO_FD int source =
        root_openat2(AT_FDCWD, step->text.p, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
    if (source < 0 || fstat(source, &st) != 0)
        return root_fail(b, STAGE_DEVICE);
    errno = ENODEV;
    if (!S_ISCHR(st.st_mode) || !new_root_is_harmless(st.st_rdev))
        return root_fail(b, STAGE_DEVICE);
    AUTO_FD int tree = clone_tree(source, false);
    if (tree < 0 || !set_attr(tree, attr, 0, false))
        return root_fail(b, STAGE_DEVICE);
    return root_attach(b, step, tree, false);
}

/* There is nothing to hide or to pin where the lower layer has nothing. */
static bool root_is_left_out(const struct plan_step *step)
{
    return step->may_vanish && (errno == ENOENT || errno == ENOTDIR);
}

/* Mounts a directory on itself: a mount point can't be moved. */
static bool root_pin(struct root_builder *b, const struct plan_step *step)
{
    const char *name = root_open_parent(b, step->at);
    AUTO_FD int place = name ? root_openat2(b->parent.fd, name, O_PATH | O_NOFOLLOW, NO_LINKS) : -1;
    if (place < 0)
        return root_is_left_out(step) || root_fail(b, STAGE_PLACE);
    AUTO_FD int tree = clone_tree(place, true);
    if (tree < 0)
        return root_fail(b, STAGE_BIND);
    return root_attach(b, step, tree, true);
}

static const char *const mask_names[] = {"mask.file", "mask.dir"};

/* An empty file or directory that can't be opened. It is mounted on the first place, and cloned
 * from there for others; its name in our root must last as long, since an unlinked file can't be
 * mounted. */
static int new_mask(struct root_builder *b, bool is_dir)
{
    const char *name = mask_names[is_dir];
    bool made =
        is_dir ? mkdirat(b->root.fd, name, 0) == 0 : mknodat(b->root.fd, name, S_IFREG, 0) == 0;
    if (!made && errno != EEXIST)
        return -1;
    AUTO_FD int nothing = root_openat2(b->root.fd, name, O_PATH, NO_LINKS);
    AUTO_FD int tree = nothing >= 0 ? clone_tree(nothing, false) : -1;
    if (tree < 0 || !set_attr(tree, ATTR_SAFE | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY, 0, false))
        return -1;
    return TAKE_FD(tree);
}

/* Not every kernel has every file. Check first: a mount without a mount point would have to be
 * unmounted again, and the kernel waits for that. */
static bool root_mask(struct root_builder *b, const struct plan_step *step)
{
    bool is_dir = step->access & PLAN_IS_DIR;
    int *first = &b->masks[is_dir];
    if (faccessat(b->root.fd, step->at.p + 1, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
        return true;
    AUTO_FD int tree = *first < 0 ? new_mask(b, is_dir) : clone_tree(*first, false);
    if (tree < 0)
        return root_fail(b, STAGE_PROC);
    if (move_mount(tree, "", b->root.fd, step->at.p + 1, MOVE_MOUNT_F_EMPTY_PATH) != 0)
        return errno == ENOENT || root_fail(b, STAGE_PROC);
    if (*first < 0)
        *first = TAKE_FD(tree);
    return true;
}

static void drop_masks(struct root_builder *b)
{
    for (int is_dir = 0; is_dir < 2; is_dir++) {
        if (b->masks[is_dir] >= 0)
            close(TAKE_FD(b->masks[is_dir]));
        unlinkat(b->root.fd, mask_names[is_dir], is_dir ? AT_REMOVEDIR : 0);
    }
}

static int new_mount(const char *type, const struct root_option *options, size_t n, uint64_t attr)
{
    AUTO_FD int fs = fsopen(type, FSOPEN_CLOEXEC);
    if (fs < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (fsconfig(fs, FSCONFIG_SET_STRING, options[i].key, options[i].value, 0) != 0)
            return -1;
    if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
        return -1;
    return fsmount(fs, FSMOUNT_CLOEXEC, (unsigned)attr);
}

static int new_tmpfs(uint64_t size, mode_t mode, uint64_t attr)
{
    char bytes[SYSCTL_DIGITS], octal[SYSCTL_DIGITS], inodes[SYSCTL_DIGITS];
    const struct root_option options[] = {
        {"size", sysctl_number(size, 10, bytes)},
        {"mode", sysctl_number(mode, 8, octal)},
        {"nr_inodes", sysctl_number(size / INODE_BYTES + INODE_BYTES, 10, inodes)},
    };
    return new_mount("tmpfs", options, ARRAY_LEN(options), attr);
}

static bool mount_tmpfs(struct root_builder *b, const struct plan_step *step)
{
    uint64_t attr = ATTR_SAFE | (step->access & PLAN_EXEC ? 0u : MOUNT_ATTR_NOEXEC);
    AUTO_FD int fs = new_tmpfs(step->size, step->mode, attr);
    if (fs < 0 || !root_add_own(b, fs))
        return root_fail(b, STAGE_ROOT);
    return root_attach(b, step, fs, true);
}

/* Overlays ------------------------------------------------------------------------------------ */

#define LAYER_DIR "/proc/self/fd/"

enum {
    LAYER_NAME = sizeof(LAYER_DIR) + SYSCTL_DIGITS,
};

/* Names a layer by its file descriptor: its path may lead elsewhere by now. Every kernel accepts
 * the name in /proc, and it has no character that would have to be escaped. Returns its length. */
static size_t name_layer(int fd, char name[LAYER_NAME])
{
    char digits[SYSCTL_DIGITS];
    const char *text = sysctl_number((uint64_t)fd, 10, digits);
    const size_t at = sizeof(LAYER_DIR) - 1, n = strlen(text);
    memcpy(name, LAYER_DIR, at);
    memcpy(name + at, text, n + 1);
    return at + n;
}

static bool set_layer(int fs, const char *key, int fd)
{
    char name[LAYER_NAME];
    name_layer(fd, name);
    return fsconfig(fs, FSCONFIG_SET_STRING, key, name, 0) == 0;
}

/* No options that would let an entry in the upper layer refer to another file: every entry that the
 * child leaves there must describe its own file. */
static bool set_overlay_options(int fs)
{
    static const struct root_option options[] = {
        {"index", "off"}, {"metacopy", "off"}, {"redirect_dir", "nofollow"}};
    if (fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (fsconfig(fs, FSCONFIG_SET_STRING, options[i].key, options[i].value, 0) != 0)
            return false;
    return true;
}

/* If the kernel can't use the work directory it makes the mount read-only, and only logs that. */
static bool root_is_writable(int mount)
{
    struct statfs fs;
    if (fstatfs(mount, &fs) != 0)
        return false;
    errno = EROFS;
    return !(fs.f_flags & ST_RDONLY);
}

static int new_overlay(const int layers[3], unsigned access)
{
    static const char *const keys[] = {"lowerdir", "upperdir", "workdir"};
    AUTO_FD int fs = fsopen("overlay", FSOPEN_CLOEXEC);
    if (fs < 0 || !set_overlay_options(fs))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!set_layer(fs, keys[i], layers[i]))
            return -1;
    if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
        return -1;
    AUTO_FD int mount = fsmount(fs, FSMOUNT_CLOEXEC, (unsigned)root_mount_attr(access));
    return mount >= 0 && root_is_writable(mount) ? TAKE_FD(mount) : -1;
}

static bool mount_overlay(struct root_builder *b, const struct plan_step *step)
{
    struct stat st;
    const struct plan_overlay *o = step->overlay;
    AUTO_FD int lower = open_exactly(&o->lower, O_PATH | O_DIRECTORY, &st);
    AUTO_FD int upper = lower >= 0 ? open_exactly(&o->upper, O_PATH | O_DIRECTORY, &st) : -1;
    AUTO_FD int work = upper >= 0 ? open_exactly(&o->work, O_PATH | O_DIRECTORY, &st) : -1;
    if (work < 0)
        return root_fail(b, STAGE_CHANGED);
    AUTO_FD int mount = new_overlay((const int[]){lower, upper, work}, step->access);
    if (mount < 0)
        return root_fail(b, STAGE_OVERLAY);
    return root_attach(b, step, mount, true);
}

static bool root_apply_step(struct root_builder *b, const struct plan_step *step);

/* A name that hides the same name in a lower layer. */
static bool root_omit(struct root_builder *b, const struct plan_step *step)
{
    const char *name = root_open_parent(b, step->at);
    if (!name || !b->parent.own)
        return root_fail(b, STAGE_PLACE);
    return mknodat(b->parent.fd, name, S_IFCHR, 0) == 0 || errno == EEXIST ||
           root_fail(b, STAGE_PLACE);
}

static bool is_in_layer(const struct plan_step *step)
{
    return step->kind == PLAN_DIR || step->kind == PLAN_FILE || step->kind == PLAN_LINK ||
           step->kind == PLAN_OMIT;
}

/* Read-only: two lower layers. */
static int new_layers(int upper, int lower)
{
    char names[2 * LAYER_NAME];
    size_t n = name_layer(upper, names);
    names[n] = ':';
    name_layer(lower, names + n + 1);
    AUTO_FD int fs = fsopen("overlay", FSOPEN_CLOEXEC);
    if (fs < 0 || !set_overlay_options(fs) ||
        fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir", names, 0) != 0 ||
        fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
        return -1;
    return fsmount(fs, FSMOUNT_CLOEXEC, (unsigned)root_mount_attr(PLAN_READ));
}

static void drop_omits(struct root_builder *b, const struct plan_step *step)
{
    for (size_t i = (size_t)(step - b->plan->steps); i < b->plan->n_steps; i++)
        if (b->plan->steps[i].kind == PLAN_OMIT)
            unlinkat(b->root.fd, b->plan->steps[i].at.p + 1, 0);
}

/* Our own files in the directory come first: they are the upper layer. Where overlayfs can't be
 * mounted only they are shown. */
static bool mount_layered(struct root_builder *b, const struct plan_step *step)
{
    struct stat st;
    const struct plan_step *end = b->plan->steps + b->plan->n_steps;
    for (const struct plan_step *s = step + 1; s < end && lexical_is_below(step->at, s->at); s++)
        if (is_in_layer(s) && !root_apply_step(b, s))
            return false;
    b->layered = step->at;
    AUTO_FD int lower = root_open_source(step, O_PATH | O_DIRECTORY, &st);
    AUTO_FD int upper = root_openat2(b->root.fd, step->at.p + 1, O_PATH | O_DIRECTORY, NO_LINKS);
    AUTO_FD int mount = lower >= 0 && upper >= 0 ? new_layers(upper, lower) : -1;
    if (mount < 0) {
        drop_omits(b, step);
        return true;
    }
    root_close_parent(b);
    return root_attach(b, step, mount, true);
}

static bool mount_cover(struct root_builder *b, const struct plan_step *step)
{
    bool is_dir = step->access & PLAN_IS_DIR;
    const uint64_t attr = ATTR_SAFE | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY;
    AUTO_FD int nothing = is_dir ? new_tmpfs(1, 0555, attr) : new_mask(b, false);
    if (nothing < 0)
        return root_fail(b, STAGE_ROOT);
    return root_attach(b, step, nothing, is_dir) || root_is_left_out(step);
}

static bool mount_devpts(struct root_builder *b, const struct plan_step *step)
{
    char gid[SYSCTL_DIGITS], most[SYSCTL_DIGITS];
    const struct root_option options[] = {
        {"ptmxmode", "666"},
        {"mode", "620"},
        {"max", sysctl_number(TERMINALS_MAX, 10, most)},
        {"gid", sysctl_number(TTY_GID, 10, gid)},
    };
    size_t n = ARRAY_LEN(options) - (b->options->owns_ids ? 0 : 1);
    AUTO_FD int fs = new_mount("devpts", options, n, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
    if (fs < 0)
        return root_fail(b, STAGE_DEVPTS);
    if (!root_attach(b, step, fs, true))
        return false;
    b->root.devpts = TAKE_FD(fs);
    return true;
}

/* A second proc mount, attached nowhere and only for process 1: it also shows processes that hide
 * from their own user (PR_SET_DUMPABLE). */
static bool open_processes(struct root_builder *b)
{
    const uint64_t attr = ATTR_SAFE | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY;
    AUTO_FD int fs = new_mount("proc", NULL, 0, attr);
    b->root.processes = fs < 0 ? -1 : openat(fs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return b->root.processes >= 0;
}

/* The settings of our namespaces are written before the mount becomes read-only: also for root,
 * whom file modes would not stop. */
static bool mount_proc(struct root_builder *b, const struct plan_step *step)
{
    const uint64_t attr = ATTR_SAFE | MOUNT_ATTR_NOEXEC;
    /* Hides process 1, which can't be traced. */
    static const struct root_option options[] = {{"hidepid", "ptraceable"}};
    AUTO_FD int fs = new_mount("proc", options, ARRAY_LEN(options), attr);
    if (fs < 0)
        return root_fail(b, STAGE_PROC);
    int pid_max = b->options->pid_max;
    if (pid_max && !sysctl_write(fs, "sys/kernel/pid_max", (uint64_t)pid_max))
        return root_fail(b, STAGE_PID_MAX);
    if (pid_max && !sysctl_write(fs, "sys/kernel/ns_last_pid", MACHINE_PID_FIRST) &&
        b->options->exact_pids)
        return root_fail(b, STAGE_PID_MAX);
    sysctl_limit_inotify(fs);
    b->root.limits_ipc = sysctl_limit_ipc(fs, &b->plan->limits);
    if (!set_attr(fs, attr | MOUNT_ATTR_RDONLY, 0, false))
        return root_fail(b, STAGE_PROC);
    if (b->options->processes && !open_processes(b))
        return root_fail(b, STAGE_PROC);
    return root_attach(b, step, fs, true);
}

static bool root_apply_step(struct root_builder *b, const struct plan_step *step)
{
    static bool (*const how[])(struct root_builder *, const struct plan_step *) = {
        [PLAN_DIR] = root_make_dir,
        [PLAN_LAYERED] = mount_layered,
        [PLAN_OMIT] = root_omit,
        [PLAN_FILE] = root_make_file,
        [PLAN_LINK] = root_make_link,
        [PLAN_BIND] = bind_host,
        [PLAN_OVERLAY] = mount_overlay,
        [PLAN_LOADER] = bind_loader,
        [PLAN_DEVICE] = bind_device,
        [PLAN_TMPFS] = mount_tmpfs,
        [PLAN_DEVPTS] = mount_devpts,
        [PLAN_PROC] = mount_proc,
        [PLAN_PIN] = root_pin,
        [PLAN_MASK] = root_mask,
        [PLAN_COVER] = mount_cover,
    };
    return how[step->kind](b, step);
}

/* Building the root --------------------------------------------------------------------------- */

static bool make_root(struct root_builder *b)
{
    struct mount_attr private = {.propagation = MS_PRIVATE};
    if (mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &private, sizeof(private)) != 0)
        return root_fail(b, STAGE_PRIVATE);
    b->root.fd = new_tmpfs(ROOT_BYTES, 0755, ATTR_SAFE | MOUNT_ATTR_NOEXEC);
    if (b->root.fd < 0 || !root_add_own(b, b->root.fd))
        return root_fail(b, STAGE_ROOT);
    /* On top of "/": absolute paths still lead to the old root below it, until pivot_root. */
    if (move_mount(b->root.fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) != 0)
        return root_fail(b, STAGE_ROOT);
    return true;
}

static bool root_pivot(struct root_builder *b)
{
    if (fchdir(b->root.fd) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
        umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
        return root_fail(b, STAGE_PIVOT);
    if (!set_attr(b->root.fd, MOUNT_ATTR_RDONLY, 0, false))
        return root_fail(b, STAGE_PIVOT);
    return true;
}

bool new_root_build(const struct plan *plan, const struct new_root_options *options,
    struct root *ret_root, struct root_error *ret_error)
{
    struct root_builder b = {
        .plan = plan,
        .options = options,
        .root = {.fd = -1, .devpts = -1, .processes = -1},
        .error.step = -1,
        .parent.fd = -1,
        .masks = {-1, -1},
    };
    bool ok = make_root(&b);
    for (size_t i = 0; ok && i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        b.error.step = (int)i;
        bool done = b.layered.n && is_in_layer(step) && lexical_is_below(b.layered, step->at);
        ok = done || root_apply_step(&b, step);
    }
    root_close_parent(&b);
    drop_masks(&b);
    if (ok) {
        b.error.step = -1;
        ok = root_pivot(&b);
    }
    *ret_error = b.error;
    if (ok)
        *ret_root = b.root;
    return ok;
}
