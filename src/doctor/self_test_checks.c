/* Checks of `cordon self-test`, one function each. Each refusal has a control: the same act works
 * outside. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/json.h"
#include "doctor/self_test.h"
#include "llm/certs.h"
#include "llm/curl.h"
#include "sandbox/machine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#define ASK(bed, answer, ...) bed_ask(bed, (const char *const[]){__VA_ARGS__, NULL}, answer)
#define ACT(bed, answer, act, argument) \
    ASK(bed, answer, "exec", "--pipes", "--", (bed)->self, SELF_TEST_ACT, act, argument)

static struct outcome outcome_ok(const char *detail)
{
    return (struct outcome){.status = OUTCOME_OK, .detail = detail};
}

static struct outcome outcome_weaker(const char *detail, const char *remedy)
{
    return (struct outcome){.status = OUTCOME_WEAKER, .detail = detail, .remedy = remedy};
}

static struct outcome outcome_failed(const char *detail, const char *remedy)
{
    return (struct outcome){.status = OUTCOME_FAILED, .detail = detail, .remedy = remedy};
}

/* Outcome of a run that should have succeeded. */
static struct outcome outcome_unanswered(
    struct bed *bed, const char *what, const struct self_test_answer *a)
{
    return outcome_failed(arena_printf(bed->arena, "%s: %s", what, a->error), a->remedy);
}

static bool self_test_contains(struct str text, const char *word)
{
    return text.n && memmem(text.p, text.n, word, strlen(word)) != NULL;
}

static bool self_test_is_refused(const struct self_test_answer *a)
{
    return a->status == 0 && str_starts_with(a->out, STR("refused: "));
}

static const char *self_test_path_in(struct bed *bed, const char *dir, const char *name)
{
    return arena_printf(bed->arena, "%s/%s", dir, name);
}

/* Directories ---------------------------------------------------------------------------------- */

static struct outcome self_test_temporary(struct bed *bed)
{
    if (bed->base_why)
        return outcome_weaker(
            arena_printf(bed->arena, "TMPDIR cannot be used (%s); used instead: %s", bed->base_why,
                bed->base),
            "create that directory, or unset TMPDIR");
    return outcome_ok(arena_printf(bed->arena, "%s is writable", bed->base));
}

/* The path itself, or its closest parent directory that exists. */
static const char *self_test_existing_parent(struct bed *bed, const char *path)
{
    struct str rest = str_trim_end(str_z(path), '/');
    while (rest.n && access(arena_strdup(bed->arena, rest), F_OK) != 0 && errno == ENOENT)
        rest = str_head(rest, (size_t)MAX(str_find_last(rest, '/'), 0));
    return rest.n ? arena_strdup(bed->arena, rest) : "/";
}

static struct outcome self_test_state(struct bed *bed)
{
    static const char remedy[] = "set CORDON_HOME to a writable directory";
    if (!bed->state)
        return outcome_failed(bed->state_error, remedy);
    const char *path = arena_strdup(bed->arena, str_trim_end(str_z(bed->state), '/'));
    const char *place = self_test_existing_parent(bed, path);
    char *probe = arena_printf(bed->arena, "%s/.cordon-self-test-XXXXXX", place);
    int problem = mkdtemp(probe) && rmdir(probe) == 0 ? 0 : errno;
    if (problem)
        return outcome_failed(
            arena_printf(bed->arena, "boxes and sessions cannot be stored in '%s': '%s': %s", path,
                place, strerror(problem)),
            remedy);
    return outcome_ok(arena_printf(bed->arena, "%s is writable", path));
}

/* Sandbox -------------------------------------------------------------------------------------- */

static struct outcome self_test_sandbox(struct bed *bed)
{
    struct self_test_answer a;
    ASK(bed, &a, "exec", "--json", "--", bed->self, SELF_TEST_ACT, "hello", "there");
    if (a.status != 0 || !self_test_contains(a.out, "hello there")) {
        bed->no_sandbox = a.status != 0 ? a.error : "the command's output is missing";
        return outcome_failed(bed->no_sandbox, a.remedy ? a.remedy : "see 'cordon doctor'");
    }
    return outcome_ok(
        arena_printf(bed->arena, "a command ran in the sandbox as %s, with Landlock ABI %d",
            geteuid() == 0 ? "root" : "this user", machine_get()->landlock_abi));
}

/* Listens on loopback; returns -1 on failure. */
static int listen_here(struct sockaddr_in *ret_at)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&at, size) != 0 || listen(fd, 4) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) != 0)
        return -1;
    *ret_at = at;
    return TAKE_FD(fd);
}

static bool self_test_is_reached(int listener)
{
    AUTO_FD int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    return fd >= 0;
}

static struct outcome self_test_network(struct bed *bed)
{
    struct sockaddr_in at;
    struct self_test_answer a;
    AUTO_FD int listener = listen_here(&at);
    AUTO_FD int control = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || control < 0 ||
        connect(control, (const struct sockaddr *)&at, sizeof(at)) != 0 ||
        !self_test_is_reached(listener))
        return outcome_weaker(
            "cannot be tested: this machine's own loopback interface does not work",
            "ip link set lo up");
    ACT(bed, &a, "connect", arena_printf(bed->arena, "%d", ntohs(at.sin_port)));
    if (self_test_is_reached(listener) || self_test_contains(a.out, "connected"))
        return outcome_failed(
            "a confined command reached a listener on this machine's loopback", NULL);
    if (!self_test_is_refused(&a))
        return outcome_unanswered(bed, "exec", &a);
    return outcome_ok("off: a listener that is reachable outside was not reached");
}

static struct outcome self_test_outside(struct bed *bed)
{
    const char *secret = self_test_path_in(bed, bed->outside, "secret"),
               *fresh = self_test_path_in(bed, bed->outside, "fresh");
    const char *mine = self_test_path_in(bed, bed->project, "mine");
    const struct {
        const char *act, *path;
        bool allowed;
    } rows[] = {{"read", mine, true}, {"read", secret, false}, {"write", secret, false},
        {"write", fresh, false}, {"write", mine, false}};
    if (!bed_write(secret, STR("secret\n")) || !bed_write(mine, STR("mine\n")))
        return outcome_failed("cannot write files in the temporary directory", NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct self_test_answer a;
        ACT(bed, &a, rows[i].act, rows[i].path);
        if (a.status != 0)
            return outcome_unanswered(bed, "exec", &a);
        if (self_test_is_refused(&a) == rows[i].allowed)
            return outcome_failed(
                arena_printf(bed->arena, "a confined command %s %s '%s'",
                    rows[i].allowed ? "cannot" : "could", rows[i].act, rows[i].path),
                NULL);
    }
    if (!str_is(bed_read(bed, secret), "secret\n") || access(fresh, F_OK) == 0)
        return outcome_failed("files outside the sandbox were changed", NULL);
    return outcome_ok("neither read nor written; the project is read-only by default");
}

enum {
    LIMIT_PROCESSES = 24,
    TRIED_PROCESSES = 96,
    TRIED_MEMORY_GIB = 8, /* the default limit is 4 */
};

static bool write_json(const char *path, json_t *tree)
{
    AUTO_BUF struct buf text = BUF_INIT(1 << 16);
    AUTO_JSON json_t *own = tree;
    json_add_pretty(&text, own);
    return buf_ok(&text) && bed_write(path, buf_str(&text));
}

static struct outcome self_test_limits(struct bed *bed)
{
    const char *policy = self_test_path_in(bed, bed->home, "limits.json");
    const char *bytes = arena_printf(bed->arena, "%lld", (long long)TRIED_MEMORY_GIB << 30);
    struct self_test_answer a;
    if (!write_json(
            policy, json_pack("{s:i, s:{s:[s]}, s:{s:i}}", "policy_version", 4, "exec",
                        "allowed_executables", bed->self, "limits", "processes", LIMIT_PROCESSES)))
        return outcome_failed("cannot write files in the temporary directory", NULL);
    ASK(bed, &a, "exec", "--policy", policy, "--pipes", "--", bed->self, SELF_TEST_ACT, "fork",
        arena_printf(bed->arena, "%d", TRIED_PROCESSES));
    if (a.status == err_status(E_SANDBOX_UNAVAILABLE))
        return outcome_weaker(arena_printf(bed->arena, "processes: %s", a.error), a.remedy);
    if (a.status != 0 || !self_test_contains(a.out, "forked "))
        return outcome_unanswered(bed, "exec", &a);
    if (self_test_contains(a.out, arena_printf(bed->arena, "forked %d", TRIED_PROCESSES)))
        return outcome_failed("a confined command could start more processes than its limit", NULL);
    ACT(bed, &a, "memory", bytes);
    if (a.status != 0)
        return outcome_unanswered(bed, "exec", &a);
    if (!self_test_is_refused(&a))
        return outcome_failed("a confined command could use more memory than its limit", NULL);
    return outcome_ok("processes and memory are limited");
}

/* Terminals ------------------------------------------------------------------------------------ */

/* Waits for the question before answering it, so that every run has the same screens. */
static const char scenario_text[] =
    "{\"scenario_version\": 1, \"run\": {\"args\": [\"" SELF_TEST_ACT
    "\", \"answer\", \"question?\"]}, \"steps\": [{\"id\": \"wait\", \"action\": "
    "{\"type\": \"wait\", \"payload\": {\"condition\": {\"type\": "
    "\"screen_contains\", \"payload\": {\"text\": \"question?\"}}}}},{\"id\": "
    "\"type\", \"action\": {\"type\": \"text\", \"payload\": {\"text\": "
    "\"ping\\r\"}}, \"assert\": [{\"type\": \"screen_contains\", \"payload\": "
    "{\"text\": \"answer: ping\"}}, {\"type\": \"exit_code\", \"payload\": {\"code\": "
    "0}}]}]}";

/* Parses a built-in document. */
static json_t *self_test_parse_json(const char *text)
{
    AUTO_ERR struct err err = {0};
    json_t *tree = NULL;
    BUG_ON(!json_parse(str_z(text), "self-test", E_INTERNAL, &tree, &err));
    return tree;
}

static json_t *scenario_json(const struct bed *bed)
{
    json_t *scenario = self_test_parse_json(scenario_text);
    json_put(json_object_get(scenario, "run"), "command", json_text(str_z(bed->self)));
    return scenario;
}

static struct outcome self_test_terminal(struct bed *bed)
{
    const char *scenario = self_test_path_in(bed, bed->project, "self-test.scenario.json");
    struct self_test_answer a;
    if (!write_json(scenario, scenario_json(bed)))
        return outcome_failed("cannot write files in the temporary directory", NULL);
    ASK(bed, &a, "run", "--json", "--artifacts", self_test_path_in(bed, bed->home, "record"),
        scenario);
    return a.status == 0 ? outcome_ok("a program was driven and its screen was read")
                         : outcome_unanswered(bed, "run", &a);
}

static struct outcome self_test_replay(struct bed *bed)
{
    const char *record = self_test_path_in(bed, bed->home, "record");
    struct self_test_answer a;
    if (access(record, F_OK) != 0)
        return outcome_failed("no recording, because the terminal check failed", NULL);
    ASK(bed, &a, "replay", "--json", "--offline", "--artifacts", record);
    if (a.status != 0)
        return outcome_unanswered(bed, "replay --offline", &a);
    /* The program may be in any directory. */
    ASK(bed, &a, "replay", "--json", "--ack-unsafe-read", "--artifacts", record);
    return a.status == 0 ? outcome_ok("the recording was repeated with the same result")
                         : outcome_unanswered(bed, "replay", &a);
}

/* Tools and agent ------------------------------------------------------------------------------ */

static struct outcome self_test_files(struct bed *bed)
{
    struct self_test_answer a;
    ASK(bed, &a, "tool", "write_file", "--json",
        "{\"path\": \"notes\", \"content\": \"a needle\\n\"}");
    if (a.status != 0)
        return outcome_unanswered(bed, "write_file", &a);
    if (!str_is(bed_read(bed, self_test_path_in(bed, bed->project, "notes")), "a needle\n"))
        return outcome_failed("write_file did not write the file", NULL);
    ASK(bed, &a, "tool", "read_file", "--json", "{\"path\": \"notes\"}");
    if (a.status != 0 || !self_test_contains(a.out, "a needle"))
        return outcome_unanswered(bed, "read_file", &a);
    ASK(bed, &a, "tool", "read_file", "--json", "{\"path\": \"../outside/secret\"}");
    if (a.status != err_status(E_FS_VIOLATION))
        return outcome_failed("read_file did not refuse a path that leaves the project", NULL);
    return outcome_ok("files are read and written; a path outside the project is refused");
}

static struct outcome self_test_search(struct bed *bed)
{
    struct self_test_answer a;
    ASK(bed, &a, "tool", "grep_files", "--json", "{\"pattern\": \"n[e]+dle\"}");
    if (a.status != 0 || !self_test_contains(a.out, "notes"))
        return outcome_unanswered(bed, "grep_files", &a);
    return outcome_ok("grep_files finds a line");
}

static struct outcome self_test_shell(struct bed *bed)
{
    struct self_test_answer a;
    if (access("/bin/sh", X_OK) != 0 && access("/usr/bin/sh", X_OK) != 0)
        return outcome_weaker("no shell found, so models cannot run commands", "install a shell");
    ASK(bed, &a, "tool", "shell", "--json", "{\"command\": \"echo six $((2 * 3))\"}");
    if (a.status != 0 || !self_test_contains(a.out, "six 6"))
        return outcome_unanswered(bed, "shell", &a);
    return outcome_ok("a command line runs");
}

static struct outcome self_test_agent(struct bed *bed)
{
    const char *script = self_test_path_in(bed, bed->home, "script.json");
    struct self_test_answer a;
    if (!write_json(
            script, json_pack("{s:i, s:[{s:[{s:{s:s, s:{s:s, s:s}}}]}, {s:[{s:s}]}]}", "version", 1,
                        "turns", "content", "tool_call", "name", "write_file", "arguments", "path",
                        "by-agent", "content", "done\n", "content", "text", "It is written.")))
        return outcome_failed("cannot write files in the temporary directory", NULL);
    ASK(bed, &a, "agent", "--json", "--provider", "scripted", "--script", script, "-p", "write it");
    if (a.status != 0 || !self_test_contains(a.out, "It is written."))
        return outcome_unanswered(bed, "agent", &a);
    if (!str_is(bed_read(bed, self_test_path_in(bed, bed->project, "by-agent")), "done\n"))
        return outcome_failed("the agent's tool did not write the file", NULL);
    return outcome_ok("a scripted model called a tool; the session was saved");
}

static struct outcome self_test_services(struct bed *bed)
{
    AUTO_ERR struct err err = {0};
    const struct curl *curl;
    if (!curl_get(&curl, &err))
        return outcome_weaker(arena_printf(bed->arena, "%s", err.message), NULL);
    if (!certs_find().any)
        return outcome_weaker("no CA certificates for https connections to services",
            "install them (on Debian: apt install ca-certificates), or set SSL_CERT_FILE to a "
            "file with certificates");
    return outcome_ok(arena_printf(bed->arena, STR_FMT, STR_ARG(curl_names(curl))));
}

/* Boxes ---------------------------------------------------------------------------------------- */

/* Runs the life cycle of a box. On failure *ret_step is the command that failed. */
static bool live_box(struct bed *bed, const char *name, const char *dir, struct self_test_answer *a,
    const char **ret_step)
{
    const char *file = self_test_path_in(bed, bed->project, name);
    const struct {
        const char *step;
        const char *const *words;
        const char *says;
    } rows[] = {
        {"box new",
            (const char *const[]){
                "box", "new", name, dir, "--agent", "test", "--no-start", "--yes", "--json", NULL},
            ""},
        {"box exec",
            (const char *const[]){
                "box", "exec", name, bed->self, SELF_TEST_ACT, "write", file, NULL},
            "wrote"},
        {"box diff", (const char *const[]){"box", "diff", name, NULL}, "+written"},
        {"box apply", (const char *const[]){"box", "apply", name, "--yes", "--json", NULL}, ""},
        {"box destroy", (const char *const[]){"box", "destroy", name, "--yes", "--json", NULL}, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool early = i < 3; /* the project must be unchanged */
        *ret_step = rows[i].step;
        bed_ask(bed, rows[i].words, a);
        if (a->status != 0 || !self_test_contains(a->out, rows[i].says))
            return false;
        if (early && access(file, F_OK) == 0) {
            a->error = "the project was changed before 'box apply'";
            return false;
        }
    }
    *ret_step = "box apply";
    a->error = "the box's change is not in the project";
    return str_is(bed_read(bed, file), "written\n");
}

static struct outcome try_box(struct bed *bed, const char *name, const char *mode)
{
    struct self_test_answer a, ignored;
    const char *step;
    if (live_box(bed, name, arena_printf(bed->arena, "%s:%s", bed->project, mode), &a, &step))
        return outcome_ok("created, changed, compared, applied and destroyed");
    ASK(bed, &ignored, "box", "destroy", name, "--yes", "--abandon-unapplied");
    return outcome_unanswered(bed, step, &a);
}

static struct outcome self_test_box_copy(struct bed *bed)
{
    return try_box(bed, "self-test-copy", "copy");
}

/* Not every kernel and file system supports overlays; copies work without. */
static struct outcome self_test_box_overlay(struct bed *bed)
{
    struct outcome o = try_box(bed, "self-test-overlay", "overlay");
    if (o.status == OUTCOME_FAILED)
        o = outcome_weaker(o.detail, o.remedy ? o.remedy : "use ':copy'; see 'cordon box doctor'");
    return o;
}

const struct self_test_check self_test_checks[] = {
    {"temporary files", false, self_test_temporary},
    {"state", false, self_test_state},
    {"sandbox", false, self_test_sandbox},
    {"network", true, self_test_network},
    {"files outside", true, self_test_outside},
    {"limits", true, self_test_limits},
    {"terminal", true, self_test_terminal},
    {"replay", true, self_test_replay},
    {"file tools", false, self_test_files},
    {"search tool", false, self_test_search},
    {"shell tool", true, self_test_shell},
    {"agent", false, self_test_agent},
    {"box, copy", true, self_test_box_copy},
    {"box, overlay", true, self_test_box_overlay},
    {"model services", false, self_test_services},
};
const size_t n_self_test_checks = ARRAY_LEN(self_test_checks);

struct outcome self_test_run(struct bed *bed, const struct self_test_check *check)
{
    if (check->in_sandbox && bed->no_sandbox)
        return outcome_failed(
            "requires the sandbox, which does not work here", "see 'sandbox' above");
    if (clock_mono_ms() >= bed->until_ms)
        return outcome_failed("not run: the time limit for all checks has passed",
            "try again when the machine is less busy");
    return check->run(bed);
}
