/* cordon serve-script: serve a script over HTTP, like a model's service. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "io/interrupt.h"
#include "llm/serve.h"

#include <errno.h>
#include <fcntl.h>

struct serve_script_options {
    int64_t port;
    const char *dialect;
    const char *log;
};

static const char *const dialects[] = {"anthropic", "openai", NULL};
static const struct voice *const voices[] = {&voice_anthropic, &voice_openai};

struct announcement {
    struct cli *cli;
    const struct voice *voice;
};

/* Flushes the output: clients wait for this line. */
static bool serve_script_announce(void *context, uint16_t port, struct err *err)
{
    const struct announcement *a = context;
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", (unsigned)port,
        a->voice == &voice_openai ? "/v1" : "");
    if (!a->cli->json) {
        out_line(a->cli, "listening on %s (%s); Ctrl-C ends it", url, a->voice->name);
    } else {
        json_t *object = json_object();
        json_put(object, "url", json_string(url));
        json_put(object, "port", json_integer(port));
        json_put(object, "dialect", json_string(a->voice->name));
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
    const struct voice *voice = voices[0];
    for (size_t i = 0; i < ARRAY_LEN(voices); i++)
        if (o->dialect && strcmp(voices[i]->name, o->dialect) == 0)
            voice = voices[i];
    struct announcement announcement = {cli, voice};
    struct script *script = NULL;
    AUTO_FD int log = -1;
    if (!open_log(o->log, &log, err) || !script_load(args->v[0], -1, &script, err))
        return false;
    sigset_t set;
    AUTO_FD int stop = interrupt_open(false, &set);
    const struct serve_options options = {
        .script = script,
        .voice = voice,
        .port = (uint16_t)o->port,
        .stop_fd = stop,
        .log_fd = log,
        .on_ready = serve_script_announce,
        .context = &announcement,
    };
    bool ok = serve_script(&options, err);
    interrupt_close(&set);
    script_free(script);
    return ok;
}

static const struct opt serve_script_opts[] = {
    OPT_INT("port", 0, struct serve_script_options, port, "N", 0, 65535,
        "where to listen on 127.0.0.1; any free port unless given"),
    OPT_ONE_OF("dialect", 0, struct serve_script_options, dialect, "NAME", dialects,
        "how to speak: anthropic unless given"),
    OPT_STRING("log", 0, struct serve_script_options, log, "FILE", ARG_FILE,
        "add a line of JSON for each request to this file, keys masked"),
};

static const struct example serve_script_examples[] = {
    {"cordon serve-script demo.json --port 8080", "then ANTHROPIC_BASE_URL=http://127.0.0.1:8080"},
    {"cordon serve-script demo.json --dialect openai --log requests.jsonl",
        "what does a client send?"},
};

const struct cmd cmd_serve_script = {
    .name = "serve-script",
    .summary = "answer as a model's service would, from a script",
    .about = "Plays a script of answers over HTTP on 127.0.0.1, with pieces, pauses and faults as "
             "the script says, so that clients can be tested against it. Ends when it is "
             "interrupted.",
    .usage = "SCRIPT",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_FILE,
    .minor = true,
    CMD_OPTS(serve_script_opts, struct serve_script_options),
    CMD_EXAMPLES(serve_script_examples),
    .run = run_serve_script,
};
