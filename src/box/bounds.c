/* Limits of a box: by cgroup where we may make one, by what each process may have elsewhere; and
 * the disk that its layer and its home use, which nobody but us counts. */
#include "box/keeper.h"
#include "path/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum {
    MEASURE_MS = 3000,
    MEASURE_ENTRIES = 200 * 1000, /* of one walk */
    MEASURE_DEPTH = 128,
    GROUP_TEXT = 4096,
    BLOCK = 512, /* what st_blocks counts */
    CPU_GRACE = 5,
    CLOSED_MAX =
        3, /* looks in a row at which something can't be read: tests make such for moments */
    OPEN_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

/* Groups -------------------------------------------------------------------------------------- */

static bool put(int dir, const char *name, const char *text)
{
    AUTO_FD int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && file_write_all(fd, str_z(text));
}

/* Our own group below /sys/fs/cgroup; -1: none that can be written to. */
static int open_own_group(void)
{
    char text[GROUP_TEXT], path[GROUP_TEXT + 32];
    AUTO_FD int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    struct str line, rest = str_n(text, n > 0 ? (size_t)n : 0);
    while (str_cut(rest, '\n', &line, &rest)) {
        if (!str_starts_with(line, STR("0::/")))
            continue;
        line = str_skip(line, 3);
        snprintf(path, sizeof(path), "/sys/fs/cgroup" STR_FMT, STR_ARG(line));
        return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return -1;
}

/* A group of the box's own, whose first process is moved there; what is set is counted off. */
static void join_group(struct keeper *k, pid_t first, bool *memory, bool *processes)
{
    const struct box_limits *l = &k->box->setup.limits;
    char name[64], number[32];
    AUTO_FD int own = open_own_group();
    snprintf(name, sizeof(name), "cordon-box-%d", (int)getpid());
    if (own < 0 || mkdirat(own, name, 0755) != 0)
        return;
    AUTO_FD int group = openat(own, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)l->memory_bytes);
    bool has_memory = l->memory_bytes && put(group, "memory.max", number);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)l->processes);
    bool has_pids = l->processes && put(group, "pids.max", number);
    snprintf(number, sizeof(number), "%d", (int)first);
    if ((has_memory || has_pids) && put(group, "cgroup.procs", number)) {
        *memory |= has_memory;
        *processes |= has_pids;
        return;
    }
    unlinkat(own, name, AT_REMOVEDIR);
}

void bounds_apply(struct keeper *k, pid_t first)
{
    const struct box_limits *l = &k->box->setup.limits;
    bool memory = false, processes = false;
    if (l->memory_bytes || l->processes)
        join_group(k, first, &memory, &processes);
    if (l->memory_bytes && !memory)
        keeper_gap(k, "memory: of each process, not of all together (no delegated cgroup)");
    if (l->cpu_seconds) {
        const struct rlimit cpu = {l->cpu_seconds, l->cpu_seconds + CPU_GRACE};
        bool ok = prlimit(first, RLIMIT_CPU, &cpu, NULL) == 0;
        keeper_gap(k, ok ? "cpu: of each process, not of all together" : "cpu: not limited");
    }
    if (l->disk_bytes)
        keeper_gap(k, k->box->setup.layering == BOX_LAYERS_NONE
                          ? "disk: of its home only, and measured every few seconds"
                          : "disk: measured every few seconds, not refused at once");
    k->measure_ms = clock_mono_ms() + MEASURE_MS;
}

/* Disk ---------------------------------------------------------------------------------------- */

struct walk {
    uint64_t bytes;
    size_t entries;
    bool cut;
    bool closed; /* a directory that we may not read, and that the box may fill all the same */
};

static void add_dir(struct walk *w, int fd, int depth);

static void add_entry(struct walk *w, int dir, const char *name, int depth)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    w->bytes += (uint64_t)st.st_blocks * BLOCK /
                MAX((uint64_t)st.st_nlink * !S_ISDIR(st.st_mode), UINT64_C(1));
    if (S_ISDIR(st.st_mode) && depth < MEASURE_DEPTH)
        add_dir(w, openat(dir, name, OPEN_DIR), depth + 1);
    else
        w->cut |= S_ISDIR(st.st_mode);
}

static void add_dir(struct walk *w, int fd, int depth)
{
    w->closed |= fd < 0 && errno == EACCES;
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    if (!d && fd >= 0)
        close(fd);
    while (d && (entry = readdir(d))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (++w->entries > MEASURE_ENTRIES) {
            w->cut = true;
            break;
        }
        add_entry(w, dirfd(d), entry->d_name, depth);
    }
    if (d)
        closedir(d);
}

/* Its changes, unless the directory is the user's own, and its home. */
static struct walk measure(const struct box *box)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct walk w = {0};
    const enum box_layering layering = box->setup.layering;
    const char *leaf = layering == BOX_LAYERS_OVERLAY ? "upper" : "tree";
    if (layering != BOX_LAYERS_NONE)
        add_dir(&w, open(box_part_path(box, "work", leaf, &a).p, OPEN_DIR), 0);
    add_dir(&w, openat(box->fd, "home", OPEN_DIR), 0);
    return w;
}

uint64_t bounds_due(const struct keeper *k)
{
    return k->box->setup.limits.disk_bytes && !k->over ? k->measure_ms : UINT64_MAX;
}

static bool is_too_much(struct keeper *k, const struct walk *w)
{
    const uint64_t limit = k->box->setup.limits.disk_bytes;
    if (w->cut)
        return !err_set(&k->error, E_TIMEOUT,
            "the box's changes are more files than can be measured (%d)", MEASURE_ENTRIES);
    if (w->bytes > limit)
        return !err_set(&k->error, E_TIMEOUT,
            "the box's changes and home take %llu bytes of disk, and its limit is %llu",
            (unsigned long long)w->bytes, (unsigned long long)limit);
    k->closed_times = w->closed ? k->closed_times + 1 : 0;
    return k->closed_times == CLOSED_MAX &&
           !err_set(&k->error, E_TIMEOUT,
               "the box has a directory that can't be read, and so not measured for its limit of "
               "disk");
}

/* So long a walk costs at most a tenth of the time. */
void bounds_measure(struct keeper *k, uint64_t now)
{
    if (now < bounds_due(k))
        return;
    const struct walk w = measure(k->box);
    uint64_t after = clock_mono_ms();
    k->measure_ms = after + MAX((uint64_t)MEASURE_MS, 10 * (after - now));
    if (!is_too_much(k, &w))
        return;
    k->stopping = true;
    k->grace_ms = SESSION_GRACE_MS;
}
