/* Observed system calls: their paths, addresses and processes. Allocates nothing after the start.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/denied_calls.h"

#include "base/fnv.h"
#include "base/syscalls.h"
#include "path/lexical.h"
#include "sandbox/denied_git.h"
#include "sandbox/denied_path.h"
#include "sandbox/denied_script.h"
#include "sandbox/proc_entry.h"
#include "sandbox/syscall_rules.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    SEEN_MAX = 4096,   /* paths that are known to be fine, by their hash */
    COUNTED_MAX = 512, /* threads whose calls are counted, by their id */
    DNS_PORT = 53,
    SOCKET_TYPE_BITS = 0xf,
    NO_ARG = -1,
    WORDS_MAX = 16 * 1024,
    ARGUMENTS_MAX = 64, /* paths in a command line */
    ENVIRON_MAX = 16 * 1024,
    NOT_FOUND = 127, /* of a shell */
};

struct denied_calls {
    const struct plan *plan;
    struct denied *denied;
    int root; /* of the sandbox; -1: not yet known */
    uint64_t seen[SEEN_MAX];
    struct {
        pid_t thread;
        uint32_t calls;
    } counted[COUNTED_MAX];
    uint64_t readable, unreadable; /* processes' memory */
    char base[PATH_MAX], given[PATH_MAX], path[2 * PATH_MAX];
    char words[WORDS_MAX];        /* a command line */
    char needs[DENIED_NEEDS_MAX]; /* interpreters */
    struct outside outside;
    struct denied_verdict verdict;
};

struct denied_calls *denied_calls_new(const struct plan *plan, struct denied *denied)
{
    struct denied_calls *c = calloc(1, sizeof(*c));
    BUG_ON(!c);
    c->plan = plan;
    c->denied = denied;
    c->root = -1;
    return c;
}

void denied_calls_free(struct denied_calls *c)
{
    if (!c)
        return;
    if (c->unreadable && !c->readable)
        denied_set_gap(c->denied, "denied: not collected: the memory of the sandbox's processes "
                                  "cannot be read (kernel.yama.ptrace_scope, or a filter)");
    auto_fd(&c->root);
    free(c);
}

/* Processes ----------------------------------------------------------------------------------- */

static uint32_t count_call(struct denied_calls *c, pid_t thread)
{
    size_t i = (size_t)thread % COUNTED_MAX;
    if (c->counted[i].thread != thread) {
        c->counted[i].thread = thread;
        c->counted[i].calls = 0;
    }
    return ++c->counted[i].calls;
}

/* The process of a thread, and its session as the sandbox sees it. */
static void identify(pid_t thread, pid_t *ret_pid, pid_t *ret_session)
{
    char text[PROC_ENTRY_MAX];
    bool known = proc_entry_read(thread, "status", text);
    *ret_pid = known ? (pid_t)proc_entry_number(text, "\nTgid:", 10) : thread;
    *ret_session = known ? (pid_t)proc_entry_number(text, "\nNSsid:", 10) : 0;
}

static void report(
    struct denied_calls *c, const struct listener_call *call, struct denied_sight sight)
{
    char program[DENIED_PROGRAM_MAX], command[DENIED_COMMAND_MAX];
    pid_t thread = (pid_t)call->request->pid;
    uint64_t id = call->request->id;
    sight.program = str_n(program, proc_entry_link(thread, "exe", program, sizeof(program)));
    if (sight.rule == DENIED_KEPT)
        sight.command = denied_git_command(thread, c->plan->cwd, command);
    identify(thread, &sight.pid, &sight.session);
    sight.thread = thread;
    sight.calls = c->counted[(size_t)thread % COUNTED_MAX].calls;
    /* If it is gone, its number may be that of another process, which was read instead. */
    if (ioctl(call->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0)
        denied_add(c->denied, &sight);
}

/* Paths --------------------------------------------------------------------------------------- */

/* The path among the arguments of a call, and its use. */
struct path_use {
    int8_t dir, path; /* arguments; NO_ARG: none */
    int8_t flags;     /* argument with open()'s flags, which decide */
    enum denied_op op;
    bool creates, entry, fresh;
};

#define USE(p, o, ...)                                                           \
    {                                                                            \
        .dir = NO_ARG, .path = p, .flags = NO_ARG, .op = DENIED_##o, __VA_ARGS__ \
    }
#define USE_AT(d, p, o, ...)                                                \
    {                                                                       \
        .dir = d, .path = p, .flags = NO_ARG, .op = DENIED_##o, __VA_ARGS__ \
    }

static const struct {
    int number;
    struct path_use uses[2]; /* the second may be all zero */
} denied_paths[] = {
    {NR_openat, {{.dir = 0, .path = 1, .flags = 2}}},
    {NR_open, {{.dir = NO_ARG, .path = 0, .flags = 1}}},
    {NR_execve, {USE(0, EXEC)}},
    {NR_execveat, {USE_AT(0, 1, EXEC)}},
    {NR_chdir, {USE(0, READ)}},
    {NR_creat, {USE(0, WRITE, .creates = true)}},
    {NR_truncate, {USE(0, WRITE)}},
    {NR_chmod, {USE(0, WRITE)}},
    {NR_fchmodat, {USE_AT(0, 1, WRITE)}},
    {NR_mkdir, {USE(0, WRITE, .creates = true, .entry = true, .fresh = true)}},
    {NR_mkdirat, {USE_AT(0, 1, WRITE, .creates = true, .entry = true, .fresh = true)}},
    {NR_unlink, {USE(0, WRITE, .entry = true)}},
    {NR_rmdir, {USE(0, WRITE, .entry = true)}},
    {NR_unlinkat, {USE_AT(0, 1, WRITE, .entry = true)}},
    {NR_symlink, {USE(1, WRITE, .creates = true, .entry = true, .fresh = true)}},
    {NR_symlinkat, {USE_AT(1, 2, WRITE, .creates = true, .entry = true, .fresh = true)}},
    {NR_link, {USE(1, WRITE, .creates = true, .entry = true, .fresh = true)}},
    {NR_linkat, {USE_AT(2, 3, WRITE, .creates = true, .entry = true, .fresh = true)}},
    {NR_rename, {USE(0, WRITE, .entry = true), USE(1, WRITE, .creates = true, .entry = true)}},
    {NR_renameat,
        {USE_AT(0, 1, WRITE, .entry = true), USE_AT(2, 3, WRITE, .creates = true, .entry = true)}},
    {NR_renameat2,
        {USE_AT(0, 1, WRITE, .entry = true), USE_AT(2, 3, WRITE, .creates = true, .entry = true)}},
};

/* The directory that a relative path starts at. */
static size_t find_base(struct denied_calls *c, const struct listener_call *call, int dir)
{
    char what[32] = "cwd";
    int fd = dir == NO_ARG ? AT_FDCWD : (int)call->request->data.args[dir];
    if (fd != AT_FDCWD)
        snprintf(what, sizeof(what), "fd/%d", fd);
    size_t n = proc_entry_link((pid_t)call->request->pid, what, c->base, sizeof(c->base));
    return n && c->base[0] == '/' ? n : 0;
}

/* Sets `path`. */
static bool make_absolute(
    struct denied_calls *c, const struct listener_call *call, int dir, const char *given)
{
    if (given[0] == '/') {
        memcpy(c->path, given, strlen(given) + 1);
        return true;
    }
    if (!given[0] || !find_base(c, call, dir))
        return false;
    int n = snprintf(c->path, sizeof(c->path), "%s/%s", c->base, given);
    return n > 0 && n < PATH_MAX;
}

/* Reads the path of a call and makes it absolute. */
static bool read_call_path(
    struct denied_calls *c, const struct listener_call *call, const struct path_use *use)
{
    if (!listener_read_path(call, call->request->data.args[use->path], c->given, PATH_MAX)) {
        c->unreadable += errno == EPERM;
        return false;
    }
    c->readable++;
    return make_absolute(c, call, use->dir, c->given);
}

static bool denied_calls_find_root(struct denied_calls *c, const struct listener_call *call)
{
    char name[PROC_ENTRY_NAME];
    if (c->root >= 0)
        return true;
    proc_entry_name(name, (pid_t)call->request->pid, "root");
    c->root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return c->root >= 0;
}

/* Only paths that are fine are remembered: others are looked at each time. */
static uint64_t *find_seen(struct denied_calls *c, const struct denied_look *look, uint64_t *hash)
{
    const char kind[] = {(char)look->op, look->creates, look->entry, look->fresh, look->named};
    *hash = fnv_add(fnv_add(FNV_START, str_n(kind, sizeof(kind))), str_z(look->path));
    return &c->seen[*hash % SEEN_MAX];
}

/* A program that may be started, but whose interpreter may not: the first such one. */
static void look_at_interpreters(struct denied_calls *c, const struct listener_call *call, size_t n)
{
    const size_t first = n ? strlen(c->needs) + 1 : 0;
    if (n)
        report(c, call,
            (struct denied_sight){.op = DENIED_EXEC,
                .rule = DENIED_NOT_LISTED,
                .target = str_n(c->needs, first - 1),
                .needs = str_n(c->needs + first, n - first)});
}

static void look_at_path(struct denied_calls *c, const struct listener_call *call,
    const struct denied_look *look, enum denied_op op)
{
    uint64_t hash, *seen = find_seen(c, look, &hash);
    struct denied_verdict *v = &c->verdict;
    if (*seen == hash || !denied_calls_find_root(c, call))
        return;
    struct denied_look now = *look;
    now.root = c->root;
    now.outside = &c->outside;
    const bool denied = denied_path_judge(&now, v);
    const size_t needs =
        look->op == DENIED_EXEC ? denied_script_needs(&now, denied, c->needs, sizeof(c->needs)) : 0;
    if (!denied) {
        look_at_interpreters(c, call, needs);
        *seen = needs ? *seen : hash;
        return;
    }
    report(c, call,
        (struct denied_sight){.op = op,
            .rule = v->rule,
            .target = str_z(v->target),
            .needs = str_n(c->needs, needs),
            .entry = look->entry,
            .implied = call->request->data.nr == NR_exit_group,
            .own = v->own,
            .optional = v->optional});
}

/* The use that open() makes of its path. */
static void use_flags(struct path_use *use, int flags)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & (O_TRUNC | O_CREAT);
    use->op = writes ? DENIED_WRITE : DENIED_READ;
    use->creates = flags & O_CREAT;
    use->fresh = (flags & O_CREAT) && (flags & O_EXCL);
}

static void look_at_use(
    struct denied_calls *c, const struct listener_call *call, struct path_use use)
{
    if (use.flags != NO_ARG)
        use_flags(&use, (int)call->request->data.args[use.flags]);
    if (!read_call_path(c, call, &use))
        return;
    const struct denied_look look = {.plan = c->plan,
        .op = use.op,
        .creates = use.creates,
        .entry = use.entry,
        .fresh = use.fresh,
        .path = c->path};
    look_at_path(c, call, &look, use.op);
}

static bool look_at_paths(struct denied_calls *c, const struct listener_call *call)
{
    for (size_t i = 0; i < ARRAY_LEN(denied_paths); i++) {
        if (denied_paths[i].number != call->request->data.nr)
            continue;
        look_at_use(c, call, denied_paths[i].uses[0]);
        if (denied_paths[i].uses[1].path)
            look_at_use(c, call, denied_paths[i].uses[1]);
        return true;
    }
    return false;
}

/* git would add a linked work tree to the user's repository. Refused, so that git fails instead of
 * leaving an entry for a directory that may end with the sandbox. This serves the user and protects
 * nothing: other programs and other names are left to the check after the command. */
static bool refuse_work_tree(struct denied_calls *c, const struct listener_call *call)
{
    static const struct path_use uses[] = {USE(0, WRITE), USE_AT(0, 1, WRITE)};
    char exe[DENIED_PROGRAM_MAX];
    const int number = call->request->data.nr;
    if ((number != NR_mkdir && number != NR_mkdirat) ||
        !read_call_path(c, call, &uses[number == NR_mkdirat]) ||
        !denied_git_adds_tree(c->plan, str_z(c->path)))
        return false;
    size_t n = proc_entry_link((pid_t)call->request->pid, "exe", exe, sizeof(exe));
    if (!str_ends_with(str_n(exe, n), STR("/git")))
        return false;
    report(c, call,
        (struct denied_sight){.op = DENIED_WRITE, .rule = DENIED_KEPT, .target = str_z(c->path)});
    return true;
}

/* Addresses ----------------------------------------------------------------------------------- */

static void report_address(struct denied_calls *c, const struct listener_call *call,
    const char *address, unsigned port, bool is_v6)
{
    char target[INET6_ADDRSTRLEN + sizeof("[]:65535")];
    int n = snprintf(target, sizeof(target), is_v6 ? "[%s]:%u" : "%s:%u", address, port);
    report(c, call,
        (struct denied_sight){.op = DENIED_CONNECT,
            .rule = c->plan->hosts.n ? DENIED_PROXIED : DENIED_NO_NETWORK,
            .target = str_n(target, (size_t)n)});
}

/* Which of them is asked does not matter, and that one is often only to look for updates. */
static void report_name_server(struct denied_calls *c, const struct listener_call *call)
{
    report(c, call,
        (struct denied_sight){.op = DENIED_CONNECT,
            .rule = c->plan->hosts.n ? DENIED_PROXIED : DENIED_NO_NAMES,
            .target = STR("a name server"),
            .optional = true});
}

/* In a private network only the loopback leads anywhere; and name servers are not there. */
static void look_at_inet(
    struct denied_calls *c, const struct listener_call *call, const struct sockaddr_in *at)
{
    char text[INET6_ADDRSTRLEN];
    uint32_t address = ntohl(at->sin_addr.s_addr);
    bool local = address >> 24 == 127 || address == 0;
    unsigned port = ntohs(at->sin_port);
    if (c->plan->own_network && port == DNS_PORT)
        report_name_server(c, call);
    else if (c->plan->own_network && !local &&
             inet_ntop(AF_INET, &at->sin_addr, text, sizeof(text)))
        report_address(c, call, text, port, false);
}

static void look_at_inet6(
    struct denied_calls *c, const struct listener_call *call, const struct sockaddr_in6 *at)
{
    char text[INET6_ADDRSTRLEN];
    const struct in6_addr *a = &at->sin6_addr;
    bool local = IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_UNSPECIFIED(a) ||
                 (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
    if (c->plan->own_network && !local && ntohs(at->sin6_port) == DNS_PORT)
        report_name_server(c, call);
    else if (c->plan->own_network && !local && inet_ntop(AF_INET6, a, text, sizeof(text)))
        report_address(c, call, text, ntohs(at->sin6_port), true);
}

static void look_at_unix(
    struct denied_calls *c, const struct listener_call *call, struct sockaddr_un *at, size_t n)
{
    size_t length = strnlen(at->sun_path, n - offsetof(struct sockaddr_un, sun_path));
    const struct denied_look look = {.plan = c->plan, .op = DENIED_READ, .path = c->path};
    memcpy(c->given, at->sun_path, length);
    c->given[length] = '\0';
    if (length && make_absolute(c, call, NO_ARG, c->given)) /* otherwise it is abstract */
        look_at_path(c, call, &look, DENIED_CONNECT);
}

static void look_at_connect(struct denied_calls *c, const struct listener_call *call)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    } at = {0};
    size_t size = MIN((size_t)(uint32_t)call->request->data.args[2], sizeof(at));
    ssize_t n = size ? listener_read(call, call->request->data.args[1], &at, size) : -1;
    if (n < (ssize_t)sizeof(at.any.sa_family))
        return;
    if (at.any.sa_family == AF_INET && n >= (ssize_t)sizeof(at.in))
        look_at_inet(c, call, &at.in);
    else if (at.any.sa_family == AF_INET6 &&
             n >= (ssize_t)offsetof(struct sockaddr_in6, sin6_scope_id))
        look_at_inet6(c, call, &at.in6);
    else if (at.any.sa_family == AF_UNIX && n > (ssize_t)offsetof(struct sockaddr_un, sun_path))
        look_at_unix(c, call, &at.un, (size_t)n);
}

/* Calls --------------------------------------------------------------------------------------- */

/* The path in an argument: after an option's letter, or its "=". */
static const char *argument_path(const char *word)
{
    const char *equals = strchr(word, '=');
    if (word[0] != '-')
        return word;
    if (word[1] && word[1] != '-' && word[2] == '/')
        return word + 2;
    return equals && equals[1] == '/' ? equals + 1 : NULL;
}

static void look_at_argument(
    struct denied_calls *c, const struct listener_call *call, const char *path)
{
    const struct denied_look look = {
        .plan = c->plan, .op = DENIED_READ, .named = true, .path = c->path};
    if (make_absolute(c, call, NO_ARG, path))
        look_at_path(c, call, &look, DENIED_READ);
}

/* A shell looks for programs in PATH by stat(), which is not observed. If it fails because there is
 * none, and all that it was to run is one simple command, the name is known. */
static struct str find_missing_name(const char *words, size_t n)
{
    static const char *const shells[] = {"sh", "dash", "bash", "ash", "ksh", "zsh"};
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@%+:,- ";
    const char *flag = words + strlen(words) + 1;
    const char *script = flag < words + n ? flag + strlen(flag) + 1 : words + n;
    struct str name = lexical_name(str_z(words));
    bool shell = false;
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        shell |= str_is(name, shells[i]);
    if (!shell || script >= words + n || strcmp(flag, "-c") != 0 || !script[0] ||
        script[strspn(script, plain)])
        return (struct str){0};
    name = str_n(script, strcspn(script, " "));
    return str_find(name, '/') < 0 ? name : (struct str){0};
}

/* PATH of a process, as it was started. */
static struct str read_path_variable(pid_t thread, char *to, size_t size)
{
    char name[PROC_ENTRY_NAME];
    proc_entry_name(name, thread, "environ");
    AUTO_FD int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, to, size) : -1;
    struct str rest = str_n(to, (size_t)MAX(n, 0)), one;
    while (rest.n && str_cut(rest, '\0', &one, &rest))
        if (str_starts_with(one, STR("PATH=")))
            return str_skip(one, strlen("PATH="));
    return STR("/usr/local/bin:/usr/bin:/bin");
}

static void look_at_missing_program(
    struct denied_calls *c, const struct listener_call *call, struct str name)
{
    char text[ENVIRON_MAX];
    struct str dir, rest = read_path_variable((pid_t)call->request->pid, text, sizeof(text));
    const struct denied_look look = {.plan = c->plan, .op = DENIED_EXEC, .path = c->path};
    while (rest.n && str_cut(rest, ':', &dir, &rest)) {
        int n = snprintf(c->path, PATH_MAX, STR_FMT "/" STR_FMT, STR_ARG(dir), STR_ARG(name));
        if (dir.n && dir.p[0] == '/' && n < PATH_MAX)
            look_at_path(c, call, &look, DENIED_EXEC);
    }
}

/* Many programs only look whether a file exists, which is not observed. If one fails, its arguments
 * that are paths may explain it. */
static void look_at_arguments(struct denied_calls *c, const struct listener_call *call)
{
    char name[PROC_ENTRY_NAME];
    proc_entry_name(name, (pid_t)call->request->pid, "cmdline");
    AUTO_FD int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, c->words, sizeof(c->words) - 1) : -1;
    size_t at = 0, looked = 0;
    c->words[MAX(n, 0)] = '\0';
    for (; n > 0 && at < (size_t)n && looked < ARGUMENTS_MAX; at += strlen(c->words + at) + 1) {
        const char *path = at ? argument_path(c->words + at) : NULL;
        if (!path || !strchr(path, '/') || strlen(path) >= PATH_MAX)
            continue;
        look_at_argument(c, call, path);
        looked++;
    }
    if (n > 0 && (uint32_t)call->request->data.args[0] == NOT_FOUND) {
        struct str missing = find_missing_name(c->words, (size_t)n);
        if (missing.n)
            look_at_missing_program(c, call, missing);
    }
}

static void look_at_exit(struct denied_calls *c, const struct listener_call *call, uint32_t calls)
{
    struct denied_exit exit = {.thread = (pid_t)call->request->pid, .calls = calls};
    pid_t session;
    look_at_arguments(c, call);
    identify(exit.thread, &exit.pid, &session);
    denied_note_failure(c->denied, &exit);
}

static void look_at_refused(struct denied_calls *c, const struct listener_call *call)
{
    const char *name = syscall_rules_name((uint32_t)call->request->data.nr);
    bool socket = call->request->data.nr == NR_socket;
    /* The C library asks a name service for users and hosts, and writes to a log, if it can. */
    int type = (int)call->request->data.args[1];
    bool optional = socket && (type & SOCK_NONBLOCK || (type & SOCKET_TYPE_BITS) == SOCK_DGRAM);
    report(c, call,
        (struct denied_sight){.op = socket ? DENIED_CONNECT : DENIED_SYSCALL,
            .rule = socket ? DENIED_NO_SOCKETS : DENIED_CALL,
            .target = socket ? STR("a Unix socket") : str_z(name),
            .optional = optional});
}

void denied_calls_report_socket(const struct listener_call *call, const char *name)
{
    report(call->denied, call,
        (struct denied_sight){.op = DENIED_CONNECT,
            .rule = DENIED_FOREIGN,
            .target = name[0] ? str_z(name) : STR("an abstract socket")});
}

struct listener_reply denied_calls_handle(const struct listener_call *call)
{
    struct denied_calls *c = call->denied;
    const int number = call->request->data.nr;
    if (!c)
        return (struct listener_reply){LISTENER_PASS, 0};
    uint32_t calls = count_call(c, (pid_t)call->request->pid);
    switch (syscall_rules_observe((uint32_t)number)) {
    case SYSCALL_REPORTED:
        look_at_refused(c, call);
        return (struct listener_reply){LISTENER_REFUSE, EPERM};
    case SYSCALL_OBSERVED:
        break;
    default:
        return (struct listener_reply){LISTENER_REFUSE, EPERM};
    }
    if (refuse_work_tree(c, call))
        return (struct listener_reply){LISTENER_REFUSE, EROFS};
    if (number == NR_exit_group)
        look_at_exit(c, call, calls);
    else if (number == NR_connect)
        look_at_connect(c, call);
    else if (number == NR_seccomp)
        report(c, call,
            (struct denied_sight){.op = DENIED_SYSCALL,
                .rule = call->connector ? DENIED_CONNECTS : DENIED_ONE_LISTENER,
                .target = STR("seccomp")});
    else
        (void)look_at_paths(c, call);
    const bool carried = number == NR_connect && call->connector;
    return (struct listener_reply){carried ? LISTENER_PASS : LISTENER_CONTINUE, 0};
}
