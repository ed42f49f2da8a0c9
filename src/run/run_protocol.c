/* Builds the protocol document from the driver's own tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_protocol.h"

#include "run/action.h"
#include "run/driver.h"
#include "run/run_result.h"

static const struct {
    const char *name, *text;
} rules[] = {
    {"start", "cordon driver [OPTION…] [--] COMMAND [ARGUMENT…]"},
    {"input", "one JSON object per line for each action; blank lines are ignored"},
    {"output", "one line for each action, in order: an Observation; the last line, which has "
               "run_result_version, is the RunResult"},
    {"request_id", "any value; copied to the answer"},
    {"answers", "key, text, mouse and resize are answered at the first change of the screen, or "
                "after 30 ms without one; with settle_ms, when nothing has changed for that time; "
                "wait is answered when its condition holds, or with error E_TIMEOUT after "
                "timeout_ms"},
    {"matched_by", "event that ended the wait: change, frame (the end of a synchronized update), "
                   "quiet or exit; absent if none did"},
    {"screen", "rows and columns are counted from 0; lines have no trailing blanks; with "
               "\"screen\": \"delta\", from the second answer on, the screen has changed, an "
               "object that maps row numbers to lines, instead of lines; with \"cells\" it has "
               "every cell with its style"},
    {"errors", "an Observation with error reports a failed action, and the session continues; an "
               "object without screen reports an invalid line, and ends the session with exit "
               "status 9 (8: unsupported protocol_version) unless --keep-going is given"},
    {"end", "terminate, or the end of the input, ends the program; exit status 0"},
};

/* A complete example session with bash: input lines, and text that each answer contains. */
static const struct {
    const char *about, *input, *shows;
} session[] = {
    {"wait for the prompt",
        "{\"protocol_version\":1,\"request_id\":1,\"action\":{\"type\":\"wait\",\"payload\":{"
        "\"condition\":{\"type\":\"screen_matches\",\"payload\":{\"pattern\":\"[$#]$\"}}}}}",
        "bash"},
    {"type a command and press Enter; answer when the screen has been quiet for 100 ms",
        "{\"protocol_version\":1,\"request_id\":2,\"settle_ms\":100,\"action\":{\"type\":\"text\","
        "\"payload\":{\"text\":\"echo $((6*7))\\r\"}}}",
        "42"},
    {"press a key, and return only the rows that it changes",
        "{\"protocol_version\":1,\"request_id\":3,\"settle_ms\":50,\"screen\":\"delta\",\"action\":"
        "{\"type\":\"key\",\"payload\":{\"key\":\"Up\"}}}",
        "echo $((6*7))"},
    {"wait for text that does not appear: the answer has an error, and the session "
     "continues",
        "{\"protocol_version\":1,\"request_id\":4,\"timeout_ms\":100,\"action\":{\"type\":\"wait\","
        "\"payload\":{\"condition\":{\"type\":\"screen_contains\",\"payload\":{\"text\":\"never\"}}"
        "}}}",
        "E_TIMEOUT"},
    {"terminate the program",
        "{\"protocol_version\":1,\"request_id\":5,\"action\":{\"type\":\"terminate\"}}", "exit"},
};

static json_t *errors_json(void)
{
    json_t *list = json_array();
    for (int code = 1; code < ERR_COUNT; code++) {
        json_t *entry = json_object();
        json_put(entry, "code", json_string(err_name((enum err_code)code)));
        json_put(entry, "exit_status", json_integer(err_status((enum err_code)code)));
        json_put(entry, "help", json_string(err_about((enum err_code)code)));
        json_push(list, entry);
    }
    return list;
}

static json_t *session_json(void)
{
    json_t *object = json_object(), *list = json_array(), *argv = json_array();
    json_push(argv, json_string("bash"));
    json_push(argv, json_string("--norc"));
    for (size_t i = 0; i < ARRAY_LEN(session); i++) {
        json_t *entry = json_object();
        json_put(entry, "about", json_string(session[i].about));
        json_put(entry, "input", json_string(session[i].input));
        json_put(entry, "answer_has", json_string(session[i].shows));
        json_push(list, entry);
    }
    json_put(object, "command", argv);
    json_put(object, "lines", list);
    return object;
}

json_t *protocol_json(void)
{
    json_t *object = json_object(), *about = json_object();
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        json_put(about, rules[i].name, json_string(rules[i].text));
    json_put(object, "protocol_version", json_integer(RUN_PROTOCOL_VERSION));
    json_put(object, "about", about);
    json_put(object, "input", driver_schema());
    json_put(object, "actions", action_schema());
    json_put(object, "conditions", condition_schema());
    json_put(object, "observation", driver_fields());
    json_put(object, "events", observer_event_types());
    json_put(object, "errors", errors_json());
    json_put(object, "example", session_json());
    return object;
}
