/* Grants as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/grants.h"

#include "path/exact.h"

/* Returns null if there is no such path. */
static json_t *path_json(const struct verdict_path *path)
{
    if (!path->given.p)
        return json_null();
    json_t *object = json_object();
    exact_put(object, "given", path->given);
    exact_put(object, "resolved", path->resolved);
    json_put(object, "kind", json_string(path->is_dir ? "directory" : "file"));
    return object;
}

static json_t *grants_paths_json(const struct verdict_paths *paths)
{
    json_t *list = json_array();
    for (size_t i = 0; i < paths->n; i++)
        json_push(list, path_json(&paths->p[i]));
    return list;
}

static json_t *env_json(const struct policy_env *env)
{
    json_t *object = json_object(), *inherit = json_array(), *set = json_array();
    for (size_t i = 0; env->inherit && i < env->allowlist.n; i++)
        json_push(inherit, json_text(env->allowlist.p[i]));
    for (size_t i = 0; i < env->set.n; i++)
        json_push(set, json_text(env->set.p[i].key));
    json_put(object, "inherit", inherit);
    json_put(object, "set", set);
    return object;
}

static json_t *hosts_json(const struct str_list *hosts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < hosts->n; i++)
        json_push(list, json_text(hosts->p[i]));
    return list;
}

json_t *policy_gaps(const struct verdict *v)
{
    const struct policy *p = v->policy;
    json_t *gaps = json_array();
    if (p->sandbox == POLICY_NO_SANDBOX)
        json_push(gaps, json_string("sandbox none: the policy is not enforced"));
    if (p->sandbox == POLICY_LANDLOCK)
        json_push(gaps,
            json_string("sandbox landlock: other processes, metadata and sockets of the host stay "
                        "reachable"));
    if (p->allowed_hosts.n)
        json_push(gaps,
            json_string("allowed_hosts: all readable data can be sent to them, and to other names "
                        "on the same servers"));
    if (p->allow_unix_sockets)
        json_push(gaps,
            json_string(
                "allow_unix_sockets: sockets of the host in allowed directories can be reached"));
    for (size_t i = 0; i < v->exec.n; i++) {
        if (!v->exec.p[i].writable)
            continue;
        AUTO_BUF struct buf gap = BUF_INIT(16 * 1024);
        buf_printf(&gap, "writable executables: files written to '" STR_FMT "' can be run",
            STR_ARG(v->exec.p[i].resolved));
        json_push(gaps, json_text(buf_str(&gap)));
    }
    return gaps;
}

json_t *policy_grants(const struct verdict *v)
{
    const struct policy *p = v->policy;
    json_t *grants = json_object();
    json_put(grants, "sandbox", json_string(policy_sandbox_name(p->sandbox)));
    json_put(grants, "read", grants_paths_json(&v->read));
    json_put(grants, "write", grants_paths_json(&v->write));
    json_put(grants, "exec", grants_paths_json(&v->exec));
    json_put(grants, "allow_shell", json_boolean(p->exec.allow_shell));
    json_put(grants, "working_dir", path_json(&v->working_dir));
    json_put(grants, "command", path_json(&v->command));
    json_put(grants, "cwd", path_json(&v->cwd));
    json_put(grants, "network", json_string(policy_network_name(p->network)));
    json_put(grants, "allowed_hosts", hosts_json(&p->allowed_hosts));
    json_put(grants, "unix_sockets", json_boolean(p->allow_unix_sockets));
    json_put(grants, "env", env_json(&p->env));
    json_put(grants, "artifacts", path_json(&v->artifacts_dir));
    json_put(grants, "budgets", field_write(&policy_budgets_shape, &p->budgets));
    json_put(grants, "limits", field_write(&policy_limits_shape, &p->limits));
    json_put(grants, "gaps", policy_gaps(v));
    return grants;
}

json_t *policy_explain(const struct verdict *v)
{
    bool allowed = v->denials.n == 0;
    json_t *object = json_object();
    json_put(object, "allowed", json_boolean(allowed));
    json_put(object, "errors", denials_json(&v->denials));
    json_put(object, "grants", allowed ? policy_grants(v) : json_object());
    return object;
}
