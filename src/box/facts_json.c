/* Information about a box as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/facts.h"
#include "path/exact.h"
#include "sandbox/denied_fix.h"

enum {
    PORT_HTTP = 80,
    PORT_HTTPS = 443,
};

static const char *const network_names[] = {
    [BOX_NETWORK_DEFAULT] = "",
    [BOX_NETWORK_NONE] = "none",
    [BOX_NETWORK_ON] = "on",
    [BOX_NETWORK_ALLOW] = "allow",
};

const struct facts_limit facts_limits[FACTS_LIMITS] = {
    {"memory", "memory_bytes", offsetof(struct box_limits, memory_bytes), FACTS_BYTES},
    {"processes", "processes", offsetof(struct box_limits, processes), FACTS_NUMBER},
    {"CPUs", "cpu_millis", offsetof(struct box_limits, cpu_millis), FACTS_MILLIS},
    {"CPU time", "cpu_seconds", offsetof(struct box_limits, cpu_seconds), FACTS_SECONDS},
    {"disk", "disk_bytes", offsetof(struct box_limits, disk_bytes), FACTS_BYTES},
};

uint64_t facts_limit(const struct box_facts *f, size_t i)
{
    uint64_t value;
    memcpy(&value, (const char *)&f->box->setup.limits + facts_limits[i].offset, sizeof(value));
    return value;
}

const char *facts_run_dir(const struct box_facts *f, uint64_t n, struct arena *arena)
{
    return arena_printf(
        arena, STR_FMT "/host/runs/%llu", STR_ARG(f->box->path), (unsigned long long)n);
}

static json_t *strs_json(const struct str_list *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->n; i++)
        json_push(array, json_text(list->p[i]));
    return array;
}

static json_t *network_json(const struct box_facts *f)
{
    json_t *object = json_object(), *refused = json_array();
    json_put(object, "mode", json_string(network_names[f->network]));
    json_put(object, "hosts", strs_json(&f->hosts));
    for (size_t i = 0; i < f->n_refused; i++) {
        const struct facts_refused *r = &f->refused[i];
        json_t *one = json_object();
        json_put(one, "host", json_text(r->host));
        json_put(one, "port", json_integer((json_int_t)r->port));
        json_put(one, "why", json_text(r->why));
        json_put(one, "times", json_integer((json_int_t)r->times));
        json_put(one, "last", json_text(r->last));
        json_push(refused, one);
    }
    json_put(object, "refused", refused);
    return object;
}

static json_t *refused_denied(const struct facts_refused *r)
{
    AUTO_BUF struct buf target = BUF_INIT(1 << 12), fix = BUF_INIT(1 << 12);
    json_t *one = json_object();
    buf_printf(&target, STR_FMT ":%llu", STR_ARG(r->host), (unsigned long long)r->port);
    buf_printf(&fix, DENIED_FIX_BOX " --allow-host " STR_FMT, STR_ARG(r->host));
    if (r->port != PORT_HTTP && r->port != PORT_HTTPS)
        buf_printf(&fix, ":%llu", (unsigned long long)r->port);
    json_put(one, "op", json_string("host"));
    json_put(one, "target", json_text(buf_str(&target)));
    json_put(one, "program", json_string(""));
    json_put(one, "rule", json_text(r->why));
    json_put(one, "fix", json_text(buf_str(&fix)));
    json_put(one, "count", json_integer((json_int_t)r->times));
    return one;
}

json_t *facts_denied(const struct box_facts *f)
{
    AUTO_ERR struct err ignored = {0};
    json_t *list = NULL;
    if (!f->denied.n || !json_parse(f->denied, FACTS_DENIED_FILE, E_CONFIG, &list, &ignored))
        list = json_array();
    if (!json_is_array(list)) {
        json_decref(list);
        list = json_array();
    }
    for (size_t i = 0; i < f->n_refused; i++)
        json_push(list, refused_denied(&f->refused[i]));
    return list;
}

static json_t *limits_json(const struct box_facts *f)
{
    json_t *object = json_object();
    for (size_t i = 0; i < FACTS_LIMITS; i++)
        if (facts_limit(f, i))
            json_put(object, facts_limits[i].key, json_integer((json_int_t)facts_limit(f, i)));
    json_put(object, "gaps", strs_json(&f->state.gaps));
    return object;
}

static json_t *facts_changes_json(const struct box_facts *f)
{
    json_t *object = json_object();
    for (size_t i = 0; i < ARRAY_LEN(f->changes); i++)
        json_put(
            object, delta_kind_name((enum delta_kind)i), json_integer((json_int_t)f->changes[i]));
    json_put(object, "total", json_integer((json_int_t)f->n_changes));
    json_put(object, "runs", json_integer((json_int_t)f->runs_unasked));
    json_put(object, "steers", json_integer((json_int_t)f->steers));
    json_put(object, "leads_out", json_integer((json_int_t)f->leads_out));
    json_put(object, "never_applied", json_integer((json_int_t)f->never_applied));
    json_put(object, "left_out", json_integer((json_int_t)f->left_out));
    json_put(object, "drift", json_integer((json_int_t)f->drift));
    json_put(object, "bytes", json_integer((json_int_t)f->bytes));
    return object;
}

static json_t *dirs_json(const struct box *box)
{
    json_t *list = json_array();
    for (size_t i = 0; i < box->setup.n_extras; i++) {
        json_t *one = json_object();
        exact_put(one, "path", box->setup.extras[i].path);
        json_put(one, "writable", json_boolean(box->setup.extras[i].writable));
        json_push(list, one);
    }
    return list;
}

static json_t *machine_json(const struct box_facts *f)
{
    json_t *object = json_object(), *omitted = json_array(), *hidden = json_array();
    for (size_t i = 0; i < f->machine.n_hidden; i++) {
        json_t *one = json_object();
        exact_put(one, "path", f->machine.hidden[i].path);
        json_put(one, "why", json_string(f->machine.hidden[i].reason));
        json_push(hidden, one);
    }
    for (size_t i = 0; i < f->machine.n_omitted; i++) {
        json_t *one = json_object();
        exact_put(one, "dir", f->machine.omitted[i].dir);
        json_put(one, "why", json_string(f->machine.omitted[i].reason));
        json_push(omitted, one);
    }
    exact_put(object, "home", box_home(f->box));
    json_put(object, "shown", strs_json(&f->machine.shown));
    json_put(object, "caches", strs_json(&f->box->setup.caches));
    json_put(object, "omitted", omitted);
    json_put(object, "hidden", hidden);
    return object;
}

static json_t *runs_json(struct arena *arena, const struct box_facts *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->n_runs; i++) {
        json_t *one = json_object();
        json_put(one, "run", json_integer((json_int_t)f->runs[i]));
        exact_put(one, "dir", str_z(facts_run_dir(f, f->runs[i], arena)));
        json_push(list, one);
    }
    return list;
}

/* The same members as in the list, then additional ones. */
static void put_head(json_t *object, const struct box_facts *f)
{
    const struct box_meta *m = &f->box->meta;
    json_put(object, "name", json_text(f->box->name));
    json_put(object, "status", json_string(box_status_names[f->state.status]));
    json_put(object, "agent", json_text(m->agent));
    json_put(object, "model", m->model.n ? json_text(m->model) : json_null());
    json_put(object, "mode", json_string(box_mode_name(m->workdir.mode)));
    exact_put(object, "workdir", m->workdir.host_path);
    json_put(object, "baseline_sha",
        m->workdir.baseline_sha.n ? json_text(m->workdir.baseline_sha) : json_null());
    json_put(object, "layering", json_string(box_layering_names[f->box->setup.layering]));
    json_put(object, "created_at", json_text(m->created_at));
    json_put(object, "cordon_version", json_text(m->cordon_version));
    exact_put(object, "dir", f->box->path);
}

static void put_prompt(json_t *object, const struct box_facts *f)
{
    json_t *prompt = json_object();
    json_put(prompt, "text", json_text(f->prompt));
    json_put(prompt, "state", json_string(box_prompt_names[f->state.prompt]));
    json_put(object, "prompt", f->box->meta.has_prompt ? prompt : json_null());
    if (!f->box->meta.has_prompt)
        json_decref(prompt);
}

json_t *facts_json(const struct box_facts *f, struct arena *arena)
{
    json_t *object = json_object(), *problems = json_array();
    put_head(object, f);
    put_prompt(object, f);
    json_put(object, "args", strs_json(&f->box->setup.args));
    json_put(object, "dirs", dirs_json(f->box));
    json_put(object, "machine", machine_json(f));
    json_put(object, "network", network_json(f));
    json_put(object, "denied", facts_denied(f));
    json_put(object, "ports", strs_json(&f->box->meta.ports));
    json_put(object, "limits", limits_json(f));
    json_put(object, "state", field_write(&box_state_shape, &f->state));
    json_put(object, "changes", f->has_changes ? facts_changes_json(f) : json_null());
    json_put(object, "runs", runs_json(arena, f));
    for (size_t i = 0; i < f->n_problems; i++)
        json_push(problems, json_text(str_z(f->problems[i])));
    json_put(object, "problems", problems);
    return object;
}
