/* The list of denials: merging, bounds, order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/denied.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "path/exact.h"
#include "path/lexical.h"
#include "path/selfrun.h"
#include "policy/validate.h"

#include <pthread.h>

enum {
    COMMAND_WORDS = 16,
    /* Observed calls between a denial and the end of its process: a program that gives up prints a
     * message and little else. Optional files are to blame only if it did so at once. */
    CALLS_TO_FAILURE = 48,
    CALLS_TO_FAILURE_OPTIONAL = 12,
    CALLS_TO_FAILURE_SOCKET = 1, /* the C library tries one for its name service */
};

struct denied_entry {
    enum denied_op op;
    enum denied_rule rule;
    bool own, optional, failed;
    pid_t pid, thread, session;
    uint32_t calls, count;
    uint64_t order; /* of the last time */
    uint16_t n_target, n_program, n_command;
    char target[DENIED_TARGET_MAX], program[DENIED_PROGRAM_MAX], command[DENIED_COMMAND_MAX];
};

struct denied {
    pthread_mutex_t lock;
    const char *gap;
    uint64_t order;
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
        e->failed = false;
        e->count = 0;
        e->n_target = denied_copy(e->target, sizeof(e->target), s->target);
        e->n_program = denied_copy(e->program, sizeof(e->program), s->program);
        e->n_command = denied_copy(e->command, sizeof(e->command), s->command);
    }
    if (e) {
        e->optional &= s->optional;
        e->count += counts && e->count < UINT32_MAX;
        e->pid = s->pid;
        e->thread = s->thread;
        e->calls = s->calls;
        e->order = ++d->order;
    }
    pthread_mutex_unlock(&d->lock);
}

/* The distance is known within a thread. */
static bool denied_precedes(const struct denied_entry *e, const struct denied_exit *exit)
{
    uint32_t most = e->optional ? CALLS_TO_FAILURE_OPTIONAL : CALLS_TO_FAILURE;
    if (e->rule == DENIED_NO_SOCKETS && e->optional)
        most = CALLS_TO_FAILURE_SOCKET;
    if (e->pid != exit->pid)
        return false;
    return e->thread == exit->thread ? exit->calls - e->calls <= most : !e->optional;
}

static bool denied_blame(struct denied *d, const struct denied_exit *exit, bool optional)
{
    bool any = false;
    for (size_t i = 0; i < d->n; i++) {
        struct denied_entry *e = &d->entries[i];
        if (e->optional == optional && denied_precedes(e, exit))
            e->failed = any = true;
    }
    return any;
}

/* Optional files are to blame only if nothing else is. */
void denied_note_failure(struct denied *d, const struct denied_exit *exit)
{
    pthread_mutex_lock(&d->lock);
    if (!denied_blame(d, exit, false))
        (void)denied_blame(d, exit, true);
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

static bool denied_is_asked(const struct denied_entry *e, const struct denied_style *style)
{
    if ((style->session && e->session != style->session) ||
        (style->kept_only && e->rule != DENIED_KEPT))
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
    [DENIED_NO_SOCKETS] = "Unix sockets of this kind are not allowed",
    [DENIED_FOREIGN] = "no process of the sandbox listens on it",
    [DENIED_CALL] = "refused by the system call filter",
    [DENIED_ONE_LISTENER] = "denials are collected by the only listener that the kernel allows",
};

/* Whether a policy may name this path for this purpose. */
static bool may_be_named(enum denied_op op, struct str path, const char *home)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(VERDICT_ARENA);
    const struct policy_host host = {.home = home};
    const struct str_list one = {&path, 1};
    struct policy policy = {.fs_write_unsafe_ack = true};
    struct verdict v;
    if (op == DENIED_READ)
        policy.fs.allowed_read = one;
    else if (op == DENIED_WRITE)
        policy.fs.allowed_write = one;
    else
        policy.exec.allowed_executables = one;
    policy_validate(&policy, &host, &arena, &v);
    return v.denials.n == 0;
}

/* Adds a word for a shell. */
static void denied_add_word(struct buf *b, struct str word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@%+=:,-";
    size_t same = 0;
    while (same < word.n && memchr(plain, word.p[same], sizeof(plain) - 1))
        same++;
    if (same == word.n) {
        buf_add_str(b, word);
        return;
    }
    buf_add_byte(b, '\'');
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '\'')
            buf_add_z(b, "'\\'");
        buf_add_byte(b, word.p[i]);
    }
    buf_add_byte(b, '\'');
}

/* A flag with the path, or for a new file with its directory. */
static void add_path_fix(struct buf *b, const struct denied_entry *e, const char *home)
{
    static const char *const flags[] = {
        [DENIED_READ] = "--read ", [DENIED_WRITE] = "--write ", [DENIED_EXEC] = "--allow-exec "};
    char text[DENIED_TARGET_MAX + 1];
    struct str path = str_n(text, e->n_target);
    if (e->n_target == DENIED_TARGET_MAX || !utf8_printable(str_n(e->target, e->n_target)))
        return;
    memcpy(text, e->target, e->n_target);
    text[path.n] = '\0';
    if (e->op == DENIED_WRITE && access(text, F_OK) != 0) {
        path.n = (size_t)MAX(str_find_last(path, '/'), 0);
        text[path.n] = '\0';
    }
    if (path.n == 0 || !may_be_named(e->op, path, home))
        return;
    buf_add_z(b, flags[e->op]);
    denied_add_word(b, path);
}

/* A process chooses its arguments, and a user may repeat what is printed here: only commands that
 * name a place for git, without options that could run a program. */
static bool denied_is_harmless(const struct str *words, size_t n)
{
    static const char *const commands[] = {"remote", "push", "submodule", "worktree", "branch"};
    static const char *const options[] = {
        "-u", "--set-upstream", "-b", "--branch", "--name", "-t", "--track", "-m"};
    bool known = false;
    for (size_t i = 0; n > 1 && i < ARRAY_LEN(commands); i++)
        known |= str_is(words[1], commands[i]);
    for (size_t i = 2; known && i < n; i++) {
        bool plain = words[i].n && words[i].p[0] != '-';
        for (size_t k = 0; !plain && k < ARRAY_LEN(options); k++)
            plain = str_is(words[i], options[k]);
        known = plain && utf8_printable(words[i]) && !strstr(words[i].p, "::");
    }
    return known;
}

/* The command for the user: git's settings are changed outside. */
static void add_command_fix(struct buf *b, const struct denied_entry *e)
{
    struct str rest = str_n(e->command, e->n_command), words[COMMAND_WORDS];
    size_t n = 0;
    if (!str_ends_with(str_n(e->program, e->n_program), STR("/git")) || !rest.n ||
        rest.p[rest.n - 1] != '\0')
        return;
    rest.n--;
    while (n < COMMAND_WORDS && str_cut(rest, '\0', &words[n], &rest))
        n++;
    if (n == COMMAND_WORDS || !denied_is_harmless(words, n))
        return;
    buf_add_z(b, "git");
    for (size_t i = 1; i < n; i++) {
        buf_add_byte(b, ' ');
        denied_add_word(b, words[i]);
    }
}

/* Files that take effect without being started are protected unless the user names them. */
static bool front_can_name(const struct denied_entry *e, const struct denied_style *style)
{
    struct str path = str_n(e->target, e->n_target);
    return style->front == DENIED_FOR_TOOL && lexical_is_below(style->root, path) &&
           selfrun_guards(lexical_rest(style->root, path)).reason;
}

static void denied_add_fix(
    struct buf *b, const struct denied_entry *e, const struct denied_style *style)
{
    if (e->rule == DENIED_KEPT && style->front != DENIED_FOR_BOX) {
        add_command_fix(b, e);
        if (!b->n && front_can_name(e, style))
            add_path_fix(b, e, style->home);
        return;
    }
    if (style->front == DENIED_FOR_BOX) {
        if (e->rule == DENIED_NO_NETWORK)
            buf_add_z(b, "--allow-host HOST");
        return;
    }
    if (e->rule == DENIED_NO_NETWORK)
        buf_add_z(b, style->front == DENIED_FOR_TOOL ? "--allow-host HOST"
                                                     : "--enable-network --ack-unsafe-network");
    else if (e->rule == DENIED_ONE_LISTENER)
        buf_add_z(b, "--no-denials");
    else if (e->op <= DENIED_EXEC && !e->own && e->rule != DENIED_HIDDEN)
        add_path_fix(b, e, style->home);
}

static json_t *denied_entry_json(const struct denied_entry *e, const struct denied_style *style)
{
    AUTO_BUF struct buf fix = BUF_INIT(8 * DENIED_TARGET_MAX);
    AUTO_BUF struct buf rule = BUF_INIT(256);
    json_t *object = json_object();
    buf_add_z(&rule, denied_rules[e->rule]);
    if (e->own)
        buf_add_z(&rule, "; outside, this user may not do it either");
    denied_add_fix(&fix, e, style);
    json_put(object, "op", json_string(denied_op_name(e->op)));
    exact_put(object, "target", str_n(e->target, e->n_target));
    exact_put(object, "program", str_n(e->program, e->n_program));
    json_put(object, "rule", json_text(buf_str(&rule)));
    json_put(object, "fix", json_text(buf_str(&fix)));
    json_put(object, "count", json_integer(e->count));
    return object;
}

json_t *denied_json(struct denied *d, const struct denied_style *style)
{
    const struct denied_entry *sorted[DENIED_MAX];
    json_t *list = json_array();
    size_t n = 0;
    if (!d)
        return list;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->n; i++)
        if (denied_is_asked(&d->entries[i], style))
            sorted[n++] = &d->entries[i];
    qsort(sorted, n, sizeof(*sorted), denied_order);
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
            buf_add_z(b, fix[0] == '-' ? ". Allow: " : ". Run it outside: ");
            denied_add_member(b, entry, "fix");
        }
        buf_add_z(b, "\n");
    }
}
