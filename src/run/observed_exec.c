/* Runs and observes a command. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/observed_exec.h"

bool observed_exec_run(const struct observed_exec_options *options, const struct exec_options *exec,
    struct observed_exec *ret_observed, struct err *err)
{
    struct observed_exec *o = ret_observed;
    struct exec_options own = *exec;
    *o = (struct observed_exec){0};
    observer_init(&o->observer, options->run_id);
    o->observer.artifacts = options->artifacts;
    o->observer.snapshot_max = options->snapshot_max;
    o->observer.also = exec->seen;
    o->observer.context = exec->context;
    if (options->screen && exec->terminal)
        o->term = term_new(&(struct term_options){.rows = exec->rows,
            .cols = exec->cols,
            .event = observer_term_event,
            .context = &o->observer});
    own.seen = observer_output;
    own.event = observer_event;
    own.term = o->term;
    own.context = &o->observer;
    if (exec_run(&own, &o->result, err))
        return true;
    observed_exec_done(o);
    return false;
}

bool observed_exec_take(struct observed_exec *o, enum observer_screen how, struct err *err)
{
    char name[ARTIFACTS_NAME];
    struct artifacts *a = o->observer.artifacts;
    o->observer.ended = true;
    o->observation = observer_take(&o->observer, o->term, how);
    observer_record(&o->observer, o->observation, NULL);
    const json_t *screen = json_object_get(o->observation, "screen");
    return observer_fits(&o->observer, err) &&
           (!a || !o->term || artifacts_snapshot(a, screen, name, err));
}

void observed_exec_done(struct observed_exec *o)
{
    err_done(&o->result.error);
    observer_done(&o->observer);
    term_free(o->term);
    json_decrefp(&o->observation);
    o->term = NULL;
    o->observation = NULL;
}
