/* Scenarios from recorded actions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/recorded.h"

#include "io/replace.h"
#include "path/lexical.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    DOCUMENT_MAX = 64 << 20,
};

/* File ---------------------------------------------------------------------------------------- */

static const char *recorded_dir(const struct recorded *r, const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? arena_strdup(r->p->arena, str_n(file, (size_t)(slash - file) + 1)) : ".";
}

/* Checked before anything runs, so that an unwritable file does not waste the recording. */
bool recorded_check(const struct recorded *r, struct err *err)
{
    const char *name = r->file;
    const char *dir = recorded_dir(r, name);
    if (access(dir, W_OK | X_OK) != 0)
        return err_errno(err, E_IO, errno, "cannot write to the directory '%s'", dir);
    if (!r->force && access(name, F_OK) == 0)
        return err_set(err, E_CONFLICT,
            "'%s' already exists: choose another name with -o, or use --force to replace it", name);
    return true;
}

static bool recorded_write(const struct recorded *r, struct str text, struct err *err)
{
    AUTO_FD int dir = open(recorded_dir(r, r->file), O_PATH | O_DIRECTORY | O_CLOEXEC);
    const struct replace_options o = {.dir = dir,
        .name = lexical_name(str_z(r->file)).p,
        .mode = 0666,
        .flags = r->force ? 0 : REPLACE_NEW};
    if (dir >= 0 && replace_file(&o, text))
        return true;
    if (errno == EEXIST)
        return err_set(
            err, E_CONFLICT, "'%s' was created in the meantime and is not replaced", r->file);
    return err_errno(err, E_IO, errno, "cannot write '%s'", r->file);
}

/* Scenario ------------------------------------------------------------------------------------ */

static bool has_own_policy(const struct recorded *r)
{
    const struct prepare_options *o = r->p->options;
    return o->policy || o->preset || o->sandbox || o->no_sandbox || o->network || o->read.n ||
           o->write.n || o->exec.n || o->hosts.n;
}

static json_t *scenario_of(const struct recorded *r)
{
    json_t *object = json_object(), *metadata = json_object(), *run = json_object();
    json_t *args = json_array(), *size = json_object();
    json_put(object, "scenario_version", json_integer(SCENARIO_VERSION));
    json_put(metadata, "recorded_by", json_string("cordon record"));
    json_put(object, "metadata", metadata);
    json_put(run, "command", json_text(str_z(r->p->program)));
    for (size_t i = 1; r->p->argv[i]; i++)
        json_push(args, json_text(str_z(r->p->argv[i])));
    json_put(run, "args", args);
    if (r->p->confined.verdict.cwd.given.p)
        json_put(run, "cwd", json_text(r->p->confined.verdict.cwd.given));
    json_put(size, "rows", json_integer(r->rows));
    json_put(size, "cols", json_integer(r->cols));
    json_put(run, "initial_size", size);
    struct policy policy = r->p->confined.policy;
    if (r->p->by_settings) { /* the settings are for this machine only */
        policy.sandbox = POLICY_NATIVE;
        policy.sandbox_unsafe_ack = false;
    }
    if (has_own_policy(r))
        json_put(run, "policy", policy_to_json(&policy));
    json_put(object, "run", run);
    json_put(object, "steps", json_incref(r->recorder->steps));
    return object;
}

bool recorded_save(const struct recorded *r, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(DOCUMENT_MAX);
    AUTO_JSON json_t *object = scenario_of(r);
    struct scenario check;
    if (str_ends_with(str_z(r->file), STR(".json"))) {
        json_add_pretty(&text, object);
        buf_add_byte(&text, '\n');
    } else {
        recorder_yaml(object, &text);
    }
    if (!buf_ok(&text))
        return err_set(err, E_IO, "the scenario would be too large");
    if (!scenario_parse(buf_str(&text), r->file, r->p->arena, &check, err))
        return err_wrap(err, "the recorded scenario");
    scenario_done(&check);
    return recorded_write(r, buf_str(&text), err);
}

/* Flags that are needed to run the scenario again, if it contains a policy. */
const char *recorded_flags(const struct recorded *r)
{
    static const struct consent none;
    struct arena *a = r->p->arena;
    struct str file = lexical_absolute(a, r->p->cwd, str_z(r->file));
    const struct consent_input in = {
        .author = CONSENT_SCENARIO,
        .given = &none,
        .dir = arena_str(a, str_head(file, (size_t)MAX(str_find_last(file, '/'), 1))),
        .cwd = r->p->cwd,
        .network = r->p->confined.policy.network_unsafe_ack,
        .hosts = r->p->confined.policy.allowed_hosts.n,
    };
    struct consent_needs needs = {0};
    if (has_own_policy(r))
        consent_find(&in, &r->p->confined.verdict, &needs);
    return needs.n ? arena_printf(a, " %s", consent_flags(&needs, a)) : "";
}
