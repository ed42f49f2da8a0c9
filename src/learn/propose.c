/* Proposals for policies. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/propose.h"

#include "base/utf8.h"
#include "job/helpers.h"
#include "job/program.h"
#include "learn/learn.h"
#include "path/exact.h"
#include "path/home.h"
#include "path/lexical.h"
#include "policy/load.h"
#include "policy/validate.h"

#include <stdlib.h>
#include <sys/stat.h>

enum {
    LOOK_ARENA = 1 << 20,
    SEARCH_PATH_MAX = 16 * 1024,
};

static struct policy_host propose_host(const struct propose *p)
{
    return (struct policy_host){.home = home_dir(p->arena)};
}

/* Programs ------------------------------------------------------------------------------------ */

/* A policy is text: other names are left out. */
static struct starter_paths propose_paths(struct starter_path *list, size_t n)
{
    struct starter_paths paths = {.p = list};
    for (size_t i = 0; i < n; i++)
        if (utf8_valid(list[i].path))
            list[paths.n++] = list[i];
    return paths;
}

/* Policy text --------------------------------------------------------------------------------- */

/* Whether a policy may name this directory at all. */
static bool may_name(const struct propose *p, struct str dir)
{
    const struct policy_host user = propose_host(p);
    struct policy policy = {.fs.allowed_read = {&dir, 1}};
    struct verdict v;
    policy_validate(&policy, &user, p->arena, &v);
    return v.denials.n == 0 && utf8_valid(dir);
}

static void propose_find_root(const struct propose *p, struct str cwd, struct starter *starter)
{
    if (may_name(p, cwd))
        starter->root = cwd;
    else
        notice_send(p->warnings,
            "the current directory is omitted: a policy cannot name '" STR_FMT "'", STR_ARG(cwd));
}

/* The generated policy must pass the check that its comments name. */
static bool check_starter(
    const struct propose *p, struct str text, const char *program, struct err *err)
{
    const struct policy_host user = propose_host(p);
    struct policy policy;
    struct verdict v;
    if (!policy_parse(text, "new.yaml", p->arena, &policy, err))
        return false;
    policy_validate(&policy, &user, p->arena, &v);
    if (program)
        policy_validate_command(&v, &(struct policy_command){.path = program});
    return verdict_ok(&v, err);
}

bool propose_policy(
    const struct propose *p, const char *name, struct str cwd, struct buf *text, struct err *err)
{
    struct starter starter = {0};
    struct helpers helpers;
    struct str program = {0};
    if (name) {
        if (!program_find(p->arena, str_z(name), cwd, &program, err))
            return false;
        helpers_find(&(struct helpers_input){p->arena, program, cwd, p->warnings}, &helpers);
        starter.exec = propose_paths(helpers.exec, helpers.n_exec);
        starter.read = propose_paths(helpers.read, helpers.n_read);
        starter.shell = helpers.shell;
        starter.developer = helpers.developer;
    }
    propose_find_root(p, cwd, &starter);
    starter_write(text, &starter);
    return check_starter(p, buf_str(text), program.p, err);
}

/* Learning ------------------------------------------------------------------------------------ */

/* Callback of learn_host: the type of a path, and whether a policy may name it. */
static struct learn_look propose_inspect_path(void *arg, struct str path, enum blocked_use use)
{
    const struct propose *p = arg;
    const struct policy_host user = propose_host(p);
    AUTO_ARENA struct arena scratch = ARENA_INIT(LOOK_ARENA);
    struct policy policy = {.fs_write_unsafe_ack = true};
    struct str_list list = {&path, 1};
    struct learn_look found = {.type = LEARN_GONE};
    struct verdict v;
    struct stat st;
    if (stat(path.p, &st) != 0)
        return found;
    found.type = S_ISDIR(st.st_mode) ? LEARN_DIR : LEARN_FILE;
    if (use == BLOCKED_WRITE)
        policy.fs.allowed_write = list;
    else
        policy.fs.allowed_read = list;
    policy_validate(&policy, &user, &scratch, &v);
    if (v.denials.n)
        found.why_not = arena_strdup(p->arena, str_z(v.denials.p[0].reason));
    return found;
}

static struct str peers_text(const struct propose *p, const struct learn *l)
{
    AUTO_BUF struct buf b = BUF_INIT(LEARN_PEERS_MAX * 80);
    if (!l->network)
        return (struct str){0};
    for (size_t i = 0; i < l->n_peers; i++) {
        buf_add_z(&b, i ? ", " : "");
        buf_add_str(&b, l->peers[i]);
    }
    if (l->n_peers == LEARN_PEERS_MAX)
        buf_add_z(&b, ", ...");
    return arena_str(p->arena, buf_str(&b));
}

static void warn_end(const struct propose *p, const struct learn *l, const struct trace_end *end)
{
    static const char lack[] = "the policy may be incomplete";
    if (end->interrupted)
        notice_send(p->warnings, "interrupted by signal %d (%s): %s", end->interrupted,
            strsignal(end->interrupted), lack);
    else if (end->signal)
        notice_send(p->warnings, "the command was killed by signal %d (%s): %s", end->signal,
            strsignal(end->signal), lack);
    else if (end->exit_code)
        notice_send(
            p->warnings, "the command failed with exit status %d: %s", end->exit_code, lack);
    if (end->left)
        notice_send(p->warnings, "processes that the command left running were killed");
    if (end->unseen)
        notice_send(p->warnings,
            "some actions of the command could not be analysed and are missing from the "
            "policy");
    if (l->full)
        notice_send(p->warnings,
            "the command used more than %d different paths: the others are missing from the "
            "policy",
            LEARN_PATHS_MAX);
}

static json_t *propose_paths_json(struct str first, const struct starter_paths *list)
{
    json_t *paths = json_array();
    if (first.p)
        json_push(paths, json_text(first));
    for (size_t i = 0; i < list->n; i++)
        json_push(paths, json_text(list->p[i].path));
    return paths;
}

static json_t *refused_json(const struct starter_paths *list)
{
    json_t *refused = json_array();
    for (size_t i = 0; i < list->n; i++) {
        json_t *object = json_object();
        exact_put(object, "path", list->p[i].path);
        json_put(object, "reason", json_string(list->p[i].note));
        json_push(refused, object);
    }
    return refused;
}

static json_t *end_json(const struct trace_end *end)
{
    json_t *object = json_object();
    json_put(object, "success", json_boolean(end->exit_code == 0 && !end->interrupted));
    json_put(object, "exit_code", end->exit_code < 0 ? json_null() : json_integer(end->exit_code));
    json_put(object, "signal", end->signal ? json_integer(end->signal) : json_null());
    json_put(object, "terminated_by_harness", json_boolean(end->interrupted));
    return object;
}

static json_t *learned_json(
    const struct starter *starter, const struct learn *l, const struct trace_end *end)
{
    static const struct str none = {0};
    json_t *object = json_object();
    json_put(object, "read", propose_paths_json(starter->root, &starter->read));
    json_put(object, "write", propose_paths_json(none, &starter->write));
    json_put(object, "exec", propose_paths_json(none, &starter->exec));
    json_put(object, "made_and_run", propose_paths_json(none, &starter->made));
    json_put(object, "network", json_boolean(l->network));
    json_put(object, "unix_sockets", json_boolean(starter->unix_sockets));
    json_put(object, "refused", refused_json(&starter->refused));
    json_put(object, "complete", json_boolean(!l->full && !end->unseen && !end->interrupted));
    return object;
}

static bool holds_program(const struct starter_paths *programs, struct str dir)
{
    for (size_t i = 0; i < programs->n; i++) {
        struct str path = programs->p[i].path;
        if (lexical_is_below(dir, path) && str_find(lexical_rest(dir, path), '/') < 0)
            return true;
    }
    return false;
}

/* Directories of PATH in which the command found programs, then the default ones. */
static struct str propose_search_path(const struct propose *p, const struct starter_paths *programs)
{
    AUTO_BUF struct buf b = BUF_INIT(SEARCH_PATH_MAX);
    struct str dir, rest = str_z(getenv("PATH")), usual = STR(STARTER_PATH), at;
    while (str_cut(rest, ':', &dir, &rest)) {
        bool known = false;
        for (struct str u = usual; !known && str_cut(u, ':', &at, &u);)
            known = str_eq(at, dir);
        if (known || dir.n == 0 || dir.p[0] != '/' || !holds_program(programs, dir))
            continue;
        buf_add_str(&b, dir);
        buf_add_byte(&b, ':');
    }
    buf_add_str(&b, usual);
    return buf_ok(&b) && utf8_valid(buf_str(&b)) ? arena_str(p->arena, buf_str(&b)) : usual;
}

/* Converts what was learned to a policy. */
static void fill_starter(const struct propose *p, const struct learn *l, struct starter *starter)
{
    struct learned learned;
    const struct learn_host asked = {
        .root = starter->root, .look = propose_inspect_path, .arg = (void *)(uintptr_t)p};
    learn_sum(l, &asked, &learned);
    starter->read = learned.read;
    starter->write = learned.write;
    starter->exec = learned.exec;
    starter->made = learned.made;
    starter->refused = learned.refused;
    starter->unix_sockets = learned.unix_sockets;
    starter->tmp = learned.tmp;
    starter->peers = peers_text(p, l);
    starter->search_path = propose_search_path(p, &learned.exec);
}

/* Whether the command is a shell or a shell script. */
static bool wants_shell(const struct propose *p, struct str program)
{
    struct helpers helpers;
    helpers_find(&(struct helpers_input){p->arena, program, STR("/"), p->warnings}, &helpers);
    return helpers.shell;
}

static bool write_learned(const struct propose *p, struct str program,
    const struct starter *starter, struct buf *text, struct err *err)
{
    AUTO_ERR struct err denied = {0};
    starter_write(text, starter);
    if (!buf_ok(text))
        return err_set(err, E_IO, "the policy would be larger than %d bytes", PROPOSE_MAX);
    if (!check_starter(p, buf_str(text), program.p, &denied))
        notice_send(p->warnings, "this policy does not yet allow the command: %s", denied.message);
    return true;
}

bool propose_learned(const struct propose *p, const struct propose_command *command,
    struct proposal *ret, struct err *err)
{
    struct starter starter = {.write_ack = command->write_ack};
    struct str program;
    struct learn l;
    if (!program_find(p->arena, str_z(command->argv[0]), command->cwd, &program, err))
        return false;
    propose_find_root(p, command->cwd, &starter);
    notice_send(p->warnings, "'" STR_FMT "' runs UNCONFINED, to learn which files it uses",
        STR_ARG(program));
    learn_init(&l, p->arena);
    if (!trace_run(
            &(struct trace_command){program.p, command->argv}, learn_add, &l, &ret->end, err))
        return false;
    warn_end(p, &l, &ret->end);
    fill_starter(p, &l, &starter);
    starter.shell = wants_shell(p, program);
    if (!write_learned(p, program, &starter, &ret->text, err))
        return false;
    ret->learned = learned_json(&starter, &l, &ret->end);
    ret->exit_status = end_json(&ret->end);
    return true;
}

void proposal_done(struct proposal *x)
{
    buf_done(&x->text);
    json_decref(x->learned);
    json_decref(x->exit_status);
}
