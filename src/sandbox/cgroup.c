/* Cgroups with limits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/cgroup.h"

#include "io/dir.h"
#include "io/file.h"
#include "path/lexical.h"
#include "sandbox/machine.h"
#include "sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    TEXT_MAX = 4096,
    SWEEP_MAX = 1024, /* entries checked for leftover groups */
    MAKE_TRIES = 3,
    REMOVE_TRIES = 100,
    REMOVE_MS = 10, /* per try */
    CPU_PERIOD = 100 * 1000,
    CPU_LEAST = 10, /* thousandths of one CPU: the kernel's least quota in this period */
    MILLI = 1000,
    GROUP_MODE = 0700,  /* otherwise other users could lock it */
    UNIX_PROGRAMS = 49, /* BPF_CGROUP_UNIX_CONNECT and four more (Linux 6.7) */
    FILES_MAX = 4096,   /* of one group */
    OPEN_GROUP = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

static const char prefix[] = "cordon-", own_name[] = "self"; /* cordon-PID-N, cordon-PID-self */

static const struct {
    const char *name;
    unsigned bit;
} controllers[] = {{"cpu", CGROUP_CPU}, {"memory", CGROUP_MEMORY}, {"pids", CGROUP_PIDS}};

/* Parsing ------------------------------------------------------------------------------------- */

unsigned cgroup_controllers(struct str text)
{
    unsigned found = 0;
    struct str word;
    text = str_trim_end(text, '\n');
    while (str_cut(text, ' ', &word, &text))
        for (size_t i = 0; i < ARRAY_LEN(controllers); i++)
            if (str_is(word, controllers[i].name))
                found |= controllers[i].bit;
    return found;
}

/* A path with ".." is outside of our cgroup namespace; a removed group ends in " (deleted)". */
bool cgroup_parse_own(struct str text, struct str *ret_path)
{
    struct str line;
    while (str_cut(text, '\n', &line, &text)) {
        if (!str_starts_with(line, STR("0::/")))
            continue;
        line = str_skip(line, 3);
        if (str_ends_with(line, STR(" (deleted)")) || str_starts_with(line, STR("/..")))
            return false;
        *ret_path = line;
        return true;
    }
    return false;
}

static size_t cgroup_count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

bool cgroup_is_ours(const char *name)
{
    if (strncmp(name, prefix, strlen(prefix)) != 0)
        return false;
    name += strlen(prefix);
    size_t n = cgroup_count_digits(name);
    if (n == 0 || name[n] != '-')
        return false;
    name += n + 1;
    return strcmp(name, own_name) == 0 || (*name && name[cgroup_count_digits(name)] == '\0');
}

/* Choice -------------------------------------------------------------------------------------- */

static enum cgroup_how cgroup_level_fits(const struct cgroup_level *l, bool own, unsigned wanted)
{
    if (l->writable && (l->enabled & wanted) == wanted && (!own || l->top))
        return CGROUP_BESIDE;
    if (l->writable && l->top && (l->available & wanted) == wanted)
        return CGROUP_ENABLE;
    return CGROUP_NOWHERE;
}

static struct cgroup_choice cgroup_choose_all(
    const struct cgroup_level *levels, size_t n, unsigned wanted)
{
    const struct cgroup_choice leave = {CGROUP_LEAVE, 0, wanted};
    unsigned unseen = 0;
    bool can_leave =
        n && levels[0].writable && levels[0].alone && (levels[0].available & wanted) == wanted;
    if (can_leave && levels[0].delegated)
        return leave;
    for (size_t i = 0; i < n; i++) {
        enum cgroup_how how = cgroup_level_fits(&levels[i], i == 0, wanted);
        if (how != CGROUP_NOWHERE)
            return (struct cgroup_choice){how, i, wanted | unseen};
        if (levels[i].filtered)
            break;
        unseen |= levels[i].unseen ? CGROUP_UNSEEN : 0u;
    }
    return can_leave ? leave : (struct cgroup_choice){0};
}

/* Tries subsets in descending order of their numbers: those with the more important controllers
 * first. */
struct cgroup_choice cgroup_choose(const struct cgroup_level *levels, size_t n, unsigned wanted)
{
    struct cgroup_choice choice = {0};
    for (unsigned some = wanted; some && choice.how == CGROUP_NOWHERE; some = (some - 1) & wanted)
        choice = cgroup_choose_all(levels, n, some);
    return choice;
}

/* The machine --------------------------------------------------------------------------------- */

void cgroup_levels_done(struct cgroup_levels *l)
{
    for (size_t i = 0; i < l->n; i++)
        close(l->fds[i]);
    l->n = 0;
}

/* Returns false and errno on failure; E2BIG: the file is longer. */
static bool cgroup_read_file(int dir, const char *name, char text[TEXT_MAX], struct str *ret_text)
{
    AUTO_FD int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, TEXT_MAX) : -1;
    if (n == TEXT_MAX)
        errno = E2BIG;
    *ret_text = str_n(text, n > 0 ? (size_t)n : 0);
    return n >= 0 && n < TEXT_MAX;
}

static struct str cgroup_read_text(int dir, const char *name, char text[TEXT_MAX])
{
    struct str found;
    (void)!cgroup_read_file(dir, name, text, &found);
    return found;
}

/* Reads a limit of a group that may not have it; false and errno on failure. A child group may have
 * the name of a limit. */
static bool read_limit(int dir, const char *name, char text[TEXT_MAX], struct str *ret_text)
{
    if (cgroup_read_file(dir, name, text, ret_text))
        return true;
    *ret_text = (struct str){0};
    return errno == ENOENT || errno == EISDIR;
}

static bool cgroup_write(int dir, const char *name, const char *text)
{
    AUTO_FD int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && file_write_all(fd, str_z(text));
}

static bool cgroup_write_number(int dir, const char *name, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    return cgroup_write(dir, name, text);
}

/* Reads a file for a choice that must not be made with too many open files. */
static struct str look_into(int dir, const char *name, char text[TEXT_MAX], int *errnum)
{
    struct str found;
    if (!cgroup_read_file(dir, name, text, &found) && machine_files_remedy(errno))
        *errnum = errno;
    return str_trim_end(found, '\n');
}

static bool cgroup_is_alone(int dir, int *errnum)
{
    char text[TEXT_MAX];
    int64_t pid;
    struct str only = look_into(dir, "cgroup.procs", text, errnum);
    return str_to_int(only, 1, INT32_MAX, &pid) && pid == getpid();
}

static bool is_delegated(int dir)
{
    static const char *const names[] = {"user.delegate", "trusted.delegate"};
    char value[2];
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (fgetxattr(dir, names[i], value, sizeof(value)) == 1 && value[0] == '1')
            return true;
    return false;
}

/* BPF programs that filter what the processes of a group do, such as those that systemd attaches
 * for IPAddressDeny= and DeviceAllow=. They can't be queried without privileges. */
static void cgroup_find_programs(int dir, struct cgroup_level *l)
{
    static const unsigned kinds[] = {BPF_CGROUP_INET_INGRESS, BPF_CGROUP_INET_EGRESS,
        BPF_CGROUP_INET_SOCK_CREATE, BPF_CGROUP_INET_SOCK_RELEASE, BPF_CGROUP_SOCK_OPS,
        BPF_CGROUP_DEVICE, BPF_CGROUP_INET4_BIND, BPF_CGROUP_INET6_BIND, BPF_CGROUP_INET4_CONNECT,
        BPF_CGROUP_INET6_CONNECT, BPF_CGROUP_INET4_POST_BIND, BPF_CGROUP_INET6_POST_BIND,
        BPF_CGROUP_INET4_GETPEERNAME, BPF_CGROUP_INET6_GETPEERNAME, BPF_CGROUP_INET4_GETSOCKNAME,
        BPF_CGROUP_INET6_GETSOCKNAME, BPF_CGROUP_UDP4_SENDMSG, BPF_CGROUP_UDP6_SENDMSG,
        BPF_CGROUP_UDP4_RECVMSG, BPF_CGROUP_UDP6_RECVMSG, BPF_CGROUP_SYSCTL, BPF_CGROUP_GETSOCKOPT,
        BPF_CGROUP_SETSOCKOPT, BPF_LSM_CGROUP, UNIX_PROGRAMS, UNIX_PROGRAMS + 1, UNIX_PROGRAMS + 2,
        UNIX_PROGRAMS + 3, UNIX_PROGRAMS + 4};
    for (size_t i = 0; i < ARRAY_LEN(kinds) && !l->filtered && !l->unseen; i++) {
        union bpf_attr attr = {.query = {.target_fd = (unsigned)dir, .attach_type = kinds[i]}};
        if (syscall(SYS_bpf, BPF_PROG_QUERY, &attr, sizeof(attr)) == 0)
            l->filtered = attr.query.prog_cnt > 0;
        else
            l->unseen = errno != EINVAL && errno != ENOSYS; /* EINVAL, ENOSYS: no such kind */
    }
}

static void cgroup_inspect_level(int dir, struct cgroup_level *ret_level, int *errnum)
{
    char text[TEXT_MAX];
    struct stat st;
    *ret_level = (struct cgroup_level){
        .available = cgroup_controllers(look_into(dir, "cgroup.controllers", text, errnum)),
        .enabled = cgroup_controllers(look_into(dir, "cgroup.subtree_control", text, errnum)),
        .writable = faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) == 0 &&
                    faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) == 0,
        .top = fstatat(dir, "cgroup.type", &st, 0) != 0 && errno == ENOENT,
        .delegated = is_delegated(dir),
    };
    cgroup_find_programs(dir, ret_level);
}

bool cgroup_open_levels(
    struct str at, struct str below, struct arena *a, struct cgroup_levels *ret_levels)
{
    struct cgroup_levels l = {0};
    size_t depth = 1;
    struct str part, rest = below;
    while (lexical_next(&rest, &part))
        depth++;
    if (depth > CGROUP_LEVELS)
        return false;
    const char *path = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(at), STR_ARG(below));
    for (; l.n < depth; l.n++) {
        l.fds[l.n] = l.n ? openat(l.fds[l.n - 1], "..", OPEN_GROUP) : open(path, OPEN_GROUP);
        if (l.fds[l.n] < 0) {
            cgroup_levels_done(&l);
            return false;
        }
        cgroup_inspect_level(l.fds[l.n], &l.p[l.n], &l.errnum);
    }
    l.p[0].alone = cgroup_is_alone(l.fds[0], &l.errnum);
    *ret_levels = l;
    return true;
}

/* Returns no levels without a group of version 2, or a mount that shows it. */
static void find_levels(struct cgroup_levels *ret_levels)
{
    AUTO_ARENA struct arena a = ARENA_INIT(2 * MOUNTS_TEXT_MAX);
    AUTO_BUF struct buf mounts = BUF_INIT(MOUNTS_TEXT_MAX);
    AUTO_ERR struct err ignored = {0};
    char text[TEXT_MAX];
    struct str own;
    struct mounts_shown shown;
    *ret_levels = (struct cgroup_levels){0};
    if (machine_is_disabled(MACHINE_CGROUPS) ||
        !cgroup_parse_own(cgroup_read_text(AT_FDCWD, "/proc/self/cgroup", text), &own) ||
        !mounts_read(&mounts, &ignored) ||
        !mounts_find(&a, buf_str(&mounts), &(struct mounts_wanted){STR("cgroup2"), own}, &shown))
        return;
    (void)!cgroup_open_levels(shown.at, shown.below, &a, ret_levels);
}

unsigned cgroup_wanted(const struct cgroup_limits *l)
{
    return (l->processes ? CGROUP_PIDS : 0u) | (l->memory_bytes ? CGROUP_MEMORY : 0u) |
           (l->cpu_millis ? CGROUP_CPU : 0u);
}

unsigned cgroup_probe(const struct cgroup_limits *limits)
{
    const unsigned wanted = cgroup_wanted(limits);
    AUTO(cgroup_levels_done) struct cgroup_levels levels = {0};
    if (wanted)
        find_levels(&levels);
    return cgroup_choose(levels.p, levels.n, wanted).kept;
}

/* Limits -------------------------------------------------------------------------------------- */

/* Returns false and errno on failure. */
static bool cgroup_read_number(int dir, const char *name, uint64_t *ret_number)
{
    char text[TEXT_MAX];
    int64_t number;
    struct str found;
    *ret_number = UINT64_MAX; /* "max", or no such file: no limit */
    if (!read_limit(dir, name, text, &found))
        return false;
    found = str_trim_end(found, '\n');
    if (!found.n || str_is(found, "max"))
        return true;
    errno = EINVAL;
    if (!str_to_int(found, 0, INT64_MAX, &number))
        return false;
    *ret_number = (uint64_t)number;
    return true;
}

/* A part of the time of one CPU, in microseconds; a period of 0: no limit. */
struct cpu_time {
    int64_t quota, period;
};

/* "QUOTA PERIOD". Returns false and errno on failure. */
static bool read_cpu(int dir, struct cpu_time *ret_time)
{
    char text[TEXT_MAX];
    struct str first = {0}, rest;
    *ret_time = (struct cpu_time){0};
    if (!read_limit(dir, "cpu.max", text, &rest))
        return false;
    str_cut(str_trim_end(rest, '\n'), ' ', &first, &rest);
    if (!first.n || str_is(first, "max"))
        return true;
    errno = EINVAL;
    return str_to_int(first, 0, INT32_MAX, &ret_time->quota) &&
           str_to_int(rest, 1, INT32_MAX, &ret_time->period);
}

static struct cpu_time cpu_of_millis(uint64_t millis)
{
    if (!millis)
        return (struct cpu_time){0};
    return (struct cpu_time){
        (int64_t)MAX(millis, (uint64_t)CPU_LEAST) * (CPU_PERIOD / MILLI), CPU_PERIOD};
}

static bool is_less_time(const struct cpu_time *a, const struct cpu_time *b)
{
    return a->period && (!b->period || a->quota * b->period < b->quota * a->period);
}

static uint64_t or_none(uint64_t limit)
{
    return limit ? limit : UINT64_MAX;
}

/* Groups that the sandbox leaves, the innermost first. A controller that one of them has is also in
 * the new group: controllers are enabled from the top. */
struct cgroup_left {
    const int *fds;
    size_t n;
};

static bool cgroup_set_number(
    int dir, const struct cgroup_left *left, const char *name, uint64_t most)
{
    for (size_t i = 0; i < left->n; i++) {
        uint64_t number;
        if (!cgroup_read_number(left->fds[i], name, &number))
            return false;
        most = MIN(most, number);
    }
    return most == UINT64_MAX || cgroup_write_number(dir, name, most);
}

static bool set_cpu(int dir, const struct cgroup_left *left, struct cpu_time most)
{
    char text[64];
    for (size_t i = 0; i < left->n; i++) {
        struct cpu_time time;
        if (!read_cpu(left->fds[i], &time))
            return false;
        if (is_less_time(&time, &most))
            most = time;
    }
    snprintf(text, sizeof(text), "%lld %lld", (long long)most.quota, (long long)most.period);
    return !most.period || cgroup_write(dir, "cpu.max", text);
}

/* "max" alone, or after a name: "8:0 rbps=max wbps=max". */
static bool is_no_limit(struct str line)
{
    struct str word = {0}, rest = {0};
    str_cut(line, ' ', &word, &rest);
    if (!rest.n)
        return !word.n || str_is(word, "max");
    while (str_cut(rest, ' ', &word, &rest))
        if (word.n && !str_is(word, "max") && !str_ends_with(word, STR("=max")))
            return false;
    return true;
}

/* The name before a limit: "8:0" of "8:0 rbps=1"; empty for a value alone. */
static struct str cgroup_limit_key(struct str line)
{
    struct str word = {0}, rest = {0};
    str_cut(line, ' ', &word, &rest);
    return rest.n ? word : (struct str){0};
}

/* Finds the line that sets a limit for a key. */
static bool find_limit(struct str text, struct str key, struct str *ret_line)
{
    while (str_cut(text, '\n', ret_line, &text))
        if (!is_no_limit(*ret_line) && str_eq(cgroup_limit_key(*ret_line), key))
            return true;
    return false;
}

/* Compares numbers such as "50" and "12.34"; returns false if one of them is not a number. */
static bool compare_numbers(struct str a, struct str b, int *ret_order)
{
    struct str whole[2] = {0}, fraction[2] = {0};
    int64_t number[2];
    str_cut(a, '.', &whole[0], &fraction[0]);
    str_cut(b, '.', &whole[1], &fraction[1]);
    for (size_t i = 0; i < 2; i++)
        if (!str_to_int(whole[i], 0, INT64_MAX, &number[i]))
            return false;
    size_t n = MIN(fraction[0].n, fraction[1].n);
    *ret_order = (number[0] > number[1]) - (number[0] < number[1]);
    if (*ret_order == 0 && n > 0)
        *ret_order = memcmp(fraction[0].p, fraction[1].p, n);
    if (*ret_order == 0)
        *ret_order = (fraction[0].n > n) - (fraction[1].n > n);
    return true;
}

static void cgroup_copy_line(struct str line, char ret_line[TEXT_MAX])
{
    memcpy(ret_line, line.p, line.n);
    ret_line[line.n] = '\0';
}

/* Reduces a line of one group to the least of all. Sets ret_known if an inner group also has it:
 * then it is set already. Returns false if two can't be compared. */
static bool reduce_line(const struct cgroup_left *left, size_t from, const char *name,
    char line[TEXT_MAX], bool *ret_known)
{
    char text[TEXT_MAX];
    *ret_known = false;
    for (size_t i = 0; i < left->n && !*ret_known; i++) {
        struct str other, found;
        int order;
        if (i == from)
            continue;
        if (!read_limit(left->fds[i], name, text, &other))
            return false;
        if (!find_limit(other, cgroup_limit_key(str_z(line)), &found))
            continue;
        *ret_known = i < from;
        if (*ret_known || str_is(found, line))
            continue;
        if (!compare_numbers(found, str_z(line), &order))
            return false;
        if (order < 0)
            cgroup_copy_line(found, line);
    }
    return true;
}

/* Sets a limit of one group, line by line. */
static bool carry_limit(int dir, const struct cgroup_left *left, size_t from, const char *name)
{
    char text[TEXT_MAX], line[TEXT_MAX];
    struct str next, rest;
    bool known;
    if (!read_limit(left->fds[from], name, text, &rest))
        return false;
    while (str_cut(rest, '\n', &next, &rest)) {
        if (is_no_limit(next))
            continue;
        cgroup_copy_line(next, line);
        if (!reduce_line(left, from, name, line, &known) ||
            (!known && !cgroup_write(dir, name, line)))
            return false;
    }
    return true;
}

/* Whether a file is a limit, by the kernel's naming convention, except for those that
 * cgroup_set_limits() sets. */
static bool is_limit(struct str name)
{
    return (str_ends_with(name, STR(".max")) || str_ends_with(name, STR(".high"))) &&
           !str_is(name, "cpu.max") && !str_is(name, "pids.max") && !str_is(name, "memory.max");
}

/* Copies all limits of a group, including those of controllers that are not known here. */
static bool carry_limits(int dir, const struct cgroup_left *left, size_t from)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED); /* groups below it do not count */
    int files = 0;
    bool ok = dir_open(&d, left->fds[from], ".");
    while (ok && dir_next(&d))
        if (d.type != DT_DIR)
            ok = ++files <= FILES_MAX &&
                 (!is_limit(str_z(d.name)) || carry_limit(dir, left, from, d.name));
    return ok && dir_complete(&d);
}

/* Writes a setting, and compares the value that the kernel makes of it. */
static bool put_effective(int dir, const char *name, const char *effective, struct str value)
{
    char line[TEXT_MAX], other[TEXT_MAX];
    cgroup_copy_line(value, line);
    return value.n > 0 && cgroup_write(dir, name, line) &&
           str_eq(value, str_trim_end(cgroup_read_text(dir, effective, other), '\n'));
}

/* Copies a setting with an effective value: that of the innermost group that has it includes all
 * others. */
static bool carry_effective(
    int dir, const struct cgroup_left *left, const char *name, const char *effective)
{
    char text[TEXT_MAX], other[TEXT_MAX];
    struct str found;
    for (size_t i = 0; i < left->n; i++) {
        if (!cgroup_read_file(left->fds[i], effective, text, &found)) {
            if (errno != ENOENT)
                return false;
            continue;
        }
        return str_eq(found, cgroup_read_text(dir, effective, other)) ||
               put_effective(dir, name, effective, str_trim_end(found, '\n'));
    }
    return true;
}

/* Whether a group has no CPUs that no other group can use. */
static bool is_no_partition(int dir)
{
    char text[TEXT_MAX];
    struct str kind;
    if (!read_limit(dir, "cpuset.cpus.partition", text, &kind))
        return false;
    return !kind.n || str_is(str_trim_end(kind, '\n'), "member");
}

static bool carry(int dir, const struct cgroup_left *left)
{
    for (size_t i = 0; i < left->n; i++)
        if (!is_no_partition(left->fds[i]) || !carry_limits(dir, left, i))
            return false;
    return carry_effective(dir, left, "cpuset.cpus", "cpuset.cpus.effective") &&
           carry_effective(dir, left, "cpuset.mems", "cpuset.mems.effective");
}

bool cgroup_limit(int group, const int *fds, size_t n, const struct cgroup_limits *limits)
{
    const struct cgroup_left left = {fds, n};
    uint64_t memory;
    if (!cgroup_set_number(group, &left, "pids.max", or_none(limits->processes)) ||
        !cgroup_set_number(group, &left, "memory.max", or_none(limits->memory_bytes)) ||
        !carry(group, &left) || !set_cpu(group, &left, cpu_of_millis(limits->cpu_millis)) ||
        !cgroup_read_number(group, "memory.max", &memory))
        return false;
    /* Otherwise swap could hold as much again. The file does not exist on a machine without
     * swap. */
    if (memory != UINT64_MAX)
        (void)!cgroup_write(group, "memory.swap.max", "0");
    return true;
}

/* Sets the requested limits, as far as there are controllers, and those of the groups that the
 * sandbox leaves. */
static bool cgroup_set_limits(int dir, const struct cgroup_levels *levels,
    const struct cgroup_choice *c, const struct cgroup_limits *limits)
{
    const struct cgroup_limits kept = {
        .processes = c->kept & CGROUP_PIDS ? limits->processes : 0,
        .memory_bytes = c->kept & CGROUP_MEMORY ? limits->memory_bytes : 0,
        .cpu_millis = c->kept & CGROUP_CPU ? limits->cpu_millis : 0,
    };
    return cgroup_limit(dir, levels->fds, c->level, &kept);
}

/* Creation ------------------------------------------------------------------------------------ */

/* A group of ours that is not locked was left by a killed process. If it is still in use, it can't
 * be removed. */
static void cgroup_sweep(int place)
{
    AUTO_DIR struct dir d = DIR_INIT(SWEEP_MAX);
    if (!dir_open(&d, place, "."))
        return;
    while (dir_next(&d)) {
        if (!cgroup_is_ours(d.name))
            continue;
        AUTO_FD int group = openat(place, d.name, OPEN_GROUP);
        if (group >= 0 && flock(group, LOCK_EX | LOCK_NB) == 0)
            unlinkat(place, d.name, AT_REMOVEDIR);
    }
}

/* Returns true if that was possible for all of them. */
static bool cgroup_switch_all(int dir, unsigned wanted, char sign)
{
    bool ok = true;
    for (size_t i = 0; i < ARRAY_LEN(controllers); i++) {
        char text[16];
        snprintf(text, sizeof(text), "%c%s", sign, controllers[i].name);
        if (wanted & controllers[i].bit)
            ok &= cgroup_write(dir, "cgroup.subtree_control", text);
    }
    return ok;
}

static bool cgroup_enable(int dir, const struct cgroup_level *level, unsigned wanted)
{
    const unsigned new = wanted & ~level->enabled;
    if (cgroup_switch_all(dir, new, '+'))
        return true;
    cgroup_switch_all(dir, new, '-');
    return false;
}

/* Moves our own process to a child of its group, which can then have controllers for others. The
 * child exists as long as we do: by then others may rely on the controllers. */
static bool cgroup_leave_own(int own, const struct cgroup_level *level, unsigned wanted)
{
    char name[CGROUP_NAME];
    snprintf(name, sizeof(name), "%s%d-%s", prefix, (int)getpid(), own_name);
    if (mkdirat(own, name, GROUP_MODE) != 0 && errno != EEXIST)
        return false;
    AUTO_FD int leaf = openat(own, name, OPEN_GROUP);
    if (leaf >= 0 && cgroup_write(leaf, "cgroup.procs", "0")) {
        if (cgroup_enable(own, level, wanted))
            return true;
        (void)!cgroup_write(own, "cgroup.procs", "0");
    }
    unlinkat(own, name, AT_REMOVEDIR);
    return false;
}

/* A concurrent cgroup_sweep() may remove it before it is locked: then its files can't be written.
 */
static bool cgroup_make_in(int place, const struct cgroup_levels *levels,
    const struct cgroup_choice *c, const struct cgroup_limits *limits, struct cgroup *ret_group)
{
    static atomic_uint count;
    struct cgroup group = {.place = -1, .fd = -1, .kept = c->kept};
    snprintf(group.name, sizeof(group.name), "%s%d-%u", prefix, (int)getpid(), count++);
    if (mkdirat(place, group.name, GROUP_MODE) != 0)
        return false;
    AUTO_FD int fd = openat(place, group.name, OPEN_GROUP);
    AUTO_FD int parent = fcntl(place, F_DUPFD_CLOEXEC, 0);
    if (fd < 0 || parent < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 ||
        !cgroup_set_limits(fd, levels, c, limits)) {
        unlinkat(place, group.name, AT_REMOVEDIR);
        return false;
    }
    group.place = TAKE_FD(parent);
    group.fd = TAKE_FD(fd);
    *ret_group = group;
    return true;
}

static bool cgroup_unavailable(int errnum, struct err *err)
{
    const char *remedy = machine_files_remedy(errnum);
    if (remedy) {
        err_errno(err, E_SANDBOX_UNAVAILABLE, errnum, "cannot search for a cgroup");
        return err_ctx(err, "remedy", "%s", remedy);
    }
    err_set(err, E_SANDBOX_UNAVAILABLE,
        "cannot create a cgroup (version 2) with the required controllers");
    return err_ctx(err, "remedy",
        "run cordon as root where cgroup2 is mounted and writable, or in a delegated "
        "cgroup: systemd-run --user --scope -p Delegate=yes cordon …");
}

bool cgroup_make(const struct cgroup_limits *limits, struct cgroup *ret_group, struct err *err)
{
    AUTO(cgroup_levels_done) struct cgroup_levels levels;
    errno = 0;
    find_levels(&levels);
    const struct cgroup_choice c = cgroup_choose(levels.p, levels.n, cgroup_wanted(limits));
    if (c.how == CGROUP_NOWHERE || levels.errnum)
        return cgroup_unavailable(levels.n ? levels.errnum : errno, err);
    int place = levels.fds[c.level];
    if ((c.how == CGROUP_LEAVE && !cgroup_leave_own(place, &levels.p[c.level], c.kept)) ||
        (c.how == CGROUP_ENABLE && !cgroup_enable(place, &levels.p[c.level], c.kept)))
        return cgroup_unavailable(errno, err);
    cgroup_sweep(place);
    for (int i = 0; i < MAKE_TRIES; i++)
        if (cgroup_make_in(place, &levels, &c, limits, ret_group))
            return true;
    return cgroup_unavailable(errno, err);
}

/* Afterwards ---------------------------------------------------------------------------------- */

uint64_t cgroup_oom_kills(const struct cgroup *group)
{
    char text[TEXT_MAX];
    struct str line, rest = group->fd >= 0 ? cgroup_read_text(group->fd, "memory.events", text)
                                           : (struct str){0};
    int64_t n;
    while (str_cut(rest, '\n', &line, &rest))
        if (str_starts_with(line, STR("oom_kill ")) &&
            str_to_int(str_skip(line, strlen("oom_kill ")), 0, INT64_MAX, &n))
            return (uint64_t)n;
    return 0;
}

/* Killed processes leave it when they have ended, not before. */
void cgroup_remove(struct cgroup *group)
{
    if (group->fd < 0)
        return;
    AUTO_FD int events = openat(group->fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < REMOVE_TRIES; i++) {
        if (unlinkat(group->place, group->name, AT_REMOVEDIR) == 0 || errno != EBUSY)
            break;
        char text[TEXT_MAX];
        struct pollfd changed = {.fd = events, .events = POLLPRI};
        (void)!cgroup_write(group->fd, "cgroup.kill", "1");
        (void)!pread(events, text, sizeof(text), 0);
        poll(&changed, 1, REMOVE_MS);
    }
    close(TAKE_FD(group->fd));
    close(TAKE_FD(group->place));
}
