/* Sessions on disk: written data persist, whatever happens in between. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/catalog.h"
#include "agent/envelope.h"
#include "agent/exchange.h"
#include "agent/repair.h"
#include "agent/store.h"
#include "base/mask.h"
#include "llm/message.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define HEADER "{\"version\":1,\"id\":\"s1\",\"system_prompt\":\"be kind\",\"messages\":[]}\n"
#define HELLO  "{\"type\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}\n"

static const char *dir(void)
{
    return test_path("sessions");
}

static bool append_text(struct store *s, const char *text, struct err *err)
{
    AUTO_JSON json_t *m = message_user(str_z(text));
    return store_append(s, m, err);
}

static json_t *a_call(const char *id)
{
    AUTO_BUF struct buf b = BUF_INIT(1000);
    AUTO_ERR struct err err = {0};
    json_t *tree = NULL;
    buf_printf(&b,
        "{\"type\":\"assistant\",\"content\":[{\"type\":\"tool_call\",\"id\":\"%s\",\"name\":"
        "\"ls\","
        "\"arguments\":{}}]}",
        id);
    CHECK_OK(json_parse(buf_str(&b), "", E_CONFIG, &tree, &err), &err);
    return tree;
}

static void export(const char *word, struct buf *out)
{
    AUTO_STORE struct store *s = NULL;
    AUTO_ERR struct err err = {0};
    if (CHECK_OK(store_open(dir(), word, STORE_READ, &s, &err), &err))
        exchange_add(s, out);
}

static bool import(const char *path, bool replace, struct err *err)
{
    AUTO_STORE struct store *s = NULL;
    struct exchange_import import = {
        .fd = open(path, O_RDONLY | O_CLOEXEC), .name = "in.json", .replace = replace};
    return exchange_import(dir(), &import, &s, err);
}

TEST(store_keeps_appended_messages)
{
    AUTO_ERR struct err err = {0};
    struct store *s = NULL;
    struct store_spec spec = {.id = STR("s1"), .system_prompt = STR("be kind"), .cwd = STR("/w")};
    if (!CHECK_OK(store_create(dir(), &spec, &s, &err), &err))
        return;
    CHECK_OK(append_text(s, "one", &err), &err);
    CHECK_OK(append_text(s, "two\n\"quoted\"", &err), &err);
    CHECK_OK(store_note_title(s, STR("a title"), &err), &err);
    store_close(s);

    struct stat st;
    CHECK(stat(test_path("sessions/s1.jsonl"), &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(stat(dir(), &st) == 0 && (st.st_mode & 0777) == 0700);
    AUTO_STORE struct store *again = NULL;
    if (!CHECK_OK(store_open(dir(), "s", STORE_READ, &again, &err), &err))
        return;
    AUTO_JSON json_t *messages = store_messages(again);
    AUTO_BUF struct buf text = BUF_INIT(100);
    message_add_text(json_array_get(messages, 1), &text);
    CHECK_INT(json_array_size(messages), 2);
    CHECK_Z(buf_z(&text), "two\n\"quoted\"");
    CHECK_STR(store_text(again, "system_prompt"), STR("be kind"));
    CHECK_STR(store_text(again, "cwd"), STR("/w"));
    CHECK_STR(store_text(again, "title"), STR("a title"));
    CHECK_INT(json_array_size(store_notes(again)), 0);
    CHECK(!store_create(dir(), &spec, &s, &err));
    CHECK_ERR(&err, E_CONFLICT, "already exists");
}

TEST(store_has_one_writer)
{
    AUTO_ERR struct err err = {0};
    AUTO_STORE struct store *s = NULL, *other = NULL;
    struct store_spec spec = {.id = STR("s1")};
    if (!CHECK_OK(store_create(dir(), &spec, &s, &err), &err))
        return;
    char pid[32];
    snprintf(pid, sizeof(pid), "process %d", (int)getpid());
    CHECK(!store_open(dir(), "s1", STORE_WRITE, &other, &err));
    CHECK_ERR(&err, E_CONFLICT, "in use by ");
    CHECK_ERR(&err, E_CONFLICT, pid);
    CHECK_OK(store_open(dir(), "s1", STORE_READ, &other, &err), &err); /* readers need no lock */
    CHECK(!catalog_remove(dir(), "s1", &err));
    CHECK_ERR(&err, E_CONFLICT, "in use");
    test_write(test_path("in.json"), HEADER);
    CHECK(!import(test_path("in.json"), true, &err));
    CHECK_ERR(&err, E_CONFLICT, "in use");
    store_close(s);
    s = NULL;
    err_done(&err);
    CHECK_OK(catalog_remove(dir(), "s1", &err), &err);
    CHECK(access(test_path("sessions/s1.jsonl"), F_OK) != 0);
}

/* A file that was cut off anywhere loads without its last line, and is complete after the next
 * one. */
TEST(store_drops_a_torn_line)
{
    static const char whole[] = HEADER HELLO HELLO;
    AUTO_ERR struct err err = {0};
    size_t header = strlen(HEADER), line = strlen(HELLO);
    for (size_t n = header; n <= header + 2 * line; n++) {
        test_row(n, "bytes");
        char cut[sizeof(whole)];
        snprintf(cut, n + 1, "%s", whole);
        test_write(test_path("sessions/s1.jsonl"), cut);
        /* A line that lacks only its line break counts. */
        size_t want = (n - header + 1) / line;
        bool torn = n > header && (n - header) % line != 0 && (n - header) % line != line - 1;
        struct store *s = NULL;
        if (!CHECK_OK(store_open(dir(), "s1", STORE_WRITE, &s, &err), &err))
            return;
        CHECK_INT(json_array_size(store_all(s)), want);
        CHECK_INT(json_array_size(store_notes(s)), torn);
        CHECK_OK(append_text(s, "more", &err), &err);
        store_close(s);
        s = NULL;
        if (!CHECK_OK(store_open(dir(), "s1", STORE_READ, &s, &err), &err))
            return;
        CHECK_INT(json_array_size(store_all(s)), want + 1);
        CHECK_INT(json_array_size(store_notes(s)), 0);
        store_close(s);
    }
}

TEST(store_refuses_damage)
{
    static const struct {
        const char *content;
        const char *part;
    } rows[] = {
        {"", "is empty"},
        {"x\n", "s1.jsonl:1:1: "},
        {HEADER "{\"type\":\n" HELLO, "s1.jsonl:2:9: "},
        {HEADER HELLO "\n" HELLO, "s1.jsonl:3: empty"},
        {HEADER "[]\n" HELLO, "s1.jsonl:2: expected an object, not a list"},
        {HEADER "{}\n" HELLO, "s1.jsonl:2: 'type' is missing"},
        {HEADER "{\"type\":\"usr\"}\n", "s1.jsonl:2: type: 'usr' is unknown"},
        {HEADER "{\"type\":\"user\"}\n", "s1.jsonl:2: content: is missing"},
        {HEADER "{\"type\":\"title\"}\n", "s1.jsonl:2: 'title' is missing"},
        {HEADER "{\"type\":\"compaction\",\"keep\":-1}\n", "s1.jsonl:2: keep: "},
        {HEADER "{\"type\":\"compaction\",\"keep\":1}\n", "s1.jsonl:2: 'message' is missing"},
        {"{\"version\":2,\"id\":\"s1\",\"messages\":[]}\n", "s1.jsonl:1: version 2 of sessions"},
        {"{\"version\":\"1\",\"id\":\"s1\",\"messages\":[]}\n", "version: expected an integer"},
        {"{\"id\":\"s1\",\"messages\":[]}\n", "'version' is missing"},
        {"{\"version\":1,\"messages\":[]}\n", "'id' is missing"},
        {"{\"version\":1,\"id\":\"s2\",\"messages\":[]}\n", "contains session 's2'"},
        {"{\"version\":1,\"id\":\"s1\",\"messages\":{}}\n", "messages: expected a list"},
        {"{\"version\":1,\"id\":\"s1\",\"messages\":[{}]}\n", "belong on the following lines"},
        {"{\"version\":1,\"id\":\"s1\",\"messages\":[],\"title\":1}\n", "title: expected a string"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_STORE struct store *s = NULL;
        test_row(i, rows[i].part);
        test_write(test_path("sessions/s1.jsonl"), rows[i].content);
        CHECK(!store_open(dir(), "s1", STORE_WRITE, &s, &err));
        CHECK_ERR(&err, E_CONFIG, rows[i].part);
        /* Listing continues, and reports it. */
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        struct catalog c = {0};
        AUTO_ERR struct err none = {0};
        CHECK_OK(catalog_load(dir(), &a, &c, &none), &none);
        CHECK_INT(c.n, 1);
    }
}

TEST(store_ids)
{
    static const struct {
        const char *id;
        bool valid;
    } rows[] = {
        {"a", true},
        {"session-id", true},
        {"3f2a91c0-0000-4000-8000-000000000000", true},
        {"a.b_c-D9", true},
        {"", false},
        {".", false},
        {"..", false},
        {".a", false},
        {"-a", false},
        {"_a", false},
        {"a/b", false},
        {"../a", false},
        {"a b", false},
        {"a\nb", false},
        {"\xc3\xa4", false},
        {"a.json", false},
        {"a.jsonl", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].id);
        CHECK(store_id_valid(str_z(rows[i].id)) == rows[i].valid);
    }
    char longest[STORE_ID_MAX + 2];
    memset(longest, 'x', sizeof(longest));
    CHECK(store_id_valid(str_n(longest, STORE_ID_MAX)));
    CHECK(!store_id_valid(str_n(longest, STORE_ID_MAX + 1)));
}

TEST(store_finds_by_prefix)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    static const char *const names[] = {"abc1", "abd2", "abc", "zebra"};
    const char *id = NULL;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        test_write(test_path("sessions/%s.jsonl", names[i]), HEADER);
    CHECK_OK(catalog_find(dir(), STR("abc"), &a, &id, &err), &err); /* exact, though not alone */
    CHECK_Z(id, "abc");
    CHECK_OK(catalog_find(dir(), STR("z"), &a, &id, &err), &err);
    CHECK_Z(id, "zebra");
    CHECK(!catalog_find(dir(), STR("ab"), &a, &id, &err));
    CHECK_ERR(&err, E_CONFLICT, "3 sessions start with 'ab'");
    CHECK(!catalog_find(dir(), STR("zebro"), &a, &id, &err));
    CHECK_ERR(&err, E_NOT_FOUND, "did you mean 'zebra'?");
    CHECK(!catalog_find(dir(), STR("../x"), &a, &id, &err));
    CHECK_ERR(&err, E_NOT_FOUND, "is not a valid session id");
    CHECK(!catalog_find(test_path("none"), STR("x"), &a, &id, &err));
    CHECK_ERR(&err, E_NOT_FOUND, "no such session 'x'");
}

/* Calls without a result get one once, which is reported once. */
TEST(store_settles_open_calls)
{
    AUTO_ERR struct err err = {0};
    struct store *s = NULL;
    struct store_spec spec = {.id = STR("s1")};
    AUTO_JSON json_t *call = a_call("x");
    if (!CHECK_OK(store_create(dir(), &spec, &s, &err), &err))
        return;
    CHECK_OK(append_text(s, "list", &err) && store_append(s, call, &err), &err);
    store_close(s);
    for (int i = 0; i < 2; i++) {
        test_row((size_t)i, "opened");
        if (!CHECK_OK(store_open(dir(), "s1", STORE_WRITE, &s, &err), &err))
            return;
        CHECK_INT(json_array_size(store_all(s)), 3);
        CHECK_INT(json_array_size(store_notes(s)), i == 0);
        store_close(s);
    }
}

TEST(store_counts_after_compaction)
{
    AUTO_ERR struct err err = {0};
    struct store *s = NULL;
    struct store_spec spec = {.id = STR("s1")};
    AUTO_JSON json_t *summary = message_user(STR("so far"));
    AUTO_BUF struct buf first = BUF_INIT(1 << 20), second = BUF_INIT(1 << 20);
    if (!CHECK_OK(store_create(dir(), &spec, &s, &err), &err))
        return;
    bool ok = append_text(s, "1", &err) && append_text(s, "2", &err) && append_text(s, "3", &err) &&
              store_note_compaction(s, summary, 1, &err) && append_text(s, "4", &err) &&
              store_note_compaction(s, summary, 0, &err) && append_text(s, "5", &err);
    CHECK_OK(ok, &err);
    store_close(s);
    export("s1", &first);
    test_write(test_path("in.json"), buf_z(&first));
    CHECK_OK(import(test_path("in.json"), true, &err), &err);
    export("s1", &second);
    CHECK_STR(buf_str(&second), buf_str(&first));
    if (!CHECK_OK(store_open(dir(), "s1", STORE_READ, &s, &err), &err))
        return;
    AUTO_JSON json_t *messages = store_messages(s);
    CHECK_INT(json_array_size(messages), 2);
    CHECK_INT(json_array_size(store_all(s)), 5);
    CHECK(json_equal(json_array_get(messages, 0), summary));
    store_close(s);
}

/* export -> import -> export, with unknown keys at each level and in any order. */
TEST(exchange_is_byte_stable)
{
    static const char *const rows[] = {
        "{\"version\":1,\"id\":\"s1\",\"messages\":[]}",
        "{\"z\":null,\"messages\":[{\"type\":\"user\",\"x\":{\"y\":[1,2.5,\"\\u00e9\"]},"
        "\"content\":[{"
        "\"type\":\"text\",\"text\":\"hi\",\"cache\":true}],\"timestamp\":\"2026-02-18T12:00:00+02:"
        "00\"}],\"id\":\"s1\",\"version\":1,\"updated_at\":\"2026-02-19T00:00:00Z\",\"a\":[[]]}",
        "{\"version\":1,\"id\":\"s1\",\"created_at\":\"2026-02-18T12:00:00Z\",\"messages\":[{"
        "\"type\":"
        "\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"h\",\"signature\":\"s=\"}"
        ",{"
        "\"type\":\"redacted_thinking\",\"data\":\"d\"}]}],\"compactions\":[{\"at\":1,\"keep\":0,"
        "\"why\":2,\"message\":{\"type\":\"user\",\"content\":[]}}],\"title\":\"t\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf first = BUF_INIT(1 << 20), second = BUF_INIT(1 << 20);
        test_row(i, "");
        test_write(test_path("in.json"), rows[i]);
        if (!CHECK_OK(import(test_path("in.json"), true, &err), &err))
            continue;
        export("s1", &first);
        test_write(test_path("in.json"), buf_z(&first));
        CHECK_OK(import(test_path("in.json"), true, &err), &err);
        export("s1", &second);
        CHECK_STR(buf_str(&second), buf_str(&first));
        AUTO_JSON json_t *given = NULL, *got = NULL;
        CHECK_OK(json_parse(str_z(rows[i]), "", E_CONFIG, &given, &err), &err);
        CHECK_OK(json_parse(buf_str(&first), "", E_CONFIG, &got, &err), &err);
        CHECK(i == 0 || i == 2 || json_equal(given, got));
        /* The same keys, in the same order. */
        AUTO_BUF struct buf want = BUF_INIT(1 << 20), have = BUF_INIT(1 << 20);
        json_object_update_existing(got, given);
        json_add_compact(&want, given);
        json_add_compact(&have, got);
        CHECK_STR(buf_str(&have), buf_str(&want));
    }
}

TEST(exchange_refuses)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"", "in.json: empty"},
        {"{", "in.json:1:2: "},
        {"[]", "in.json: expected an object, not a list"},
        {"{\"version\":1,\"id\":\"s1\",\n\"messages\":[{]}", "in.json:2:14: "},
        {"{\"version\":1,\"id\":\"s1\",\"messages\":[\n{\"type\":\"user\",\"content\":[]},,{}]}",
            "in.json:2:30: "},
        {"{\"version\":1,\"id\":\"s1\",\"messages\":[],\n\"a\":1,\"a\":2}",
            "in.json:2:7: duplicate"},
        {"{\"version\":1,\"id\":\"s1\",\"messages\":[],\"messages\":[]}", "duplicate"},
        {"{\"version\":3,\"id\":\"s1\",\"messages\":[]}", "in.json: version 3 of sessions"},
        {"{\"version\":1,\"id\":\"../s1\",\"messages\":[]}",
            "in.json: id: '../s1' is not a valid session id"},
        {"{\"version\":1,\"id\":\"s1\",\"messages\":[{}]}", "in.json: messages[0]: "},
        {"{\"version\":1,\"id\":\"s1\",\"messages\":[{\"type\":\"user\",\"content\":[{\"type\":"
         "\"tool_"
         "call\",\"id\":\"x\",\"name\":\"y\",\"arguments\":{}}]}]}",
            "in.json: messages[0]: content[0]"},
        {"{\"version\":1,\"id\":\"s1\",\"messages\":[],\"compactions\":[{\"at\":1}]}",
            "in.json: compactions[0]: at: there are only 0 messages"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i].part);
        test_write(test_path("in.json"), rows[i].text);
        CHECK(!import(test_path("in.json"), false, &err));
        CHECK_ERR(&err, E_CONFIG, rows[i].part);
        CHECK(access(test_path("sessions/s1.jsonl"), F_OK) != 0);
    }
}

/* A file that is one envelope: modified, left by a crash, closed. */
TEST(store_works_on_an_envelope)
{
    AUTO_ERR struct err err = {0};
    struct store *s = NULL, *other = NULL;
    const char *path = test_path("a.json"), *log = test_path(".a.json.jsonl");
    struct store_spec spec = {.path = path, .id = STR("s1")};
    if (!CHECK_OK(store_create(dir(), &spec, &s, &err), &err))
        return;
    CHECK_OK(append_text(s, "one", &err), &err);
    CHECK_OK(store_finish(s, &err), &err);
    AUTO_FREE char *before = test_read(path);
    CHECK(before && strstr(before, "\"one\"") && access(log, F_OK) != 0);

    if (!CHECK_OK(store_open(dir(), path, STORE_WRITE, &s, &err), &err))
        return;
    CHECK(!store_open(dir(), path, STORE_WRITE, &other, &err));
    CHECK_ERR(&err, E_CONFLICT, "in use");
    err_done(&err);
    CHECK_OK(store_finish(s, &err), &err);
    AUTO_FREE char *same = test_read(path);
    CHECK_Z(same, before); /* no new message: not a byte changes */

    pid_t child = fork();
    if (child == 0) { /* dies with a message in the log */
        if (store_open(dir(), path, STORE_WRITE, &s, &err))
            (void)!append_text(s, "two", &err);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    if (!CHECK_OK(store_open(dir(), path, STORE_WRITE, &s, &err), &err))
        return;
    CHECK_INT(json_array_size(store_all(s)), 2);
    CHECK_INT(json_array_size(store_notes(s)), 1);
    CHECK_OK(store_finish(s, &err), &err);
    AUTO_FREE char *after = test_read(path);
    CHECK(after && strstr(after, "\"two\"") && access(log, F_OK) != 0);
}

TEST(exchange_forks)
{
    static const char lines[] = HEADER HELLO
        "{\"type\":\"assistant\",\"content\":[{\"type\":\"tool_call\",\"id\":\"x\",\"name\":\"ls\","
        "\"arguments\":{}}]}\n"
        "{\"type\":\"tool_result\",\"tool_call_id\":\"x\",\"content\":[]}\n" HELLO;
    static const size_t want[] = {0, 1, 3, 3, 4};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_STORE struct store *s = NULL;
        test_row(i, "messages");
        test_write(test_path("sessions/s1.jsonl"), lines);
        if (!CHECK_OK(exchange_fork(dir(), "s1", i, NULL, &s, &err), &err))
            continue;
        CHECK_INT(json_array_size(store_all(s)), want[i]);
        CHECK_INT(json_array_size(store_notes(s)), i == 2);
        CHECK(strcmp(store_id(s), "s1") != 0);
    }
    AUTO_ERR struct err err = {0};
    struct store *s = NULL;
    CHECK(!exchange_fork(dir(), "s1", 5, NULL, &s, &err));
    CHECK_ERR(&err, E_CLI_INVALID_ARG, "has 4 messages, not 5");
    CHECK(!exchange_fork(dir(), "s1", 1, "s1", &s, &err));
    CHECK_ERR(&err, E_CONFLICT, "already exists");
}

TEST(mask_takes_keys_out)
{
    static const struct {
        const char *key, *text, *want;
    } rows[] = {
        {"sk-ant-123456", "\"a sk-ant-123456 b\"", "\"a [masked] b\""},
        {"sk-ant-123456", "\"sk-ant-123456sk-ant-123456\"", "\"[masked][masked]\""},
        {"sk-ant-123456", "{\"sk-ant-123456\":[{\"a\":\"xsk-ant-123456\"}]}",
            "{\"[masked]\":[{\"a\":\"x[masked]\"}]}"},
        {"a\"b\\c/defg", "\"{\\\"k\\\":\\\"a\\\\\\\"b\\\\\\\\c/defg\\\"}\"",
            "\"{\\\"k\\\":\\\"[masked]\\\"}\""},
        {"abcd/efgh", "\"abcd\\\\/efgh\"", "\"[masked]\""},
        {"short", "\"a short text\"", "\"a short text\""},
        {"", "\"text\"", "\"text\""},
        {"12345678", "[12345678,true,null,\"1234567\"]", "[12345678,true,null,\"1234567\"]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO(mask_done) struct mask m = {0};
        AUTO_JSON json_t *tree = NULL;
        AUTO_BUF struct buf got = BUF_INIT(1000);
        test_row(i, rows[i].text);
        mask_add(&m, str_z(rows[i].key));
        if (!CHECK_OK(json_parse(str_z(rows[i].text), "", E_CONFIG, &tree, &err), &err))
            continue;
        AUTO_JSON json_t *clean = mask_tree(&m, tree);
        json_add_compact(&got, clean);
        CHECK_Z(buf_z(&got), rows[i].want);
    }
}

TEST(mask_takes_any_number_of_keys)
{
    AUTO(mask_done) struct mask m = {0};
    AUTO_BUF struct buf got = BUF_INIT(1000);
    for (int i = 0; i < 200; i++) {
        char key[64];
        snprintf(key, sizeof(key), "a\"key/number-%d", i);
        mask_add(&m, str_z(key));
    }
    mask_add_text(&m, STR("1 a\"key/number-0 2 a\"key/number-199 3"), &got);
    CHECK_Z(buf_z(&got), "1 [masked] 2 [masked] 3");
}

/* However a text is cut in two, keys are found, and nothing else is lost. */
TEST(mask_finds_keys_in_pieces)
{
    static const char *const texts[] = {"abcabcab", "abcabcabc", "xabcabcabcabcaby", "abcabca",
        "ab", "abc/abcab", "abc\\/abcab", ""};
    AUTO(mask_done) struct mask m = {0};
    mask_add(&m, STR("abcabcab"));
    mask_add(&m, STR("abc/abcab"));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (size_t cut = 0; cut <= strlen(texts[i]); cut++) {
            AUTO_BUF struct buf want = BUF_INIT(1000), got = BUF_INIT(1000), rest = BUF_INIT(1000);
            test_row(cut, texts[i]);
            mask_add_text(&m, str_z(texts[i]), &want);
            struct str first = str_head(str_z(texts[i]), cut);
            size_t open = mask_add_part(&m, first, &got);
            buf_add_str(&rest, str_skip(first, first.n - open));
            buf_add_z(&rest, texts[i] + cut);
            mask_add_text(&m, buf_str(&rest), &got);
            CHECK_Z(buf_z(&got), buf_z(&want));
        }
}

TEST(store_writes_nothing_that_it_could_not_read)
{
    AUTO_ERR struct err err = {0};
    AUTO_STORE struct store *s = NULL;
    struct store_spec spec = {.id = STR("s1")};
    json_t *nested = json_array();
    for (int i = 0; i < JSON_DEPTH_MAX - 2; i++) {
        json_t *outer = json_array();
        json_push(outer, nested);
        nested = outer;
    }
    AUTO_JSON json_t *message = message_user(STR("hi"));
    json_put(message, "more", nested);
    if (!CHECK_OK(store_create(dir(), &spec, &s, &err), &err))
        return;
    CHECK_OK(store_append(s, message, &err), &err);
    AUTO_JSON json_t *outer = json_object();
    json_put(outer, "even", json_incref(nested));
    json_put(message, "more", json_incref(outer));
    CHECK(!store_append(s, message, &err));
    CHECK_ERR(&err, E_IO, "could not be read back");
    CHECK_INT(json_array_size(store_all(s)), 1);
}

TEST(store_never_writes_a_key)
{
    AUTO_ERR struct err err = {0};
    struct store *s = NULL;
    struct store_spec spec = {
        .id = STR("s1"), .system_prompt = STR("use sk-ant-123456"), .hide = STR("sk-ant-123456")};
    if (!CHECK_OK(store_create(dir(), &spec, &s, &err), &err))
        return;
    store_hide(s, STR("another-key"));
    CHECK_OK(append_text(s, "env: KEY=sk-ant-123456, another-key", &err), &err);
    CHECK_OK(store_note_title(s, STR("another-key"), &err), &err);
    store_close(s);
    AUTO_FREE char *text = test_read(test_path("sessions/s1.jsonl"));
    CHECK(text && !strstr(text, "sk-ant-123456") && !strstr(text, "another-key"));
    CHECK(text && strstr(text, "env: KEY=[masked], [masked]"));
}

TEST(catalog_orders_and_keeps)
{
    AUTO_ERR struct err err = {0};
    enum {
        MANY = 100, /* enough for an index */
    };
    for (int i = 0; i < MANY; i++) {
        AUTO_BUF struct buf b = BUF_INIT(10000);
        buf_printf(&b,
            "{\"version\":1,\"id\":\"s%d\",\"messages\":[],\"cwd\":\"/w%d\"}\n"
            "{\"type\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\\n first %d\\nmore\"}],"
            "\"timestamp\":\"2026-02-18T12:00:%02d%s\"}\n",
            i, i % 2, i, i % 60, i < 60 ? "Z" : "-01:00");
        test_write(test_path("sessions/s%d.jsonl", i), buf_z(&b));
        struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        CHECK(utimensat(AT_FDCWD, test_path("sessions/s%d.jsonl", i), times, 0) == 0);
    }
    for (int round = 0; round < 3; round++) {
        AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
        struct catalog c = {0};
        test_row((size_t)round, "round");
        if (!CHECK_OK(catalog_load(dir(), &a, &c, &err), &err) || !CHECK_INT(c.n, MANY))
            return;
        CHECK_STR(c.entries[0].id, STR("s99")); /* an hour later than s39 */
        CHECK_STR(c.entries[40].id, STR("s59"));
        CHECK_STR(c.entries[0].title, STR("first 99"));
        CHECK_INT(c.entries[0].messages, round == 2 ? 2 : 1);
        CHECK(access(test_path("sessions/index"), F_OK) == 0);
        struct str id;
        CHECK_OK(catalog_latest(dir(), STR("/w0"), &a, &id, &err), &err);
        CHECK_STR(id, STR("s98"));
        struct store *s = NULL; /* a file that changed is read again */
        if (round != 1 || !CHECK_OK(store_open(dir(), "s99", STORE_WRITE, &s, &err), &err))
            continue;
        CHECK_OK(append_text(s, "now", &err), &err);
        store_close(s);
    }
    test_write(test_path("sessions/index"), "no index\n{}\n\xff"); /* nothing depends on it */
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    struct catalog c = {0};
    CHECK_OK(catalog_load(dir(), &a, &c, &err), &err);
    CHECK_INT(c.n, MANY);
    CHECK_STR(c.entries[1].title, STR("first 98"));
}
