/* client PROVIDER BASE_URL|SCRIPT [TEXT]: sends one request, prints its events and its message as
 * lines of JSON; the last line is {"done"} or {"error"}. CLIENT_RETRIES=N: number of retries.
 * CLIENT_REPEAT=N: the same request N times on one connection. CLIENT_CANCEL_INPUT=1: cancel when
 * standard input has a byte. CLIENT_QUIET=1: without the deltas. CLIENT_IDLE_MS and
 * CLIENT_DEADLINE_MS: the limits of those names. Host names do not resolve, which takes
 * CLIENT_RESOLVE_MS=N. CLIENT_TIMES=N: the text N times in one message.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/json.h"
#include "llm/http.h"
#include "llm/provider.h"

#include <netdb.h>
#include <poll.h>

static const char *const kinds[] = {
    [LLM_TEXT_DELTA] = "text_delta",
    [LLM_THINKING_DELTA] = "thinking_delta",
    [LLM_TOOL_CALL_BEGIN] = "tool_call_begin",
    [LLM_TOOL_CALL_DELTA] = "tool_call_delta",
    [LLM_TOOL_CALL_END] = "tool_call_end",
    [LLM_USAGE] = "usage",
};

static void print(json_t *object)
{
    AUTO_BUF struct buf line = BUF_INIT(256 << 20);
    json_add_compact(&line, object);
    json_decref(object);
    puts(buf_z(&line));
    fflush(stdout);
}

static void print_event(const struct llm_event *e)
{
    json_t *object = json_object();
    const char *kind = e->kind < ARRAY_LEN(kinds) ? kinds[e->kind] : "other";
    json_put(object, "event", json_string(kind));
    if (e->id.p)
        json_put(object, "id", json_text(e->id));
    if (e->name.p)
        json_put(object, "name", json_text(e->name));
    if (e->delta.p)
        json_put(object, "delta", json_text(e->delta));
    if (e->arguments)
        json_put(object, "arguments", json_incref((json_t *)e->arguments));
    print(object);
}

static void on_retry(void *context, const struct retry_notice *notice)
{
    (void)context;
    json_t *object = json_object();
    json_put(object, "event", json_string("retry"));
    json_put(object, "attempt", json_integer(notice->attempt));
    json_put(object, "delay_ms", json_integer((json_int_t)notice->delay_ms));
    json_put(object, "reason", err_to_json(notice->reason));
    print(object);
}

static int64_t number(const char *name, int64_t otherwise)
{
    int64_t value = otherwise;
    const char *text = getenv(name);
    if (text && !str_to_int(str_z(text), 0, INT32_MAX, &value))
        value = otherwise;
    return value;
}

/* libcurl calls this one. */
__attribute__((visibility("default"))) int getaddrinfo(const char *restrict node,
    const char *restrict service, const struct addrinfo *restrict hints,
    struct addrinfo **restrict ret_list)
{
    (void)node, (void)service, (void)hints, (void)ret_list;
    print(json_pack("{s:s}", "event", "resolving"));
    poll(NULL, 0, (int)number("CLIENT_RESOLVE_MS", 0));
    return EAI_NONAME;
}

static bool ask(struct provider *p, const struct llm_request *request, struct err *err)
{
    struct stream *s = NULL;
    struct llm_event event;
    enum stream_step step;
    bool quiet = number("CLIENT_QUIET", 0);
    if (!provider_stream(p, request, &s, err))
        return false;
    while ((step = stream_next(s, &event, err)) == STREAM_EVENT)
        if (!quiet)
            print_event(&event);
    AUTO_ERR struct err none = {0};
    json_t *message = NULL;
    if (stream_message(s, &message, &none))
        print(json_pack("{s:o}", "message", message));
    stream_free(s);
    return step == STREAM_END;
}

/* Peak of this program alone: getrusage() also counts the process that started it. */
static json_int_t peak_kb(void)
{
    char line[256];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && kb == 0 && fgets(line, sizeof(line), f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

int main(int argc, char **argv)
{
    uint64_t start = clock_mono_ns();
    int64_t deadline_ms = number("CLIENT_DEADLINE_MS", 0);
    bool service = argc > 1 && strcmp(argv[1], "scripted") != 0;
    struct provider_options options = {
        .name = argc > 1 && argv[1][0] ? argv[1] : NULL,
        .base_url = service && argc > 2 ? argv[2] : NULL,
        .script = !service && argc > 2 ? argv[2] : NULL,
        .max_retries = (int)number("CLIENT_RETRIES", -1),
        .cancel_fd = number("CLIENT_CANCEL_INPUT", 0) ? STDIN_FILENO : -1,
        .idle_timeout_ms = (uint64_t)number("CLIENT_IDLE_MS", 0),
        .deadline_ms = deadline_ms ? clock_mono_ms() + (uint64_t)deadline_ms : 0,
        .on_retry = on_retry,
    };
    AUTO_ERR struct err err = {0};
    struct provider *p = NULL;
    AUTO_JSON json_t *messages = json_array();
    AUTO_BUF struct buf text = BUF_INIT(64 << 20);
    for (int64_t i = 0; i < number("CLIENT_TIMES", 1); i++)
        buf_add_z(&text, argc > 3 ? argv[3] : "hello");
    json_push(messages, message_user(buf_str(&text)));
    const struct llm_request request = {.messages = messages, .temperature = -1};
    bool ok = provider_open(&options, &p, &err);
    for (int64_t i = 0; ok && i < number("CLIENT_REPEAT", 1); i++)
        ok = ask(p, &request, &err);
    if (ok)
        print(json_pack("{s:{s:I, s:I}}", "done", "max_rss_kb", peak_kb(), "time_us",
            (json_int_t)((clock_mono_ns() - start) / 1000)));
    else
        print(json_pack("{s:o, s:I}", "error", err_to_json(&err), "max_rss_kb", peak_kb()));
    provider_close(p);
    return ok ? 0 : err_status(err.code);
}
