/* Settings of the user that apply to a new box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes/box_settings.h"

#include "config/config.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "policy/dir_list.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static bool overlap(struct str a, struct str b)
{
    return lexical_is_below(a, b) || lexical_is_below(b, a);
}

/* Why this directory can't be in the box; NULL: it can. */
static const char *box_settings_objection(
    const struct box_settings *in, const struct box_setup *setup, struct str path)
{
    struct stat st;
    if (stat(path.p, &st) != 0 || !S_ISDIR(st.st_mode))
        return "it is not a directory";
    if (overlap(path, in->project))
        return "it contains the project, or is in it";
    if (in->state.n && overlap(path, in->state))
        return "it contains Cordon's state, or is in it";
    for (size_t i = 0; i < setup->n_extras; i++)
        if (overlap(path, setup->extras[i].path))
            return "it contains another directory of the box, or is in it";
    return NULL;
}

static void add_dirs(const struct box_settings *in, const struct str_list *list, const char *name,
    bool writable, struct box_setup *setup)
{
    struct box_extra *all = ARENA_NEW(in->arena, struct box_extra, setup->n_extras + list->n);
    if (setup->n_extras)
        memcpy(all, setup->extras, setup->n_extras * sizeof(*all));
    setup->extras = all;
    for (size_t i = 0; i < list->n; i++) {
        AUTO_FREE char *real = beneath_resolve(list->p[i].p);
        if (!real)
            continue; /* not on this machine */
        struct str path = arena_str(in->arena, str_z(real));
        const char *why = box_settings_objection(in, setup, path);
        if (why)
            notice_send(in->warnings, "sandbox.%s: '" STR_FMT "' is not in the box: %s", name,
                STR_ARG(path), why);
        else
            all[setup->n_extras++] = (struct box_extra){.path = path, .writable = writable};
    }
}

static void add_hosts(const struct box_settings *in, const struct str_list *hosts,
    struct box_setup *setup, struct box_meta *meta)
{
    if (!hosts->n || in->network_chosen)
        return;
    const struct str_list own = setup->hosts.n ? setup->hosts : in->agent->hosts;
    setup->hosts = dir_list_join(in->arena, own, *hosts);
    meta->network_mode = BOX_NETWORK_ALLOW;
}

bool box_settings_add(
    const struct box_settings *in, struct box_setup *setup, struct box_meta *meta, struct err *err)
{
    struct config config;
    if (!config_load_user(in->arena, &config, err))
        return false;
    const struct policy_extra *e = &config.sandbox.extra;
    if (extra_is_empty(e))
        return true;
    AUTO_FD int project = open(in->project.p, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (project < 0)
        return err_errno(err, E_IO, errno, "cannot open '" STR_FMT "'", STR_ARG(in->project));
    if (!config_add_project(project, in->arena, &config, err))
        return err_wrap(err, "project '" STR_FMT "'", STR_ARG(in->project));
    add_dirs(in, &e->write, "write", true, setup);
    add_dirs(in, &e->exec, "exec", false, setup);
    add_dirs(in, &e->read, "read", false, setup);
    add_hosts(in, &e->hosts, setup, meta);
    setup->env = e->env;
    if (!setup->limits.processes)
        setup->limits.processes = e->limits.processes;
    if (!setup->limits.memory_bytes)
        setup->limits.memory_bytes = e->limits.memory_bytes;
    return true;
}
