/* Limits of a box beyond those of its sandbox (sandbox/limiter.h): CPU time of each process, and
 * the disk space used by its layer and its home, which only the supervisor measures. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/bounds.h"

#include "box/box_caches.h"
#include "boxd/supervisor_loop.h"
#include "io/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum {
    MEASURE_MS = 3000,
    MEASURE_ENTRIES = 200 * 1000, /* per walk */
    MEASURE_DEPTH = 128,
    BLOCK = 512, /* unit of st_blocks */
    CPU_GRACE = 5,
    CLOSED_MAX =
        3, /* consecutive measurements with an unreadable directory: tests create some briefly */
    OPEN_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

bool bounds_check(const struct box_setup *setup, bool layered, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    const struct box_limits *l = &setup->limits;
    struct plan_step layer = {.kind = PLAN_OVERLAY};
    const struct plan plan = {
        .mode = POLICY_NATIVE,
        .steps = &layer,
        .n_steps = layered,
        .limits = {.processes = MAX(l->processes, UINT64_C(1)),
            .asked_processes = l->processes != 0},
        .limits_inexact = setup->inexact_limits,
        .cpu_millis = l->cpu_millis,
        .remedies.inexact = "add --ack-inexact-limits",
    };
    struct limiter limiter = LIMITER_NONE;
    if (!limiter_open(&plan, NULL, &a, &limiter, err))
        return false;
    limiter_close(&limiter);
    return true;
}

/* Gaps ---------------------------------------------------------------------------------------- */

static void bounds_report_gaps(struct supervisor *sv, const struct limiter_kept *kept)
{
    const struct box_limits *l = &sv->box->setup.limits;
    if (l->memory_bytes && !kept->memory)
        supervisor_add_gap(
            sv, "memory: limited for each process, not for all together (no delegated cgroup)");
    if (kept->processes == LIMITER_COUNT)
        supervisor_add_gap(sv,
            "processes: counted, not limited by the kernel; if there are too many, all are "
            "killed");
    if (l->cpu_millis && !kept->cpus)
        supervisor_add_gap(sv, "CPUs: not limited (no delegated cgroup)");
}

void bounds_apply(struct supervisor *sv, const struct child *child)
{
    const struct box_limits *l = &sv->box->setup.limits;
    sv->way = child->limiter.kept.processes;
    bounds_report_gaps(sv, &child->limiter.kept);
    if (l->cpu_seconds) {
        const struct rlimit cpu = {l->cpu_seconds, l->cpu_seconds + CPU_GRACE};
        bool ok = prlimit(child->pid, RLIMIT_CPU, &cpu, NULL) == 0;
        supervisor_add_gap(
            sv, ok ? "cpu: limited for each process, not for all together" : "cpu: not limited");
    }
    if (l->disk_bytes)
        supervisor_add_gap(
            sv, sv->box->setup.layering == BOX_LAYERS_NONE
                    ? "disk: limited for its home only, and measured every few seconds"
                    : "disk: measured every few seconds, not enforced immediately");
    sv->measure_ms = clock_mono_ms() + MEASURE_MS;
}

/* Disk ---------------------------------------------------------------------------------------- */

struct bounds_walk {
    uint64_t bytes;
    size_t entries;
    bool cut;
    bool closed; /* found a directory that we cannot read but the box can still fill */
};

static void bounds_add_dir(struct bounds_walk *w, int fd, int depth);

static void bounds_add_entry(struct bounds_walk *w, int dir, const char *name, int depth)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    w->bytes += (uint64_t)st.st_blocks * BLOCK /
                MAX((uint64_t)st.st_nlink * !S_ISDIR(st.st_mode), UINT64_C(1));
    if (S_ISDIR(st.st_mode) && depth < MEASURE_DEPTH)
        bounds_add_dir(w, openat(dir, name, OPEN_DIR), depth + 1);
    else
        w->cut |= S_ISDIR(st.st_mode);
}

static void bounds_add_dir(struct bounds_walk *w, int fd, int depth)
{
    w->closed |= fd < 0 && errno == EACCES;
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED); /* limited for the whole walk */
    bool listed = dir_take(&d, fd);
    while (listed && dir_next(&d)) {
        if (++w->entries > MEASURE_ENTRIES) {
            w->cut = true;
            break;
        }
        bounds_add_entry(w, d.fd, d.name, depth);
    }
}

/* Measures the box's changes (unless they go directly to the user's directory) and its home. */
static struct bounds_walk bounds_measure_box(const struct box *box)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct bounds_walk w = {0};
    const enum box_layering layering = box->setup.layering;
    const char *leaf = layering == BOX_LAYERS_OVERLAY ? "upper" : "tree";
    if (layering != BOX_LAYERS_NONE)
        bounds_add_dir(&w, open(box_part_path(box, "work", leaf, &a).p, OPEN_DIR), 0);
    bounds_add_dir(&w, openat(box->fd, "home", OPEN_DIR), 0);
    AUTO_DIR struct dir caches = DIR_INIT(BOX_CACHES_MAX);
    bool listed = dir_open(&caches, box->fd, "caches");
    while (listed && dir_next(&caches))
        bounds_add_dir(&w,
            open(arena_printf(&a, STR_FMT "/caches/%s/upper", STR_ARG(box->path), caches.name),
                OPEN_DIR),
            0);
    return w;
}

uint64_t bounds_due(const struct supervisor *sv)
{
    return sv->box->setup.limits.disk_bytes && !sv->over ? sv->measure_ms : UINT64_MAX;
}

static bool is_too_much(struct supervisor *sv, const struct bounds_walk *w)
{
    const uint64_t limit = sv->box->setup.limits.disk_bytes;
    if (w->cut)
        return !err_set(&sv->error, E_TIMEOUT,
            "the box's changes contain more files than can be measured (%d)", MEASURE_ENTRIES);
    if (w->bytes > limit)
        return !err_set(&sv->error, E_TIMEOUT,
            "the box's changes and home take %llu bytes of disk, its limit is %llu",
            (unsigned long long)w->bytes, (unsigned long long)limit);
    sv->closed_times = w->closed ? sv->closed_times + 1 : 0;
    return sv->closed_times == CLOSED_MAX &&
           !err_set(&sv->error, E_TIMEOUT,
               "the box has an unreadable directory, so its disk usage cannot be measured");
}

/* The interval grows with the walk's duration: measuring takes at most a tenth of the time. */
void bounds_measure(struct supervisor *sv, uint64_t now)
{
    if (now < bounds_due(sv))
        return;
    const struct bounds_walk w = bounds_measure_box(sv->box);
    uint64_t after = clock_mono_ms();
    sv->measure_ms = after + MAX((uint64_t)MEASURE_MS, 10 * (after - now));
    if (!is_too_much(sv, &w))
        return;
    sv->stopping = true;
    sv->grace_ms = SESSION_GRACE_MS;
}
