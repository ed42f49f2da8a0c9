/* cordon serve-script: serve a script over HTTP, like a model's service. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "io/interrupt.h"
#include "llm/script_server.h"

#include <errno.h>
#include <fcntl.h>

struct serve_script_options {
    int64_t port;
    const char *dialect;
    const char *log;
};

static const char *const dialects[] = {"anthropic", "openai", NULL};
static const struct script_dialect *const known_dialects[] = {&script_anthropic, &script_openai};

struct announcement {
    struct cli *cli;
    const struct script_dialect *dialect;
};

/* Flushes the output: clients wait for this line. */
static bool serve_script_announce(void *context, uint16_t port, struct err *err)
{
    const struct announcement *a = context;
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", (unsigned)port,
        a->dialect == &script_openai ? "/v1" : "");
    if (!a->cli->json) {
        out_line(a->cli, "listening on %s (%s); press Ctrl-C to stop", url, a->dialect->name);
    } else {
        json_t *object = json_object();
        json_put(object, "url", json_string(url));
        json_put(object, "port", json_integer(port));
        json_put(object, "dialect", json_string(a->dialect->name));
        if (!out_json(a->cli, object, err))
            return false;
    }
    return out_flush(a->cli, err);
}

static bool open_log(const char *path, int *ret_fd, struct err *err)
{
    if (!path)
        return true;
    *ret_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    return *ret_fd >= 0 || err_errno(err, E_IO, errno, "cannot write the log '%s'", path);
}

static bool run_serve_script(struct cli *cli, const struct args *args, struct err *err)
{
    const struct serve_script_options *o = args->options;
    const struct script_dialect *dialect = known_dialects[0];
    for (size_t i = 0; i < ARRAY_LEN(known_dialects); i++)
        if (o->dialect && strcmp(known_dialects[i]->name, o->dialect) == 0)
            dialect = known_dialects[i];
    struct announcement announcement = {cli, dialect};
    struct script *script = NULL;
    AUTO_FD int log = -1;
    if (!open_log(o->log, &log, err) || !script_load(args->v[0], -1, &script, err))
        return false;
    sigset_t set;
    AUTO_FD int stop = interrupt_open(false, &set);
    const struct script_server_options options = {
        .script = script,
        .dialect = dialect,
        .port = (uint16_t)o->port,
        .stop_fd = stop,
        .log_fd = log,
        .on_ready = serve_script_announce,
        .context = &announcement,
    };
    bool ok = script_server_run(&options, err);
    interrupt_close(&set);
    script_free(script);
    return ok;
}

static const struct opt serve_script_opts[] = {
    OPT_INT("port", 0, struct serve_script_options, port, "N", 0, 65535,
        "port to listen on at 127.0.0.1; default: any free port"),
    OPT_ONE_OF("dialect", 0, struct serve_script_options, dialect, "NAME", dialects,
        "protocol of the service: anthropic (default) or openai"),
    OPT_STRING("log", 0, struct serve_script_options, log, "FILE", ARG_FILE,
        "append a line of JSON for each request to this file, with keys masked"),
};

static const struct example serve_script_examples[] = {
    {"cordon serve-script demo.json --port 8080", "then ANTHROPIC_BASE_URL=http://127.0.0.1:8080"},
    {"cordon serve-script demo.json --dialect openai --log requests.jsonl",
        "log the requests of a client"},
};

const struct cmd cmd_serve_script = {
    .name = "serve-script",
    .summary = "serve a scripted model over HTTP",
    .about = "Serves the answers of a script over HTTP on 127.0.0.1, with the pieces, pauses "
             "and faults that the script specifies, so that clients can be tested. Runs until "
             "it is interrupted.",
    .usage = "SCRIPT",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_FILE,
    .minor = true,
    CMD_OPTS(serve_script_opts, struct serve_script_options),
    CMD_EXAMPLES(serve_script_examples),
    .run = run_serve_script,
};
