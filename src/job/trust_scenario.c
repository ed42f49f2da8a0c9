/* Granting trust to scenarios. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/trust_scenario.h"

#include "base/clock.h"
#include "job/job.h"
#include "job/trust_held.h"
#include "path/beneath.h"
#include "path/lexical.h"

#include <errno.h>
#include <unistd.h>

bool trust_find_needs(
    const struct scenario *s, struct arena *a, struct consent_needs *ret_needs, struct err *err)
{
    static const struct consent none;
    static const struct prepare_options all = {.ack = {true, true, true, true, true, true, true}};
    const struct consent_input in = {
        .author = CONSENT_SCENARIO,
        .given = &none,
        .network = s->policy.network_unsafe_ack,
    };
    struct prepared p = {.arena = a, .options = &all};
    prepare_scenario(&p, s);
    *ret_needs = (struct consent_needs){0};
    if (!s->has_policy)
        return true;
    bool ok = prepare_policy(&p, err) && prepared_ok(&p, err);
    if (ok)
        consent_find(&in, &p.confined.verdict, ret_needs);
    prepared_done(&p);
    return ok;
}

bool trust_grant(const struct trust_store *store, const struct consent_needs *needs,
    struct arena *a, struct trust *t, struct err *err)
{
    t->flags.p = ARENA_NEW(a, struct str, CONSENT_NEEDS);
    for (size_t i = 0; i < needs->n; i++)
        t->flags.p[t->flags.n++] = str_z(needs->p[i].flag);
    t->trusted_at_ms = clock_wall_ms();
    return trust_add(store, t, err);
}

const char *trust_entry_state(const struct trust *t, struct arena *a)
{
    AUTO_ERR struct err error = {0};
    struct scenario s = {0};
    struct trust now;
    const char *path = arena_strdup(a, t->file);
    if (trust_held_entry(t))
        return "trusted"; /* the entry is for these contents, even if the file has changed */
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return "missing";
    if (!scenario_load(path, a, &s, &error))
        return "changed";
    bool same = trust_identify(&s, path, a, &now, &error) && str_eq(now.id, t->id);
    scenario_done(&s);
    return same ? "trusted" : "changed";
}

struct str trust_entry_path(struct str cwd, const char *path, struct arena *a)
{
    struct str whole = lexical_absolute(a, cwd, str_z(path));
    size_t slash = (size_t)MAX(str_find_last(whole, '/'), 1);
    AUTO_FD int fd = beneath_peek(arena_strdup(a, str_head(whole, slash)));
    AUTO_FREE char *dir = fd >= 0 ? beneath_name(fd) : NULL;
    return dir ? lexical_absolute(a, str_z(dir), lexical_name(whole)) : whole;
}
