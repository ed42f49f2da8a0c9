/* Packs borrowed objects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/borrowed.h"

#include "box/git_run.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/beneath.h"
#include "path/gitdir.h"
#include "path/walk.h"
#include "repo/gitindex.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
    TEXT_MAX = 64 << 20, /* of packed-refs, the index, all tips */
    LINE_MAX = 64 * 1024,
    PLACES_MAX = 24,
    ARENA_MAX = 128 << 20,
    DEPTH_MAX = 5, /* the same limit as git's */
    PACK_MS = 5 * 60 * 1000,
    OUTPUT_MAX = 1 << 16,
    SHA1_DIGITS = 40,
    SHA256_DIGITS = 64,
};

#define OUT                                                                               \
    "/tmp/r/objects/pack" /* the copy's, in the sandbox; on the same file system as git's \
                             temporary files */
#define TIPS       "cordon-tips"
#define ALTERNATES "objects/info/alternates"

struct borrower {
    struct arena *a;
    struct buf tips; /* hashes, one a line */
    size_t digits;   /* of a hash; 0: not known yet */
    struct plan_bind binds[PLACES_MAX];
    size_t n;
};

static bool borrowed_read(int dir, const char *name, size_t max, struct buf *text)
{
    AUTO_ERR struct err ignored = {0};
    struct stat st;
    AUTO_FD int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           file_read(fd, max, name, text, &ignored);
}

bool borrowed_any(int project_fd)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int common = -1;
    return gitdir_open_common(project_fd, &common, &ignored) && common >= 0 &&
           faccessat(common, ALTERNATES, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Tips ---------------------------------------------------------------------------------------- */

static bool is_object_name(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!strchr("0123456789abcdef", text.p[i]) || !text.p[i])
            return false;
    return text.n == SHA1_DIGITS || text.n == SHA256_DIGITS;
}

static void add_tip(struct borrower *b, struct str hex)
{
    if (!is_object_name(hex) || (b->digits && b->digits != hex.n))
        return;
    b->digits = hex.n;
    buf_add_str(&b->tips, hex);
    buf_add_byte(&b->tips, '\n');
}

/* "HASH", "HASH NAME" or "^HASH" on each line. */
static void add_lines(struct borrower *b, int dir, const char *name)
{
    AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX + 1);
    struct str line, rest, hex, more;
    if (!borrowed_read(dir, name, TEXT_MAX, &text))
        return;
    rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest))
        if (line.n && str_cut(line.p[0] == '^' ? str_skip(line, 1) : line, ' ', &hex, &more))
            add_tip(b, hex);
}

static void add_refs(struct borrower *b, int git)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_WALK struct walk *w = NULL;
    const struct walk_entry *e;
    AUTO_FD int refs = openat(git, "refs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (refs < 0 || !walk_open(refs, &(struct walk_options){.all_names = true}, &w, &ignored))
        return;
    while (walk_next(w, &e, &ignored) && e)
        if (e->type == DT_REG)
            add_lines(b, e->dir_fd, e->name.p);
}

static void add_index(struct borrower *b, int git)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX + 1);
    AUTO_GITINDEX struct gitindex_reader r = {0};
    struct gitindex_entry e;
    size_t hash = b->digits == SHA256_DIGITS ? GITINDEX_SHA256 : GITINDEX_SHA1;
    if (!borrowed_read(git, "index", TEXT_MAX, &text) ||
        !gitindex_start(buf_str(&text), hash, &r, &ignored))
        return;
    while (r.left && gitindex_entry(&r, &e, &ignored)) {
        char hex[SHA256_DIGITS + 1];
        if ((e.mode & GITINDEX_TYPE) == GITINDEX_GITLINK)
            continue; /* a commit of another repository */
        for (size_t i = 0; i < e.id.n; i++)
            snprintf(hex + 2 * i, 3, "%02x", (unsigned char)e.id.p[i]);
        add_tip(b, str_n(hex, 2 * e.id.n));
    }
}

/* Repositories -------------------------------------------------------------------------------- */

static void borrowed_mount(struct borrower *b, int fd, const char *at, bool write)
{
    struct stat st;
    AUTO_FREE char *name = beneath_name(fd);
    if (!name || fstat(fd, &st) != 0 || b->n == PLACES_MAX)
        return;
    struct str path = arena_str(b->a, str_z(name));
    for (size_t i = 0; i < b->n; i++)
        if (str_eq(b->binds[i].source.path, path))
            return;
    b->binds[b->n++] = (struct plan_bind){.at = at ? str_z(at) : path,
        .source = {path, st.st_dev, st.st_ino},
        .is_dir = true,
        .write = write};
}

/* A relative line starts at the directory that has the file. */
static void borrowed_mount_lenders(struct borrower *b, int objects, int depth)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * LINE_MAX);
    struct str line, rest;
    borrowed_mount(b, objects, NULL, false);
    if (depth == 0 || !borrowed_read(objects, "info/alternates", LINE_MAX, &text))
        return;
    rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest)) {
        AUTO_FD int other =
            line.n ? openat(objects, arena_strdup(b->a, line), O_PATH | O_DIRECTORY | O_CLOEXEC)
                   : -1;
        AUTO_FD int open = other >= 0 ? openat(other, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (open >= 0)
            borrowed_mount_lenders(b, open, depth - 1);
    }
}

/* Packing ------------------------------------------------------------------------------------- */

/* Leaves out tips that do not exist anywhere. */
static const char script[] =
    "git init -q --bare --object-format=\"$1\" /tmp/r && cd /tmp/r && "
    "git cat-file --batch-check='%(objectname) %(objecttype)' <" OUT "/" TIPS
    " | sed -n 's/ \\(commit\\|tag\\|tree\\|blob\\)$//p' >/tmp/tips && "
    "git pack-objects -q --revs " OUT "/pack </tmp/tips >/dev/null 2>&1";

static bool borrowed_pack(struct borrower *b, struct str objects)
{
    AUTO_ERR struct err ignored = {0};
    const char *const argv[] = {
        "sh", "-c", script, "sh", b->digits == SHA256_DIGITS ? "sha256" : "sha1", NULL};
    struct str_pair env[] = {
        {STR("PATH"), STR("/usr/local/bin:/usr/bin:/bin")},
        {STR("HOME"), STR("/tmp")},
        {STR("LC_ALL"), STR("C")},
        {STR("GIT_CONFIG_GLOBAL"), STR("/dev/null")},
        {STR("GIT_CONFIG_SYSTEM"), STR("/dev/null")},
        {STR("GIT_ALTERNATE_OBJECT_DIRECTORIES"), objects},
    };
    const struct git_run run = {
        .argv = argv,
        .dir = "/tmp",
        .binds = b->binds,
        .n_binds = b->n,
        .env = env,
        .n_env = ARRAY_LEN(env),
        .runtime_ms = PACK_MS,
        .output_bytes = OUTPUT_MAX,
        .output = {-1, -1},
        .signals = -1,
    };
    struct exec_result result;
    if (!git_run(&run, b->a, &result, &ignored))
        return false;
    bool ok = result.status != EXEC_ERRORED && !result.exit.signal && result.exit.code == 0;
    err_done(&result.error);
    return ok;
}

static bool borrowed_fill(struct borrower *b, int common, int git)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int objects = openat(common, "objects", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_FD int pack = openat(git, "objects/pack", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    AUTO_FREE char *path = objects >= 0 ? beneath_name(objects) : NULL;
    add_lines(b, git, "HEAD");
    add_lines(b, git, "packed-refs");
    add_refs(b, git);
    add_index(b, git);
    if (!path || pack < 0 || !b->digits || !buf_ok(&b->tips) ||
        !replace_private(pack, TIPS, buf_str(&b->tips), &ignored))
        return false;
    borrowed_mount(b, pack, OUT, true);
    borrowed_mount_lenders(b, objects, DEPTH_MAX);
    bool ok = borrowed_pack(b, str_z(path));
    unlinkat(pack, TIPS, 0);
    return ok;
}

bool borrowed_copy(int project_fd, int base_fd)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int common = -1;
    struct borrower *b = ARENA_NEW(&a, struct borrower, 1);
    *b = (struct borrower){.a = &a, .tips = BUF_INIT(TEXT_MAX)};
    AUTO_FD int git = openat(base_fd, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ok = git >= 0 && gitdir_open_common(project_fd, &common, &ignored) && common >= 0 &&
              borrowed_fill(b, common, git) && unlinkat(git, ALTERNATES, 0) == 0;
    buf_done(&b->tips);
    return ok;
}
