/* Turns system calls into events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/learn_observe.h"

#include "base/buf.h"
#include "learn/tracee.h"
#include "path/script_line.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    FD_NAME_MAX = 32,
};

void observed_done(struct observed *o)
{
    arena_done(&o->arena);
    *o = (struct observed){0};
}

/* Reports the spelling only if it differs. */
static void observe_report(struct learn_observer *w, struct trace_event event)
{
    if (!event.path.p || event.path.n == 0)
        return;
    if (event.given.p && str_eq(event.given, event.path))
        event.given = (struct str){0};
    w->seen(w->arg, &event);
}

/* Call entry ---------------------------------------------------------------------------------- */

static bool observe_read_name(
    struct observed *o, pid_t tid, size_t i, const uint64_t *args, struct tracee_name *ret_name)
{
    const struct learn_call *call = o->call;
    if (call->at[i].path == CALL_NONE)
        return false;
    *ret_name = (struct tracee_name){.tid = tid, .dir = AT_FDCWD};
    if (call->at[i].dir != CALL_NONE)
        ret_name->dir = (int)args[call->at[i].dir];
    uint64_t address = args[call->at[i].path];
    bool found = tracee_string(tid, address, &o->arena, &ret_name->text);
    o->lost |= !found && address; /* a program whose memory we can't read */
    return found;
}

static bool is_tmpfile(unsigned flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE;
}

static unsigned open_flags(struct observed *o, pid_t tid, const uint64_t *args)
{
    struct open_how how = {0};
    switch (o->call->kind) {
    case CALL_CREAT:
        return O_CREAT | O_WRONLY | O_TRUNC;
    case CALL_OPENAT2:
        tracee_read(tid, args[o->call->flags], &how, sizeof(how.flags));
        return (unsigned)how.flags;
    default:
        return (unsigned)args[o->call->flags];
    }
}

static bool enter_open(struct observed *o, pid_t tid, const uint64_t *args)
{
    struct tracee_name name;
    o->flags = open_flags(o, tid, args);
    if ((o->flags & O_PATH) || !observe_read_name(o, tid, 0, args, &name))
        return false;
    o->names[0].given = tracee_given(&name, &o->arena);
    if (o->flags & O_CREAT)
        o->names[0].existed = tracee_follow(&name, &o->arena).p != NULL;
    o->n_names = 1;
    return true;
}

static bool enter_exec(struct observed *o, pid_t tid, const uint64_t *args)
{
    struct tracee_name name;
    if (observe_read_name(o, tid, 0, args, &name)) {
        o->names[0].given = name.text.n ? tracee_given(&name, &o->arena) : (struct str){0};
        o->names[0].path = tracee_follow(&name, &o->arena);
        o->n_names = 1;
    }
    return false; /* success is reported as an exec event */
}

static bool enter_entry(struct observed *o, pid_t tid, const uint64_t *args)
{
    struct tracee_name name;
    for (size_t i = 0; i < CALL_PATHS && observe_read_name(o, tid, i, args, &name); i++) {
        struct observe_name *n = &o->names[o->n_names++];
        n->path = tracee_entry(&name, &o->arena, &n->existed);
        n->given = tracee_given(&name, &o->arena);
    }
    return o->n_names > 0;
}

static bool enter_change(struct observed *o, pid_t tid, const uint64_t *args)
{
    struct tracee_name name;
    o->flags = o->call->flags == CALL_NONE ? 0 : (unsigned)args[o->call->flags];
    if (o->flags & AT_SYMLINK_NOFOLLOW)
        return enter_entry(o, tid, args);
    /* Without a name it refers to a descriptor, whose opening was observed. */
    if (!observe_read_name(o, tid, 0, args, &name) || name.text.n == 0)
        return false;
    o->names[0] = (struct observe_name){
        .path = tracee_follow(&name, &o->arena),
        .given = tracee_given(&name, &o->arena),
        .existed = true,
    };
    o->n_names = 1;
    return true;
}

static bool is_loopback6(const struct in6_addr *address)
{
    return IN6_IS_ADDR_LOOPBACK(address) ||
           (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

bool observe_address(
    const void *address, size_t n, struct arena *a, struct str *ret_text, bool *ret_loopback)
{
    char text[INET6_ADDRSTRLEN];
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    sa_family_t family = AF_UNSPEC;
    if (n >= sizeof(family))
        memcpy(&family, address, sizeof(family));
    if (family == AF_INET && n >= sizeof(v4)) {
        memcpy(&v4, address, sizeof(v4));
        inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
        *ret_text = str_z(arena_printf(a, "%s:%u", text, ntohs(v4.sin_port)));
        *ret_loopback = ntohl(v4.sin_addr.s_addr) >> 24 == 127;
        return true;
    }
    /* The last field may be left out. */
    memset(&v6, 0, sizeof(v6));
    if (family != AF_INET6 || n < offsetof(struct sockaddr_in6, sin6_scope_id))
        return false;
    memcpy(&v6, address, MIN(n, sizeof(v6)));
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
    *ret_text = str_z(arena_printf(a, "[%s]:%u", text, ntohs(v6.sin6_port)));
    *ret_loopback = is_loopback6(&v6.sin6_addr);
    return true;
}

/* Handles a Unix socket's name: a path, or "@" and an abstract name. */
static bool enter_unix(struct observed *o, pid_t tid, struct str raw)
{
    struct observe_name *n = &o->names[0];
    if (raw.n == 0)
        return false;
    o->n_names = 1;
    if (raw.p[0] == '\0') {
        n->existed = true;
        AUTO_BUF struct buf name = BUF_INIT(2 * sizeof(struct sockaddr_un));
        buf_add_byte(&name, '@');
        buf_add_str(&name, str_skip(raw, 1));
        n->path = arena_str(&o->arena, buf_str(&name));
        return true;
    }
    ptrdiff_t end = str_find(raw, '\0');
    struct tracee_name name = {.tid = tid, .dir = AT_FDCWD};
    name.text = arena_str(&o->arena, end < 0 ? raw : str_head(raw, (size_t)end));
    n->given = tracee_given(&name, &o->arena);
    if (o->call->kind == CALL_BIND)
        n->path = tracee_entry(&name, &o->arena, &n->existed);
    else
        n->path = tracee_follow(&name, &o->arena);
    return true;
}

static bool enter_address(struct observed *o, pid_t tid, const uint64_t *args)
{
    struct sockaddr_storage raw;
    int at = o->call->at[0].path;
    size_t n = (size_t)MIN(args[at + 1], sizeof(raw));
    if (args[at] == 0 || (n = tracee_read(tid, args[at], &raw, n)) < sizeof(raw.ss_family))
        return false;
    if (raw.ss_family == AF_UNIX)
        return enter_unix(
            o, tid, str_skip(str_n((const char *)&raw, n), offsetof(struct sockaddr_un, sun_path)));
    o->network = observe_address(&raw, n, &o->arena, &o->names[0].path, &o->loopback);
    o->n_names = o->network;
    return o->network;
}

static bool observe_enter(struct observed *o, pid_t tid, const uint64_t *args)
{
    switch (o->call->kind) {
    case CALL_OPEN:
    case CALL_OPENAT2:
    case CALL_CREAT:
        return enter_open(o, tid, args);
    case CALL_EXEC:
        return enter_exec(o, tid, args);
    case CALL_ENTRY:
        return enter_entry(o, tid, args);
    case CALL_CHANGE:
        return enter_change(o, tid, args);
    case CALL_CONNECT:
    case CALL_BIND:
    case CALL_SEND:
        return enter_address(o, tid, args);
    }
    return false;
}

bool observe_entry(struct learn_observer *w, struct observed *o, pid_t tid,
    const struct learn_call *call, const uint64_t args[OBSERVE_ARGS])
{
    observed_done(o);
    if (!call) {
        w->unseen = true;
        return false;
    }
    *o = (struct observed){.arena = ARENA_INIT(OBSERVE_ARENA), .call = call};
    return observe_enter(o, tid, args) || (o->lost && call->kind != CALL_EXEC);
}

/* Call exit ----------------------------------------------------------------------------------- */

static void leave_open(struct learn_observer *w, struct observed *o, pid_t tid, int64_t fd)
{
    if (o->n_names == 0)
        return;
    char link[FD_NAME_MAX];
    unsigned mode = o->flags & O_ACCMODE;
    snprintf(link, sizeof(link), "fd/%d", (int)fd);
    struct trace_event event = {
        .path = tracee_link(tid, link, &o->arena),
        .given = o->names[0].given,
        .made = is_tmpfile(o->flags) || ((o->flags & O_CREAT) && !o->names[0].existed),
    };
    if (!event.path.p)
        w->unseen = true;
    if (!event.path.p || event.path.p[0] != '/')
        return; /* a pipe or a socket: has no name */
    if (is_tmpfile(o->flags))
        event.given = (struct str){0};
    if (event.made) {
        event.kind = TRACE_ENTRY;
        observe_report(w, event);
    }
    if (mode != O_RDONLY || (o->flags & O_TRUNC)) {
        event.kind = TRACE_WRITE;
        observe_report(w, event);
    }
    if (mode != O_WRONLY) {
        event.kind = TRACE_READ;
        observe_report(w, event);
    }
}

static void observe_report_names(
    struct learn_observer *w, const struct observed *o, enum trace_kind kind)
{
    for (size_t i = 0; i < o->n_names; i++) {
        const struct observe_name *n = &o->names[i];
        if (!n->path.p)
            w->unseen = true;
        observe_report(w, (struct trace_event){
                              .kind = kind,
                              .path = n->path,
                              .given = n->given,
                              .made = !n->existed && kind == TRACE_ENTRY,
                              .loopback = o->loopback,
                          });
    }
}

static void observe_report_success(
    struct learn_observer *w, struct observed *o, pid_t tid, int64_t result)
{
    switch (o->call->kind) {
    case CALL_OPEN:
    case CALL_OPENAT2:
    case CALL_CREAT:
        leave_open(w, o, tid, result);
        break;
    case CALL_BIND:
        if (o->names[0].path.p && o->names[0].path.p[0] == '/')
            observe_report_names(w, o, TRACE_ENTRY);
        observe_report_names(w, o, TRACE_SOCKET);
        break;
    case CALL_CONNECT:
    case CALL_SEND:
        observe_report_names(w, o, TRACE_SOCKET);
        break;
    case CALL_CHANGE:
        observe_report_names(w, o, (o->flags & AT_SYMLINK_NOFOLLOW) ? TRACE_ENTRY : TRACE_WRITE);
        break;
    case CALL_ENTRY:
        observe_report_names(w, o, TRACE_ENTRY);
        break;
    case CALL_EXEC:
        break;
    }
}

void observe_exit(struct learn_observer *w, struct observed *o, pid_t tid, int64_t result)
{
    bool ok = result >= 0;
    w->unseen |= o->lost && ok;
    if (o->call && o->network && (ok || result != -EAFNOSUPPORT))
        observe_report_names(w, o, TRACE_NETWORK);
    else if (o->call && ok)
        observe_report_success(w, o, tid, result);
    observed_done(o);
}

/* Reports a script's interpreters: each may be a script itself. */
static void observe_report_interpreters(
    struct learn_observer *w, struct observed *o, pid_t pid, struct str script)
{
    struct script_line line;
    for (int i = 0; i < SCRIPT_DEPTH_MAX && script_read(script.p, &o->arena, &line); i++) {
        struct tracee_name name = {.tid = pid, .dir = AT_FDCWD, .text = line.interpreter};
        script = tracee_follow(&name, &o->arena);
        if (!script.p)
            return;
        observe_report(
            w, (struct trace_event){
                   .kind = TRACE_EXEC, .path = script, .given = tracee_given(&name, &o->arena)});
    }
}

void observe_exec(struct learn_observer *w, struct observed *o, pid_t pid)
{
    if (!o->call || o->call->kind != CALL_EXEC) {
        observed_done(o);
        o->arena = ARENA_INIT(OBSERVE_ARENA);
    }
    struct observe_name asked = o->names[0];
    struct str exe = tracee_link(pid, "exe", &o->arena);
    bool script = asked.path.p && exe.p && !str_eq(asked.path, exe);
    w->unseen |= !exe.p; /* a program that can be executed but not read */
    if (script || !asked.path.p)
        observe_report(w, (struct trace_event){.kind = TRACE_EXEC, .path = exe});
    observe_report(
        w, (struct trace_event){.kind = TRACE_EXEC, .path = asked.path, .given = asked.given});
    if (script)
        observe_report_interpreters(w, o, pid, asked.path);
    observed_done(o);
}
