/* Tool events as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool_event.h"

#include "base/clock.h"

static const char *const phase_names[] = {
    [TOOL_START] = "start",
    [TOOL_END] = "end",
    [TOOL_ERROR] = "error",
    [TOOL_TRUNCATION] = "truncation",
};

json_t *tool_event_json(const struct tool_event *e)
{
    json_t *object = json_object();
    char time[CLOCK_RFC3339];
    clock_rfc3339(e->wall_ms, time);
    json_put(object, "type", json_string("tool"));
    json_put(object, "time", json_string(time));
    json_put(object, "run_id", json_string(e->run_id));
    json_put(object, "phase", json_string(phase_names[e->phase]));
    json_put(object, "tool", json_text(str_z(e->tool)));
    json_put(object, "call", json_integer((json_int_t)e->call));
    if (e->phase == TOOL_START)
        return object;
    json_put(object, "duration_us", json_integer((json_int_t)e->duration_us));
    json_put(object, "bytes", json_integer((json_int_t)e->bytes));
    json_put(object, "lines", json_integer((json_int_t)e->lines));
    json_put(object, "truncated", json_boolean(e->truncated));
    if (e->has_exit)
        json_put(object, "exit_status", json_integer(e->exit_status));
    json_put(object, "files_changed", json_integer((json_int_t)e->files_changed));
    if (e->phase == TOOL_ERROR)
        json_put(object, "error", err_to_json(e->error));
    return object;
}
