/* A turn with events as objects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent_turn.h"

#include "agent/event_json.h"
#include "base/clock.h"

#include <errno.h>
#include <sys/timerfd.h>

/* A descriptor that is readable when the time is up; -1: no limit. */
static bool agent_turn_open_timer(uint64_t max_time_ms, int *ret_timer, struct err *err)
{
    const struct itimerspec once = {
        .it_value = {(time_t)(max_time_ms / 1000), (long)(max_time_ms % 1000) * 1000000}};
    if (!max_time_ms)
        return true;
    AUTO_FD int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0 || timerfd_settime(fd, 0, &once, NULL) != 0)
        return err_errno(err, E_IO, errno, "cannot create a timer");
    *ret_timer = TAKE_FD(fd);
    return true;
}

static bool agent_turn_watch(
    const struct agent_setup *s, const struct agent_turn *turn, int timer, struct err *err)
{
    int set = s->tools.options.signals;
    return ((turn->cancel < 0 || interrupt_set_add(set, turn->cancel)) &&
               (timer < 0 || interrupt_set_add(set, timer))) ||
           err_errno(err, E_IO, errno, "cannot watch for a cancellation");
}

static void agent_turn_unwatch(
    const struct agent_setup *s, const struct agent_turn *turn, int timer)
{
    int set = s->tools.options.signals;
    if (turn->cancel >= 0)
        interrupt_set_remove(set, turn->cancel);
    if (timer >= 0)
        interrupt_set_remove(set, timer);
}

static bool agent_turn_ask(struct agent_setup *s, const struct agent_turn *turn,
    const json_t *prompt, json_t **ret_done, struct err *err)
{
    struct agent_outcome outcome;
    struct agent agent = agent_setup_agent(s);
    agent.tell = event_stream_tell;
    agent.context = turn->events;
    agent.host_stops = true;
    agent.deadline_ms = turn->max_time_ms ? clock_deadline_ms(turn->max_time_ms) : 0;
    bool ok = agent_run(&agent, prompt, &outcome, err);
    if (ok)
        *ret_done = event_json_done(store_id(s->store), &outcome);
    else
        err_ctx(err, "session_id", "%s", store_id(s->store));
    agent_outcome_done(&outcome);
    return ok;
}

static bool agent_turn_try(
    struct agent_setup *s, const struct agent_turn *turn, json_t **ret_done, struct err *err)
{
    const struct prompt_options prompt = {
        .images = turn->images, .n_images = turn->n_images, .regular = true};
    AUTO_JSON json_t *message = NULL;
    AUTO_FD int timer = -1;
    if (!prompt_make(turn->prompt, &prompt, &message, err) ||
        !agent_turn_open_timer(turn->max_time_ms, &timer, err))
        return false;
    bool ok =
        agent_turn_watch(s, turn, timer, err) && agent_turn_ask(s, turn, message, ret_done, err);
    agent_turn_unwatch(s, turn, timer);
    return ok;
}

bool agent_turn_run(
    struct agent_setup *s, const struct agent_turn *turn, json_t **ret_done, struct err *err)
{
    AUTO_JSON json_t *done = NULL;
    if (agent_turn_try(s, turn, &done, err)) {
        bool put UNUSED = event_stream_put(turn->events, json_incref(done));
        *ret_done = event_stream_object(&s->mask, json_take(&done));
        return true;
    }
    mask_err(&s->mask, err);
    json_t *event = json_object();
    json_put(event, "type", json_string("error"));
    json_put(event, "error", err_to_json(err));
    bool put UNUSED = event_stream_put(turn->events, event);
    return false;
}
