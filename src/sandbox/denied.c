/* The list of denials: merging, bounds, order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/denied.h"

#include "base/utf8.h"
#include "path/exact.h"
#include "sandbox/denied_fix.h"

#include <pthread.h>

enum {
    /* Observed calls between a denial and the end of its process: a program that gives up prints a
     * message and little else. Optional files are to blame only if it did so at once. */
    CALLS_TO_FAILURE = 48,
    CALLS_TO_FAILURE_OPTIONAL = 12,
    CALLS_TO_FAILURE_SOCKET = 1, /* the C library tries one for its name service */
    FAILURES_MAX = 16,           /* processes that failed, and are remembered */
};

struct denied_entry {
    enum denied_op op;
    enum denied_rule rule;
    bool own, optional, entry, failed;
    pid_t pid, thread, session;
    uint32_t calls, count;
    uint64_t first, order; /* of the first and the last time */
    uint16_t n_target, n_program, n_command, n_needs;
    char target[DENIED_TARGET_MAX], program[DENIED_PROGRAM_MAX], command[DENIED_COMMAND_MAX],
        needs[DENIED_NEEDS_MAX];
};

struct denied {
    pthread_mutex_t lock;
    const char *gap;
    uint64_t order;
    struct {
        pid_t pid;
        uint64_t order;
    } failures[FAILURES_MAX]; /* the last ones, in a ring */
    size_t n_failures;
    size_t n;
    struct denied_entry entries[DENIED_MAX]; /* untouched pages cost nothing */
};

const char *denied_op_name(enum denied_op op)
{
    static const char *const names[] = {"read", "write", "exec", "connect", "host", "syscall"};
    return names[op];
}

struct denied *denied_new(void)
{
    struct denied *d = calloc(1, sizeof(*d));
    BUG_ON(!d || pthread_mutex_init(&d->lock, NULL) != 0);
    return d;
}

void denied_free(struct denied *d)
{
    if (!d)
        return;
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* Collecting ---------------------------------------------------------------------------------- */

static struct denied_entry *denied_find(struct denied *d, const struct denied_sight *s)
{
    struct str target = str_head(s->target, DENIED_TARGET_MAX);
    for (size_t i = 0; i < d->n; i++) {
        struct denied_entry *e = &d->entries[i];
        if (e->op == s->op && e->rule == s->rule && e->session == s->session &&
            str_eq(str_n(e->target, e->n_target), target))
            return e;
    }
    return NULL;
}

/* A free place, or that of the oldest entry that nothing failed after. */
static struct denied_entry *denied_place(struct denied *d)
{
    struct denied_entry *oldest = NULL;
    if (d->n < DENIED_MAX)
        return &d->entries[d->n++];
    for (size_t i = 0; i < d->n; i++) {
        struct denied_entry *e = &d->entries[i];
        if (!e->failed && (!oldest || e->order < oldest->order))
            oldest = e;
    }
    return oldest;
}

static uint16_t denied_copy(char *to, size_t size, struct str from)
{
    size_t n = MIN(size, from.n);
    if (n)
        memcpy(to, from.p, n);
    return (uint16_t)n;
}

void denied_add(struct denied *d, const struct denied_sight *s)
{
    pthread_mutex_lock(&d->lock);
    struct denied_entry *e = denied_find(d, s);
    const bool counts = !e || !s->implied;
    if (!e && (e = denied_place(d))) {
        e->op = s->op;
        e->rule = s->rule;
        e->session = s->session;
        e->own = s->own;
        e->optional = s->optional;
        e->entry = e->failed = false;
        e->first = d->order + 1;
        e->count = 0;
        e->n_target = denied_copy(e->target, sizeof(e->target), s->target);
        e->n_program = denied_copy(e->program, sizeof(e->program), s->program);
        e->n_command = denied_copy(e->command, sizeof(e->command), s->command);
        e->n_needs = denied_copy(e->needs, sizeof(e->needs), s->needs);
    }
    if (e) {
        e->optional &= s->optional;
        e->entry |= s->entry;
        e->count += counts && e->count < UINT32_MAX;
        e->pid = s->pid;
        e->thread = s->thread;
        e->calls = s->calls;
        e->order = ++d->order;
    }
    pthread_mutex_unlock(&d->lock);
}

/* Whether another process has failed since this denial, as a test does that npm runs while it looks
 * for updates. */
static bool denied_has_rival(
    const struct denied *d, const struct denied_entry *e, const struct denied_exit *exit)
{
    for (size_t i = 0; i < MIN(d->n_failures, (size_t)FAILURES_MAX); i++)
        if (d->failures[i].order >= e->first && d->failures[i].pid != exit->pid)
            return true;
    return false;
}

/* The distance is known within a thread. Name servers are asked by other threads. */
static bool denied_precedes(const struct denied_entry *e, const struct denied_exit *exit)
{
    uint32_t most = CALLS_TO_FAILURE;
    if (e->rule == DENIED_NO_SOCKETS && e->optional)
        most = CALLS_TO_FAILURE_SOCKET;
    else if (e->optional && e->rule != DENIED_NO_NAMES)
        most = CALLS_TO_FAILURE_OPTIONAL;
    if (e->pid != exit->pid)
        return false;
    return e->thread == exit->thread ? exit->calls - e->calls <= most
                                     : !e->optional || e->rule == DENIED_NO_NAMES;
}

/* How much speaks against a denial being the cause of a failure. */
enum denied_doubt {
    DOUBT_NONE,
    DOUBT_OPTIONAL,
    DOUBT_NAMES, /* programs look for updates and the like, and do without */
    DOUBTS,
};

static enum denied_doubt denied_doubt_of(const struct denied_entry *e)
{
    if (e->rule == DENIED_NO_NAMES)
        return DOUBT_NAMES;
    return e->optional ? DOUBT_OPTIONAL : DOUBT_NONE;
}

static bool denied_blame(struct denied *d, const struct denied_exit *exit, enum denied_doubt doubt)
{
    bool any = false;
    for (size_t i = 0; i < d->n; i++) {
        struct denied_entry *e = &d->entries[i];
        if (denied_doubt_of(e) == doubt && denied_precedes(e, exit) &&
            !(doubt == DOUBT_NAMES && denied_has_rival(d, e, exit)))
            e->failed = any = true;
    }
    return any;
}

/* Those in doubt are to blame only if nothing else is. */
void denied_note_failure(struct denied *d, const struct denied_exit *exit)
{
    bool blamed = false;
    pthread_mutex_lock(&d->lock);
    for (int doubt = 0; doubt < DOUBTS && !blamed; doubt++)
        blamed = denied_blame(d, exit, (enum denied_doubt)doubt);
    size_t i = d->n_failures++ % FAILURES_MAX;
    d->failures[i].pid = exit->pid;
    d->failures[i].order = ++d->order;
    pthread_mutex_unlock(&d->lock);
}

void denied_set_gap(struct denied *d, const char *reason)
{
    pthread_mutex_lock(&d->lock);
    d->gap = reason;
    pthread_mutex_unlock(&d->lock);
}

const char *denied_gap(struct denied *d)
{
    if (!d)
        return NULL;
    pthread_mutex_lock(&d->lock);
    const char *gap = d->gap;
    pthread_mutex_unlock(&d->lock);
    return gap;
}

/* Order --------------------------------------------------------------------------------------- */

/* Programs, then writes: these are rarely tried on the chance that they work. */
static int denied_weight(const struct denied_entry *e)
{
    static const int weights[] = {[DENIED_READ] = 1,
        [DENIED_WRITE] = 3,
        [DENIED_EXEC] = 4,
        [DENIED_CONNECT] = 2,
        [DENIED_HOST] = 2,
        [DENIED_SYSCALL] = 2};
    return (e->failed ? 16 : 0) + (e->own || e->optional ? 0 : 8) + weights[e->op];
}

static int denied_order(const void *a, const void *b)
{
    const struct denied_entry *x = *(const struct denied_entry *const *)a;
    const struct denied_entry *y = *(const struct denied_entry *const *)b;
    int by = denied_weight(y) - denied_weight(x);
    return by ? by : (x->order < y->order) - (x->order > y->order);
}

/* A program that could not be started is not also a file that could not be read. */
static bool denied_is_started(const struct denied *d, const struct denied_entry *e)
{
    for (size_t i = 0; e->op == DENIED_READ && i < d->n; i++) {
        const struct denied_entry *other = &d->entries[i];
        if (other->op == DENIED_EXEC && other->session == e->session &&
            str_eq(str_n(other->target, other->n_target), str_n(e->target, e->n_target)))
            return true;
    }
    return false;
}

static bool denied_is_asked(
    const struct denied *d, const struct denied_entry *e, const struct denied_style *style)
{
    if ((style->session && e->session != style->session) ||
        (style->kept_only && e->rule != DENIED_KEPT) || denied_is_started(d, e))
        return false;
    return e->failed || (!e->optional && !style->failed_only);
}

/* As JSON ------------------------------------------------------------------------------------- */

static const char *const denied_rules[] = {
    [DENIED_NOT_SHOWN] = "not in the policy",
    [DENIED_HIDDEN] = "hidden from the sandbox",
    [DENIED_READ_ONLY] = "read-only",
    [DENIED_KEPT] = "protected: read-only in a writable directory",
    [DENIED_NOT_LISTED] = "not one of the allowed programs",
    [DENIED_NO_NETWORK] = "no network",
    [DENIED_NO_NAMES] = "host names cannot be resolved: no network",
    [DENIED_PROXIED] = "not through the proxy, the only way out; --enable-network instead of "
                       "--allow-host opens the network",
    [DENIED_NO_SOCKETS] = "Unix sockets of this kind are not allowed",
    [DENIED_FOREIGN] = "no process of the sandbox listens on it",
    [DENIED_CALL] = "refused by the system call filter",
    [DENIED_ONE_LISTENER] = "denials are collected by the only listener that the kernel allows",
    [DENIED_CONNECTS] = "connections of this sandbox are made by the only listener that the kernel "
                        "allows; a policy with allow_unix_sockets has none",
};

static json_t *denied_entry_json(const struct denied_entry *e, const struct denied_style *style)
{
    AUTO_BUF struct buf fix = BUF_INIT(16 * DENIED_TARGET_MAX);
    AUTO_BUF struct buf why = BUF_INIT(1 << 10);
    AUTO_BUF struct buf rule = BUF_INIT(4 << 10);
    const struct denied_act act = {.op = e->op,
        .rule = e->rule,
        .own = e->own,
        .entry = e->entry,
        .target = str_n(e->target, e->n_target),
        .program = str_n(e->program, e->n_program),
        .command = str_n(e->command, e->n_command),
        .needs = str_n(e->needs, e->n_needs)};
    json_t *object = json_object();
    denied_fix_add(&fix, &why, &act, style);
    buf_add_z(&rule, denied_rules[e->rule]);
    if (e->own)
        buf_add_z(&rule, "; outside, this user may not do it either");
    if (why.n)
        buf_printf(&rule, "; " STR_FMT, STR_ARG(buf_str(&why)));
    json_put(object, "op", json_string(denied_op_name(e->op)));
    exact_put(object, "target", act.target);
    exact_put(object, "program", act.program);
    json_put(object, "rule", json_text(buf_str(&rule)));
    json_put(object, "fix", json_text(buf_str(&fix)));
    json_put(object, "count", json_integer(e->count));
    return object;
}

static size_t denied_sort(struct denied *d, const struct denied_style *style,
    const struct denied_entry *sorted[DENIED_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (denied_is_asked(d, &d->entries[i], style))
            sorted[n++] = &d->entries[i];
    qsort(sorted, n, sizeof(*sorted), denied_order);
    return n;
}

json_t *denied_json(struct denied *d, const struct denied_style *style)
{
    const struct denied_entry *sorted[DENIED_MAX];
    struct denied_style others = *style;
    json_t *list = json_array();
    if (!d)
        return list;
    others.failed_only = false;
    pthread_mutex_lock(&d->lock);
    size_t n = denied_sort(d, style, sorted);
    if (n == 0 && style->or_others)
        n = denied_sort(d, &others, sorted);
    for (size_t i = 0; i < n; i++)
        json_push(list, denied_entry_json(sorted[i], style));
    pthread_mutex_unlock(&d->lock);
    return list;
}

json_t *denied_take(struct denied *d, const struct denied_style *style)
{
    json_t *list = denied_json(d, style);
    if (!d)
        return list;
    pthread_mutex_lock(&d->lock);
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (style->session && d->entries[i].session != style->session)
            d->entries[n++] = d->entries[i];
    d->n = n;
    pthread_mutex_unlock(&d->lock);
    return list;
}

/* For people ---------------------------------------------------------------------------------- */

static void denied_add_member(struct buf *b, const json_t *entry, const char *key)
{
    utf8_add_printable(b, str_z(json_string_value(json_object_get(entry, key))));
}

void denied_add_lines(struct buf *b, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list) && i < DENIED_LINES; i++) {
        const json_t *entry = json_array_get(list, i);
        const char *fix = json_string_value(json_object_get(entry, "fix"));
        buf_add_z(b, "denied: ");
        denied_add_member(b, entry, "op");
        buf_add_z(b, " ");
        denied_add_member(b, entry, "target");
        buf_add_z(b, " (");
        denied_add_member(b, entry, "rule");
        buf_add_z(b, ")");
        if (fix && fix[0]) {
            bool ours = fix[0] == '-' || strncmp(fix, DENIED_FIX_BOX, strlen(DENIED_FIX_BOX)) == 0;
            buf_add_z(b, ours ? ". Allow: " : ". Run it outside: ");
            denied_add_member(b, entry, "fix");
        }
        buf_add_z(b, "\n");
    }
}
