/* Code shared by calls that run something: structures, cancellation, preparation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "policy/load.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

enum {
    ROWS = 24,
    COLS = 80,
};

/* The last members of the first version. */
static const struct api_shape options_shape = API_SHAPE(cordon_run_options, cells);
static const struct api_shape command_shape = API_SHAPE(cordon_command, pipes);

struct cordon_cancel {
    int fd;
};

struct cordon_cancel *cordon_cancel_new(struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        err_errno(&err, E_IO, errno, "cannot create an eventfd");
        api_give_error(&err, error);
        return NULL;
    }
    struct cordon_cancel *cancel = base_alloc(sizeof(*cancel));
    cancel->fd = fd;
    return cancel;
}

/* May be called in a signal handler: only write() is allowed. */
void cordon_cancel_trigger(struct cordon_cancel *cancel)
{
    const uint64_t one = 1;
    int saved = errno;
    (void)!write(cancel->fd, &one, sizeof(one));
    errno = saved;
}

void cordon_cancel_free(struct cordon_cancel *cancel)
{
    if (!cancel)
        return;
    close(cancel->fd);
    free(cancel);
}

/* The size is the first member of a structure. */
bool api_take(const struct api_shape *shape, const void *from, void *to, struct err *err)
{
    size_t given;
    memset(to, 0, shape->size);
    if (!from)
        return true;
    memcpy(&given, from, sizeof(given));
    if (given > API_STRUCT_MAX)
        return err_set(err, E_CLI_INVALID_ARG,
            "struct %s: size is %zu, which is too large: set it to sizeof(struct %s)", shape->name,
            given, shape->name);
    if (given < shape->least)
        return err_set(err, E_CLI_INVALID_ARG,
            "struct %s: size is %zu, and must be at least %zu: set it to sizeof(struct %s)",
            shape->name, given, shape->least, shape->name);
    for (size_t i = shape->size; i < given; i++)
        if (((const char *)from)[i])
            return err_set(err, E_CLI_INVALID_ARG,
                "struct %s has a member that this version of the library does not support",
                shape->name);
    memcpy(to, from, MIN(given, shape->size));
    return true;
}

int api_cancel_descriptor(const struct cordon_cancel *cancel)
{
    return cancel ? cancel->fd : -1;
}

int api_cancel_fd(const struct api_call *c)
{
    return api_cancel_descriptor(c->options.cancel);
}

bool api_cancel_check(const struct cordon_cancel *cancel, struct err *err)
{
    struct pollfd fd = {.fd = api_cancel_descriptor(cancel), .events = POLLIN};
    return poll(&fd, 1, 0) <= 0 || !(fd.revents & POLLIN) ||
           err_set(err, E_CANCELED, "canceled before it was started");
}

static void pass_output(void *context, struct str bytes)
{
    const struct api_call *c = context;
    c->options.output(c->options.context, bytes.p, bytes.n);
}

api_output_fn api_output(const struct api_call *c)
{
    return c->options.output ? pass_output : NULL;
}

/* A bit that this version does not know is an error: ignoring it could drop an acknowledgement. */
static bool take_acknowledgements(struct api_call *c, struct err *err)
{
    const uint64_t known = CORDON_ACK_SANDBOX | CORDON_ACK_NETWORK | CORDON_ACK_WRITE |
                           CORDON_ACK_SOCKETS | CORDON_ACK_ENV | CORDON_ACK_LIMITS;
    uint64_t bits = c->options.ack_unsafe;
    if (bits & ~known)
        return err_set(err, E_CLI_INVALID_ARG,
            "struct cordon_run_options: ack_unsafe has a bit that this version of the library "
            "does not support");
    c->wishes.ack = (struct consent){
        .sandbox = bits & CORDON_ACK_SANDBOX,
        .network = bits & CORDON_ACK_NETWORK,
        .write = bits & CORDON_ACK_WRITE,
        .sockets = bits & CORDON_ACK_SOCKETS,
        .env = bits & CORDON_ACK_ENV,
        .inexact = bits & CORDON_ACK_LIMITS,
    };
    return true;
}

bool api_call_begin(struct api_call *c, const struct cordon_run_options *options, struct err *err)
{
    *c = (struct api_call){.arena = ARENA_INIT((size_t)API_ARENA_MAX)};
    c->p =
        (struct prepared){.arena = &c->arena, .options = &c->wishes, .artifacts = ARTIFACTS_NONE};
    if (!api_take(&options_shape, options, &c->options, err))
        return false;
    if (!api_cancel_check(c->options.cancel, err))
        return false;
    if (!api_not_empty("artifacts", c->options.artifacts, err) ||
        !api_not_empty("cwd", c->options.cwd, err) || !api_not_empty("root", c->options.root, err))
        return false;
    c->wishes.artifacts = c->options.artifacts;
    c->wishes.cwd = c->options.cwd;
    c->wishes.preset = c->options.preset;
    c->wishes.root = c->options.root;
    if (c->options.preset && c->options.policy)
        return err_set(err, E_CLI_INVALID_ARG, "policy and preset cannot be combined");
    if (c->options.root && !c->options.preset)
        return err_set(err, E_CLI_INVALID_ARG, "root requires preset");
    if (!take_acknowledgements(c, err))
        return false;
    c->p.environ = c->options.environ;
    if (!c->options.policy)
        return true;
    c->p.given = &c->policy;
    return policy_parse(str_z(c->options.policy), "policy", &c->arena, &c->policy, err);
}

bool api_count_words(
    const char *const *words, const char *name, size_t max, size_t *ret_n, struct err *err)
{
    size_t n = 0, bytes = 0;
    for (; words && words[n]; n++) {
        size_t length = strnlen(words[n], API_WORD_MAX) + 1;
        if (length > API_WORD_MAX)
            return err_set(err, E_CLI_INVALID_ARG, "%s[%zu] is longer than %d bytes", name, n,
                API_WORD_MAX - 1);
        bytes += length + sizeof(words[n]);
        if (bytes > max)
            return err_set(err, E_CLI_INVALID_ARG, "%s is longer than %zu bytes", name, max);
    }
    *ret_n = n;
    return true;
}

bool api_check_terminal(unsigned rows, unsigned cols, struct err *err)
{
    return (rows <= SESSION_ROWS_MAX && cols <= SESSION_COLS_MAX) ||
           err_set(err, E_CLI_INVALID_ARG, "a terminal has at most %d rows and %d columns",
               SESSION_ROWS_MAX, SESSION_COLS_MAX);
}

bool api_call_command(struct api_call *c, const struct cordon_command *command,
    struct cordon_command *ret_command, struct err *err)
{
    struct cordon_command own;
    size_t n = 0;
    if (!api_take(&command_shape, command, &own, err))
        return false;
    if (!api_count_words(own.argv, "argv", API_WORDS_MAX, &n, err))
        return false;
    if (n == 0)
        return err_set(err, E_CLI_INVALID_ARG, "no command: argv is empty");
    if (!api_check_terminal(own.rows, own.cols, err))
        return false;
    const char **argv = ARENA_NEW(&c->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        argv[i] = arena_strdup(&c->arena, str_z(own.argv[i]));
    c->p.argv = argv;
    own.rows = own.rows ? own.rows : ROWS;
    own.cols = own.cols ? own.cols : COLS;
    *ret_command = own;
    return true;
}

void api_call_done(struct api_call *c)
{
    prepared_done(&c->p);
    arena_done(&c->arena);
}
