/* Scenarios and commands, run from start to end in one call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "io/file.h"
#include "path/lexical.h"
#include "policy/load.h"
#include "policy/preset.h"
#include "run/run_result.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
    TEXT_MAX = 64 * 1024,
    INPUT_MAX = 256 << 20,
};

/* Scenarios ----------------------------------------------------------------------------------- */

static void pass_progress(void *context, const struct runner_progress *now)
{
    const struct api_call *c = context;
    AUTO_BUF struct buf id = BUF_INIT(TEXT_MAX), name = BUF_INIT(TEXT_MAX);
    buf_add_str(&id, str_head(now->step->id, TEXT_MAX - 1));
    buf_add_str(&name, str_head(now->step->name, TEXT_MAX - 1));
    const struct cordon_progress progress = {
        .index = now->index,
        .count = c->n_steps,
        .step_id = buf_z(&id),
        .name = buf_z(&name),
        .status = now->begins ? NULL : step_status_name(now->status),
        .duration_ms = now->duration_ms,
        .error_code = now->error ? err_name(now->error->code) : NULL,
        .error_message = now->error ? now->error->message : NULL,
    };
    c->options.progress(c->options.context, &progress);
}

static bool api_run_scenario(
    struct api_call *c, const struct scenario *s, json_t **ret_json, struct err *err)
{
    const struct runner_options options = {
        .cells = c->options.cells != 0,
        .cancel = api_cancel_fd(c),
        .progress = c->options.progress ? pass_progress : NULL,
        .output = api_output(c),
        .context = c,
    };
    struct runner_result result;
    const struct policy *given = c->p.given;
    prepare_scenario(&c->p, s);
    if (given) {
        c->p.given = given;
        c->p.author = CONSENT_USER;
    }
    c->n_steps = s->n_steps;
    if (!prepare_policy(&c->p, err) || !runner_check(s, &c->p.confined.policy, err) ||
        !prepare_run(&c->p, err) || !job_run(&c->p, s, &options, &result, err))
        return false;
    job_run_end(&c->p, s, &result, ret_json);
    runner_result_done(&result);
    return true;
}

static struct cordon_result *call_scenario(bool file, const char *text,
    const struct cordon_run_options *options, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    struct api_call c;
    struct scenario s = {0};
    json_t *json = NULL;
    bool ok = api_call_begin(&c, options, &err) && api_given(file ? "path" : "text", text, &err) &&
              (file ? scenario_load(text, &c.arena, &s, &err)
                    : scenario_parse(str_z(text), "scenario", &c.arena, &s, &err)) &&
              api_run_scenario(&c, &s, &json, &err);
    scenario_done(&s);
    api_call_done(&c);
    if (!ok)
        api_give_error(&err, error);
    return ok ? api_result_new(json) : NULL;
}

struct cordon_result *cordon_run_scenario(
    const char *text, const struct cordon_run_options *options, struct cordon_error *error)
{
    return call_scenario(false, text, options, error);
}

struct cordon_result *cordon_run_scenario_file(
    const char *path, const struct cordon_run_options *options, struct cordon_error *error)
{
    return call_scenario(true, path, options, error);
}

/* Commands ------------------------------------------------------------------------------------ */

/* A file with the bytes, in memory. */
static bool api_open_bytes(const void *bytes, size_t n, int *ret_fd, struct err *err)
{
    if (n > INPUT_MAX)
        return err_set(err, E_CLI_INVALID_ARG, "the input is larger than %d bytes", INPUT_MAX);
    AUTO_FD int fd = memfd_create("cordon-input", MFD_CLOEXEC);
    if (fd < 0 || !file_write_all(fd, str_n(bytes, n)) || lseek(fd, 0, SEEK_SET) != 0)
        return err_errno(err, E_IO, errno, "cannot prepare the command's input");
    *ret_fd = TAKE_FD(fd);
    return true;
}

static bool api_check_input(int fd, struct err *err)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_PATH) || fstat(fd, &st) != 0)
        return err_set(err, E_CLI_INVALID_ARG, "input_fd is not an open descriptor: %d", fd);
    if ((flags & O_ACCMODE) == O_WRONLY)
        return err_set(err, E_CLI_INVALID_ARG, "input_fd is not open for reading: %d", fd);
    return !S_ISDIR(st.st_mode) ||
           err_set(err, E_CLI_INVALID_ARG, "input_fd is a directory: %d", fd);
}

bool api_open_input(const struct api_input *input, int *own, int *ret_fd, struct err *err)
{
    if (!input->bytes && input->n)
        return err_set(err, E_CLI_INVALID_ARG, "input_size requires input");
    if (input->bytes && input->fd)
        return err_set(err, E_CLI_INVALID_ARG, "input and input_fd cannot be combined");
    if (input->fd && !api_check_input(*input->fd, err))
        return false;
    if (input->bytes && !api_open_bytes(input->bytes, input->n, own, err))
        return false;
    *ret_fd = input->fd ? *input->fd : *own;
    return true;
}

static bool api_run_exec(
    struct api_call *c, const struct cordon_command *command, json_t **ret_json, struct err *err)
{
    struct cordon_command own;
    struct observed_exec done;
    AUTO_FD int bytes = -1;
    int input = -1;
    if (!api_call_command(c, command, &own, err))
        return false;
    const struct api_input given = {own.input, own.input_size, own.input_fd};
    if (!api_open_input(&given, &bytes, &input, err))
        return false;
    const struct exec_options options = {
        .terminal = !own.pipes,
        .pipe_input = !own.pipes,
        .input = input,
        .output = {-1, -1},
        .signals = -1,
        .cancel = api_cancel_fd(c),
        .rows = own.rows,
        .cols = own.cols,
        .seen = api_output(c),
        .context = c,
    };
    if (!prepare_policy(&c->p, err) || !prepare_run(&c->p, err) ||
        !job_exec(&c->p, &options, true, &done, err))
        return false;
    job_exec_end(&c->p, &done, ret_json);
    observed_exec_done(&done);
    return true;
}

struct cordon_result *cordon_run_exec(const struct cordon_command *command,
    const struct cordon_run_options *options, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    struct api_call c;
    json_t *json = NULL;
    bool ok = api_call_begin(&c, options, &err) && api_run_exec(&c, command, &json, &err);
    api_call_done(&c);
    if (!ok)
        api_give_error(&err, error);
    return ok ? api_result_new(json) : NULL;
}

/* Presets ------------------------------------------------------------------------------------- */

const char *const *cordon_preset_names(void)
{
    return preset_names;
}

char *cordon_preset_policy(const char *name, const char *root, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)API_ARENA_MAX);
    struct str cwd;
    struct policy policy;
    bool ok =
        api_given("name", name, &err) && api_not_empty("root", root, &err) &&
        lexical_cwd(&a, &cwd, &err) &&
        preset_load(name, lexical_absolute(&a, cwd, root ? str_z(root) : cwd), &a, &policy, &err);
    return api_return_json(ok, ok ? policy_to_json(&policy) : NULL, &err, error);
}
