/* The stream of an answer: its states, its attempts, what remains of it; and the choice of
 * provider. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "llm/message.h"
#include "llm/provider.h"
#include "test.h"
#include "tree.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

struct fixture {
    struct provider *provider;
    struct stream *stream;
    json_t *messages;
    struct llm_request request;
    struct err err;
    unsigned retries; /* notices received */
    uint64_t delay_ms;
    int cancel;
    bool cancel_in_retry;
};

static void on_retry(void *context, const struct retry_notice *notice)
{
    struct fixture *f = context;
    f->retries++;
    CHECK_INT(notice->attempt, f->retries);
    CHECK_INT(notice->reason->code, E_PROVIDER);
    f->delay_ms += notice->delay_ms;
    if (f->cancel_in_retry)
        eventfd_write(f->cancel, 1);
}

static bool setup(struct fixture *f, const char *turns, int max_retries)
{
    *f = (struct fixture){.cancel = eventfd(0, EFD_CLOEXEC)};
    AUTO_BUF struct buf text = BUF_INIT(1 << 20);
    buf_printf(&text, "{\"version\":1,\"turns\":[%s]}", turns);
    test_write(test_path("script.json"), buf_z(&text));
    const struct provider_options options = {
        .name = "scripted",
        .script = test_path("script.json"),
        .max_retries = max_retries,
        .cancel_fd = f->cancel,
        .on_retry = on_retry,
        .context = f,
    };
    f->messages = json_array();
    json_push(f->messages, message_user(STR("hello")));
    f->request = (struct llm_request){.messages = f->messages, .temperature = -1};
    return CHECK_OK(provider_open(&options, &f->provider, &f->err), &f->err) &&
           CHECK_OK(provider_stream(f->provider, &f->request, &f->stream, &f->err), &f->err);
}

static void teardown(struct fixture *f)
{
    stream_free(f->stream);
    provider_close(f->provider);
    json_decref(f->messages);
    err_done(&f->err);
    close(f->cancel);
}

/* Reads all events up to the end; collects the texts of their deltas. */
static enum stream_step drain(struct fixture *f, struct buf *deltas)
{
    struct llm_event event;
    enum stream_step step;
    while ((step = stream_next(f->stream, &event, &f->err)) == STREAM_EVENT)
        if (event.kind == LLM_TEXT_DELTA)
            buf_add_str(deltas, event.delta);
    return step;
}

static void check_message(struct fixture *f, const char *text, enum stop_reason stop)
{
    AUTO_JSON json_t *message = NULL;
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf got = BUF_INIT(4096);
    if (!CHECK_OK(stream_message(f->stream, &message, &err), &err))
        return;
    CHECK_OK(message_check(message, E_CONFIG, &err), &err);
    message_add_text(message, &got);
    CHECK_STR(buf_str(&got), str_z(text));
    CHECK_INT(message_stop(message), stop);
}

static const char two_words[] = "{\"content\":[{\"text\":\"one two\"}]}";

TEST(stream_new_has_no_message)
{
    struct fixture f;
    json_t *message = NULL;
    if (setup(&f, two_words, -1)) {
        CHECK_INT(stream_state(f.stream), STREAM_NEW);
        CHECK(!stream_message(f.stream, &message, &f.err));
        CHECK_ERR(&f.err, E_PROTOCOL, "before its first event");
    }
    teardown(&f);
}

static int act_stream_without_descriptors(void *arg)
{
    struct fixture *f = arg;
    struct stream *second = NULL;
    AUTO_ERR struct err err = {0};
    if (!child_without_call(SYS_eventfd2, EMFILE))
        return 2;
    return !provider_stream(f->provider, &f->request, &second, &err) && !second &&
                   err.code == E_IO && strstr(err.message, strerror(EMFILE))
               ? 0
               : 1;
}

TEST(stream_names_the_reason_if_it_cannot_begin)
{
    struct fixture f;
    if (setup(&f, two_words, -1))
        CHECK_INT(child_run(act_stream_without_descriptors, &f), 0);
    teardown(&f);
}

TEST(stream_streaming_has_the_received_text)
{
    struct fixture f;
    struct llm_event event;
    if (setup(&f, two_words, -1)) {
        CHECK_INT(stream_next(f.stream, &event, &f.err), STREAM_EVENT);
        CHECK_STR(event.delta, STR("one "));
        CHECK_INT(stream_state(f.stream), STREAM_STREAMING);
        AUTO_JSON json_t *message = NULL;
        AUTO_BUF struct buf text = BUF_INIT(64);
        CHECK_OK(stream_message(f.stream, &message, &f.err), &f.err);
        message_add_text(message, &text);
        CHECK_STR(buf_str(&text), STR("one "));
    }
    teardown(&f);
}

TEST(stream_complete_stays)
{
    struct fixture f;
    struct llm_event event;
    AUTO_BUF struct buf deltas = BUF_INIT(4096);
    if (setup(&f, two_words, -1)) {
        CHECK_INT(drain(&f, &deltas), STREAM_END);
        CHECK_STR(buf_str(&deltas), STR("one two"));
        CHECK_INT(stream_state(f.stream), STREAM_COMPLETE);
        CHECK_INT(stream_next(f.stream, &event, &f.err), STREAM_END);
        check_message(&f, "one two", STOP_END_TURN);
        stream_close(f.stream);
        CHECK_INT(stream_state(f.stream), STREAM_COMPLETE);
        check_message(&f, "one two", STOP_END_TURN);
    }
    teardown(&f);
}

TEST(stream_error_keeps_the_received_text)
{
    static const char turn[] = "{\"content\":[{\"text\":\"one two "
                               "three\"}],\"after\":2,\"error\":{\"message\":\"Overloaded\","
                               "\"type\":\"overloaded_error\"}}";
    struct fixture f;
    struct llm_event event;
    AUTO_BUF struct buf deltas = BUF_INIT(4096);
    if (setup(&f, turn, 0)) {
        CHECK_INT(drain(&f, &deltas), STREAM_FAILED);
        CHECK_ERR(&f.err, E_PROVIDER, "Overloaded");
        CHECK_STR(buf_str(&deltas), STR("one two "));
        CHECK_INT(stream_state(f.stream), STREAM_ERROR);
        check_message(&f, "one two ", STOP_ERROR);
        CHECK_INT(err_ctx_get(&f.err, "attempts")->number, 1);
        CHECK_INT(stream_next(f.stream, &event, &f.err), STREAM_FAILED);
        CHECK_ERR(&f.err, E_PROVIDER, "Overloaded");
    }
    teardown(&f);
}

TEST(stream_ends_early)
{
    struct fixture f;
    AUTO_BUF struct buf deltas = BUF_INIT(4096);
    if (setup(&f, "{\"content\":[{\"text\":\"one two\"}],\"after\":1,\"fault\":\"end\"}", 0)) {
        CHECK_INT(drain(&f, &deltas), STREAM_FAILED);
        CHECK_ERR(&f.err, E_PROVIDER, "interrupts the answer");
        check_message(&f, "one ", STOP_ERROR);
    }
    teardown(&f);
}

TEST(stream_closed)
{
    struct fixture f;
    struct llm_event event;
    if (setup(&f, two_words, -1)) {
        CHECK_INT(stream_next(f.stream, &event, &f.err), STREAM_EVENT);
        stream_close(f.stream);
        CHECK_INT(stream_state(f.stream), STREAM_CLOSED);
        check_message(&f, "one ", STOP_ABORTED);
        CHECK_INT(stream_next(f.stream, &event, &f.err), STREAM_FAILED);
        CHECK_ERR(&f.err, E_CANCELED, "closed");
        stream_close(f.stream);
    }
    teardown(&f);
}

TEST(stream_closed_before_it_began)
{
    struct fixture f;
    json_t *message = NULL;
    if (setup(&f, two_words, -1)) {
        stream_close(f.stream);
        CHECK_INT(stream_state(f.stream), STREAM_CLOSED);
        CHECK(!stream_message(f.stream, &message, &f.err));
    }
    teardown(&f);
}

static const char forever[] = "{\"content\":[{\"text\":\"one\"},{\"delay_ms\":600000}]}";

static void *close_it(void *context)
{
    stream_close(context);
    return NULL;
}

TEST(stream_close_unblocks)
{
    struct fixture f;
    struct llm_event event;
    pthread_t thread;
    if (setup(&f, forever, -1)) {
        CHECK_INT(stream_next(f.stream, &event, &f.err), STREAM_EVENT);
        pthread_create(&thread, NULL, close_it, f.stream);
        CHECK_INT(stream_next(f.stream, &event, &f.err), STREAM_FAILED);
        pthread_join(thread, NULL);
        CHECK_ERR(&f.err, E_CANCELED, "closed");
        CHECK_INT(stream_state(f.stream), STREAM_CLOSED);
        check_message(&f, "one", STOP_ABORTED);
    }
    teardown(&f);
}

TEST(stream_cancel_unblocks)
{
    struct fixture f;
    struct llm_event event;
    if (setup(&f, forever, -1)) {
        CHECK_INT(stream_next(f.stream, &event, &f.err), STREAM_EVENT);
        eventfd_write(f.cancel, 1);
        uint64_t start = clock_mono_ms();
        CHECK_INT(stream_next(f.stream, &event, &f.err), STREAM_FAILED);
        CHECK(clock_mono_ms() - start < 60000);
        CHECK_ERR(&f.err, E_CANCELED, "interrupted");
        CHECK_INT(stream_state(f.stream), STREAM_ERROR);
        check_message(&f, "one", STOP_ABORTED);
    }
    teardown(&f);
}

TEST(stream_cancel_ends_the_wait_for_a_retry)
{
    static const char turn[] =
        "{\"error\":{\"message\":\"later\",\"status\":429,\"retry_after\":\"19\"}}";
    struct fixture f;
    struct llm_event event;
    if (setup(&f, turn, -1)) {
        f.cancel_in_retry = true;
        uint64_t begun = clock_mono_ms();
        CHECK_INT(stream_next(f.stream, &event, &f.err), STREAM_FAILED);
        CHECK_ERR(&f.err, E_CANCELED, "interrupted");
        CHECK(clock_mono_ms() - begun < 15000);
        CHECK_INT(f.retries, 1);
        CHECK_INT(stream_state(f.stream), STREAM_ERROR);
        check_message(&f, "", STOP_ABORTED);
    }
    teardown(&f);
}

TEST(stream_retries_start_afresh)
{
    static const char turns[] =
        "{\"content\":[{\"text\":\"void words\"}],\"after\":1,\"fault\":\"drop\"},"
        "{\"error\":{\"message\":\"x\",\"status\":529,\"retry_after\":\"0\"}},"
        "{\"content\":[{\"text\":\"good words\"}]}";
    struct fixture f;
    AUTO_BUF struct buf deltas = BUF_INIT(4096);
    if (setup(&f, turns, -1)) {
        CHECK_INT(drain(&f, &deltas), STREAM_END);
        CHECK_INT(f.retries, 2);
        CHECK_STR(buf_str(&deltas), STR("void good words"));
        check_message(&f, "good words", STOP_END_TURN);
    }
    teardown(&f);
}

TEST(stream_retries_are_used_up)
{
    static const char turn[] =
        "{\"repeat\":true,\"content\":[{\"text\":\"one two\"}],\"after\":1,\"error\":{\"message\":"
        "\"Overloaded\",\"type\":\"overloaded_error\",\"status\":529,\"retry_after\":\"0\"}}";
    struct fixture f;
    AUTO_BUF struct buf deltas = BUF_INIT(4096);
    if (setup(&f, turn, 3)) {
        CHECK_INT(drain(&f, &deltas), STREAM_FAILED);
        CHECK_ERR(&f.err, E_PROVIDER, "(tried 4 times)");
        CHECK_INT(f.retries, 3);
        CHECK_INT(err_ctx_get(&f.err, "attempts")->number, 4);
        CHECK_INT(err_ctx_get(&f.err, "status")->number, 529);
        CHECK_Z(err_ctx_get(&f.err, "retry_after")->text, "0");
        CHECK_Z(err_ctx_get(&f.err, "provider_error")->text, "overloaded_error");
        check_message(&f, "one ", STOP_ERROR);
    }
    teardown(&f);
}

TEST(stream_waits_no_longer_than_it_may)
{
    struct fixture f;
    AUTO_BUF struct buf deltas = BUF_INIT(4096);
    if (setup(&f, "{\"error\":{\"message\":\"x\",\"status\":429,\"retry_after\":\"3600\"}}", -1)) {
        CHECK_INT(drain(&f, &deltas), STREAM_FAILED);
        CHECK_ERR(&f.err, E_PROVIDER, "asks to wait for 3600 s");
        CHECK_INT(f.retries, 0);
    }
    teardown(&f);
}

/* Choice of provider -------------------------------------------------------------------------- */

static const char *const variables[] = {
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"};

static const struct choice_row {
    const char *what;
    const char *values[4]; /* of the variables */
    const char *name, *base_url, *script;
    const char *want; /* the provider's name; NULL: an error */
    const char *message;
    enum err_code code;
} choices[] = {
    {"no key", {0}, .want = "scripted"},
    {"an empty key", {""}, .want = "scripted"},
    {"anthropic's key", {"k"}, .want = "anthropic"},
    {"openai's key", {NULL, "k"}, .want = "openai"},
    {"both keys", {"k", "k"}, .message = "--provider", .code = E_CONFIG},
    {"both keys and a name", {"k", "k"}, .name = "openai", .want = "openai"},
    {"both keys and a script", {"k", "k"}, .script = "none.json", .message = "none.json",
        .code = E_IO},
    {"an address alone", {NULL, NULL, NULL, "http://127.0.0.1:1/v1"}, .want = "openai"},
    {"two addresses", {NULL, NULL, "http://a", "http://b"}, .message = "--provider",
        .code = E_CONFIG},
    {"a key before an address", {"k", NULL, NULL, "http://b"}, .want = "anthropic"},
    {"an unknown name", {0}, .name = "antropic", .message = "did you mean 'anthropic'",
        .code = E_CONFIG},
    {"a name without its key", {NULL, "k"}, .name = "anthropic", .message = "set ANTHROPIC_API_KEY",
        .code = E_CONFIG},
    {"elsewhere without a key", {0}, .name = "openai", .base_url = "http://127.0.0.1:1/v1",
        .want = "openai"},
    {"whose address", {0}, .base_url = "http://127.0.0.1:1", .message = "--provider",
        .code = E_CONFIG},
    {"no address", {0}, .name = "openai", .base_url = "127.0.0.1:80",
        .message = "--base-url: '127.0.0.1:80' is not a valid base URL", .code = E_CONFIG},
    {"no address in a variable", {NULL, NULL, "127.0.0.1:80", NULL},
        .message = "ANTHROPIC_BASE_URL: '127.0.0.1:80' is not a valid base URL", .code = E_CONFIG},
    {"another protocol", {0}, .name = "openai", .base_url = "file:///etc/passwd",
        .message = "is not a valid base URL", .code = E_CONFIG},
    {"no host", {0}, .name = "openai", .base_url = "http:///v1",
        .message = "is not a valid base URL", .code = E_CONFIG},
    {"a password", {0}, .name = "openai", .base_url = "http://me:pw@host/v1", .message = "password",
        .code = E_CONFIG},
    {"a query", {0}, .name = "openai", .base_url = "http://h/v1?k=v",
        .message = "'?' and '#' are not allowed", .code = E_CONFIG},
    {"a line end in the key", {"k\nx: y"}, .message = "ANTHROPIC_API_KEY", .code = E_CONFIG},
    {"a script for a service", {"k"}, .name = "anthropic", .script = "s.json",
        .message = "--provider scripted", .code = E_CONFIG},
    {"an address for a script", {0}, .name = "scripted", .base_url = "http://h",
        .message = "no address", .code = E_CONFIG},
};

static void check_choice(const struct choice_row *r)
{
    struct provider *p = NULL;
    AUTO_ERR struct err err = {0};
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        r->values[i] ? setenv(variables[i], r->values[i], 1) : unsetenv(variables[i]);
    const struct provider_options options = {.name = r->name,
        .base_url = r->base_url,
        .script = r->script,
        .max_retries = -1,
        .cancel_fd = -1};
    bool ok = provider_open(&options, &p, &err);
    if (r->want && CHECK_OK(ok, &err))
        CHECK_Z(provider_name(p), r->want);
    if (!r->want)
        CHECK_ERR(&err, r->code, r->message);
    if (ok)
        CHECK(provider_is_default_script(p) == (strcmp(provider_name(p), "scripted") == 0));
    provider_close(p);
}

TEST(provider_chosen)
{
    char *kept[ARRAY_LEN(variables)];
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        kept[i] = getenv(variables[i]) ? strdup(getenv(variables[i])) : NULL;
    for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
        test_row(i, choices[i].what);
        check_choice(&choices[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        kept[i] ? setenv(variables[i], kept[i], 1) : unsetenv(variables[i]);
        free(kept[i]);
    }
}
