/* Support for boxes on this machine, and leftovers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/box_doctor.h"

#include "box/box_runs.h"
#include "box/layering.h"
#include "box/trash.h"
#include "box/use.h"
#include "config/boxes.h"
#include "config/config.h"
#include "io/dir.h"
#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum {
    TRASH_MS = 60 * 1000,
    PLACE_TRIES = 10,
};

const char *const box_doctor_health_names[] = {"ok", "weaker", "missing", "left over"};

static void box_doctor_add_check(struct box_doctor *d, const struct box_doctor_check *check)
{
    if (d->n < BOX_DOCTOR_CHECKS_MAX)
        d->checks[d->n++] = *check;
}

/* Machine ------------------------------------------------------------------------------------- */

static bool box_doctor_make_source(
    int dir, const char *name, struct arena *a, struct plan_source *ret_source)
{
    struct stat st;
    AUTO_FD int fd = mkdirat(dir, name, 0700) == 0 || errno == EEXIST
                         ? openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                         : -1;
    AUTO_FREE char *path = fd >= 0 ? beneath_name(fd) : NULL;
    if (!path || fstat(fd, &st) != 0)
        return false;
    *ret_source = (struct plan_source){arena_str(a, str_z(path)), st.st_dev, st.st_ino};
    return true;
}

/* Tests in the directory that will contain the boxes: its file system decides. */
static void check_layers(struct box_doctor *d, int dir)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf why = BUF_INIT(64 * 1024);
    struct arena *a = d->arena;
    struct plan_overlay overlay = {.at = STR("/project")};
    enum box_layering layering;
    if (!box_doctor_make_source(dir, "lower", a, &overlay.lower) ||
        !box_doctor_make_source(dir, "upper", a, &overlay.upper) ||
        !box_doctor_make_source(dir, "work", a, &overlay.work))
        return box_doctor_add_check(
            d, &(struct box_doctor_check){"state", HEALTH_MISSING,
                   arena_printf(a, "cannot write in $CORDON_HOME: %s", strerror(errno)),
                   "set CORDON_HOME to a directory of your own"});
    if (!layering_choose(&overlay, &layering, &why, &err)) {
        const struct err_pair *remedy = err_ctx_get(&err, "remedy");
        d->unusable = true;
        return box_doctor_add_check(
            d, &(struct box_doctor_check){"sandbox", HEALTH_MISSING,
                   arena_printf(a, "%s", err.message),
                   remedy ? arena_printf(a, "%s", remedy->text) : "see 'cordon doctor'"});
    }
    box_doctor_add_check(d, &(struct box_doctor_check){"sandbox", HEALTH_OK,
                                "user namespaces and the other requirements work", NULL});
    bool ok = layering == BOX_LAYERS_OVERLAY;
    box_doctor_add_check(
        d, &(struct box_doctor_check){"overlay", ok ? HEALTH_OK : HEALTH_WEAKER,
               ok ? "changes are stored in a layer"
                  : arena_printf(a, "each box gets a second copy: %s", buf_z(&why)),
               "use Linux 5.11 or newer, and a file system such as ext4, XFS or btrfs for "
               "$CORDON_HOME"});
}

static void check_reflink(struct box_doctor *d, int dir)
{
    AUTO_FD int from = openat(dir, "from", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    AUTO_FD int to = openat(dir, "to", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = from >= 0 && to >= 0 && write(from, "x", 1) == 1 && ioctl(to, FICLONE, from) == 0;
    box_doctor_add_check(
        d, &(struct box_doctor_check){"reflink", ok ? HEALTH_OK : HEALTH_WEAKER,
               ok ? "copies share blocks with the project if both are on the same file system"
                  : "the file system of $CORDON_HOME cannot share blocks: ':copy' copies all data",
               "use ':overlay' for large projects, or XFS or btrfs for $CORDON_HOME"});
}

/* Checks whether we may create cgroups below our own (version 2). */
static void check_cgroup(struct box_doctor *d)
{
    char line[512] = "", path[600] = "/sys/fs/cgroup";
    AUTO_FD int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : 0;
    struct str rest = str_n(line, n > 0 ? (size_t)n : 0), one;
    bool v2 = false;
    while (str_cut(rest, '\n', &one, &rest))
        if (str_starts_with(one, STR("0::"))) {
            snprintf(path, sizeof(path), "/sys/fs/cgroup" STR_FMT, STR_ARG(str_skip(one, 3)));
            v2 = access("/sys/fs/cgroup/cgroup.controllers", R_OK) == 0;
        }
    bool ok = v2 && access(path, W_OK) == 0;
    box_doctor_add_check(d, &(struct box_doctor_check){"cgroup", ok ? HEALTH_OK : HEALTH_WEAKER,
                                ok ? "limits apply to a box as a whole"
                                   : "not delegated to you: limits apply to each process",
                                "run cordon with 'systemd-run --user --scope -p Delegate=yes'"});
}

/* Creates a directory for tests: in the trash, so that a killed doctor leaves nothing behind;
 * locked, so that the background process of `box destroy` does not delete it. */
static int open_place(struct box_doctor *d, const char *dir)
{
    for (int tries = 0; tries < PLACE_TRIES; tries++) {
        char *path = arena_printf(d->arena, "%s/.trash/doctor-XXXXXX", dir);
        struct stat st;
        AUTO_FD int fd = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (fd < 0 && errno != ENOENT)
            return -1;
        if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
            return TAKE_FD(fd);
    }
    errno = EBUSY;
    return -1;
}

static void box_doctor_check_machine(struct box_doctor *d)
{
    const char *dir;
    AUTO_ERR struct err err = {0};
    if (!config_state_path(d->arena, "sandboxes", &dir, &err)) {
        d->unusable = true;
        return box_doctor_add_check(
            d, &(struct box_doctor_check){"state", HEALTH_MISSING,
                   arena_printf(d->arena, "%s", err.message), "set CORDON_HOME"});
    }
    AUTO_FD int fd = open_place(d, dir);
    if (fd < 0) {
        d->unusable = true;
        return box_doctor_add_check(
            d, &(struct box_doctor_check){"state", HEALTH_MISSING,
                   arena_printf(d->arena, "cannot write in '%s': %s", dir, strerror(errno)),
                   "make it writable, or set CORDON_HOME to a directory of your own"});
    }
    check_layers(d, fd);
    check_reflink(d, fd);
    check_cgroup(d);
}

/* Boxes --------------------------------------------------------------------------------------- */

static size_t box_doctor_count_entries(int dir)
{
    size_t n = 0;
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    bool listed = dir_open(&d, dir, ".");
    while (listed && dir_next(&d))
        n += d.name[0] != '.';
    return n;
}

/* Interrupted changes of an `apply` or of a tool. */
static void check_changes(struct box_doctor *d)
{
    AUTO_ERR struct err ignored = {0};
    const char *path;
    AUTO_FD int dir = config_state_path(d->arena, "journal", &path, &ignored)
                          ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                          : -1;
    size_t cut = dir >= 0 ? box_doctor_count_entries(dir) : 0;
    box_doctor_add_check(
        d, &(struct box_doctor_check){"changes", cut ? HEALTH_LEFT_OVER : HEALTH_OK,
               cut ? arena_printf(d->arena,
                         "%zu changes to projects that were interrupted or are in progress", cut)
                   : "none interrupted",
               "cordon box doctor --fix, or the next command in the project; inspect '.lost' and "
               "damaged files in $CORDON_HOME/journal yourself"});
}

static void check_boxes(struct box_doctor *d)
{
    AUTO_ERR struct err err = {0};
    struct agent_rows rows;
    struct str_list names;
    if (!config_box_rows(d->arena, &rows, &err) || !boxes_list(&d->boxes, d->arena, &names, &err))
        return box_doctor_add_check(d, &(struct box_doctor_check){"boxes", HEALTH_MISSING,
                                           arena_printf(d->arena, "%s", err.message), NULL});
    size_t right = 0, runs = 0;
    for (size_t i = 0; i < names.n; i++) {
        AUTO(box_close) struct box box = BOX_NONE;
        AUTO_ERR struct err why = {0};
        if (box_open(&d->boxes, names.p[i], &rows, d->arena, &box, &why)) {
            right++;
            runs += box_use_old_runs(&box, true, d->arena);
        } else {
            box_doctor_add_check(
                d, &(struct box_doctor_check){"box", HEALTH_LEFT_OVER,
                       arena_printf(d->arena, "%s", why.message),
                       arena_printf(d->arena, "cordon box destroy " STR_FMT " --abandon-unapplied",
                           STR_ARG(names.p[i]))});
        }
    }
    box_doctor_add_check(d,
        &(struct box_doctor_check){"boxes", HEALTH_OK, arena_printf(d->arena, "%zu", right), NULL});
    box_doctor_add_check(
        d, &(struct box_doctor_check){"recordings", runs ? HEALTH_LEFT_OVER : HEALTH_OK,
               runs ? arena_printf(d->arena, "%zu that are older than the newest %d of their box",
                          runs, RUNS_KEPT)
                    : arena_printf(d->arena, "at most %d for each box", RUNS_KEPT),
               "cordon box doctor --fix"});
}

static void check_left_over(struct box_doctor *d)
{
    static const char remedy[] = "cordon box doctor --fix";
    size_t making = d->boxes.making >= 0 ? box_doctor_count_entries(d->boxes.making) : 0;
    size_t trash = d->boxes.trash >= 0 ? box_doctor_count_entries(d->boxes.trash) : 0;
    box_doctor_add_check(d,
        &(struct box_doctor_check){"unfinished", making ? HEALTH_LEFT_OVER : HEALTH_OK,
            making
                ? arena_printf(d->arena, "%zu boxes that are incomplete or being created", making)
                : "none",
            remedy});
    box_doctor_add_check(
        d, &(struct box_doctor_check){"trash", trash ? HEALTH_LEFT_OVER : HEALTH_OK,
               trash ? arena_printf(d->arena, "%zu directory trees to delete", trash) : "empty",
               remedy});
}

/* Fixing -------------------------------------------------------------------------------------- */

/* A box that cannot be recovered does not prevent recovery of the others. */
static bool box_doctor_recover_all(struct box_doctor *d, struct err *err)
{
    struct agent_rows rows;
    struct str_list names;
    if (!config_box_rows(d->arena, &rows, err) || !boxes_list(&d->boxes, d->arena, &names, err))
        return false;
    for (size_t i = 0; i < names.n; i++) {
        AUTO(box_close) struct box box = BOX_NONE;
        AUTO_ERR struct err why = {0};
        if (box_open(&d->boxes, names.p[i], &rows, d->arena, &box, &why) &&
            !config_box_recover(d->arena, &box, d->warnings, &why))
            notice_send(d->warnings, "box '" STR_FMT "': %s", STR_ARG(names.p[i]), why.message);
        if (box.host >= 0)
            (void)box_use_old_runs(&box, false, d->arena);
    }
    return true;
}

static bool box_doctor_fix(struct box_doctor *d, struct err *err)
{
    size_t swept;
    struct trash_left left;
    return box_doctor_recover_all(d, err) && trash_sweep(&d->boxes, &swept, err) &&
           trash_empty(&d->boxes, TRASH_MS, &left, err);
}

/* Directories that an examination creates, and removes again. */
struct box_doctor_trial {
    char *path;      /* of the boxes; NULL: unknown */
    size_t existing; /* length of the part of it that was there before */
};

static struct box_doctor_trial box_doctor_begin(struct box_doctor *d)
{
    AUTO_ERR struct err ignored = {0};
    const char *path;
    if (!config_state_path(d->arena, "sandboxes", &path, &ignored))
        return (struct box_doctor_trial){0};
    struct box_doctor_trial t = {arena_strdup(d->arena, str_z(path)), strlen(path)};
    for (struct stat st; t.existing > 1 && stat(path, &st) != 0;) {
        t.existing = (size_t)str_find_last(str_n(path, t.existing), '/');
        path = arena_strdup(d->arena, str_n(path, t.existing));
    }
    return t;
}

/* Leaves directories that are not empty: another process may use them by now. */
static void box_doctor_end(struct box_doctor *d, struct box_doctor_trial *t)
{
    static const char *const parts[] = {".locks", LAYOUT_MAKING, ".trash"};
    if (!t->path || strlen(t->path) == t->existing)
        return;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        rmdir(arena_printf(d->arena, "%s/%s", t->path, parts[i]));
    while (strlen(t->path) > t->existing && rmdir(t->path) == 0)
        *strrchr(t->path, '/') = '\0';
}

bool box_doctor_examine(struct box_doctor *d, bool fix, struct err *err)
{
    AUTO_ERR struct err unable = {0};
    struct box_doctor_trial trial = box_doctor_begin(d);
    if (!config_boxes(d->arena, BOXES_MAKE, &d->boxes, &unable)) {
        d->unusable = true;
        box_doctor_add_check(d, &(struct box_doctor_check){"state", HEALTH_MISSING,
                                    arena_printf(d->arena, "%s", unable.message),
                                    "set CORDON_HOME to a directory of your own"});
        box_doctor_end(d, &trial);
        return true;
    }
    bool ok = !fix || box_doctor_fix(d, err);
    if (ok) {
        check_left_over(d);
        check_changes(d);
        check_boxes(d);
        box_doctor_check_machine(d);
        trash_empty_soon(&d->boxes);
    }
    boxes_close(&d->boxes);
    box_doctor_end(d, &trial);
    return ok;
}

json_t *box_doctor_json(const struct box_doctor *d)
{
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < d->n; i++) {
        const struct box_doctor_check *c = &d->checks[i];
        bool has_remedy = c->health != HEALTH_OK && c->remedy;
        json_t *check = json_object();
        json_put(check, "name", json_string(c->name));
        json_put(check, "status", json_string(box_doctor_health_names[c->health]));
        json_put(check, "detail", json_text(str_z(c->detail)));
        json_put(check, "remedy", has_remedy ? json_text(str_z(c->remedy)) : json_null());
        json_push(list, check);
    }
    json_put(object, "usable", json_boolean(!d->unusable));
    json_put(object, "checks", list);
    return object;
}
