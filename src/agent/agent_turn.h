/* One turn of an agent for a program that is not the command line: the prompt is given, events are
 * objects, and the turn ends by a descriptor or a time limit instead of signals.
 *
 *     struct agent_turn turn = {.prompt = STR("why?"), .cancel = -1, .events = &stream};
 *     if (!agent_turn_run(&setup, &turn, &done, err)) ...
 *
 * The setup has a host (struct tool_setup_host).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_AGENT_TURN_H
#define AGENT_AGENT_TURN_H

#include "agent/agent_setup.h"
#include "agent/event_stream.h"

struct agent_turn {
    struct str prompt;
    const char *const *images; /* files */
    size_t n_images;
    uint64_t max_time_ms; /* 0: no limit */
    int cancel;           /* readable: stop; -1: none */
    struct event_stream *events;
};

/* The last event is "done", also returned, or "error". */
MUST_USE bool agent_turn_run(
    struct agent_setup *s, const struct agent_turn *turn, json_t **ret_done, struct err *err);

#endif
