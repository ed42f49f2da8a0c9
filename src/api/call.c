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
    WORDS_MAX = 1000 * 1000,
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
        err_errno(&err, E_IO, errno, "cannot make an eventfd");
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
    if (given < shape->least || given > API_STRUCT_MAX)
        return err_set(err, E_CLI_INVALID_ARG,
            "struct %s: size is %zu, and must be at least %zu: set it to sizeof(struct %s)",
            shape->name, given, shape->least, shape->name);
    for (size_t i = shape->size; i < given; i++)
        if (((const char *)from)[i])
            return err_set(err, E_CLI_INVALID_ARG,
                "struct %s has a member that this version of the library does not know",
                shape->name);
    memcpy(to, from, MIN(given, shape->size));
    return true;
}

int api_cancel_fd(const struct api_call *c)
{
    return c->options.cancel ? c->options.cancel->fd : -1;
}

static bool api_is_canceled(const struct api_call *c)
{
    struct pollfd fd = {.fd = api_cancel_fd(c), .events = POLLIN};
    return poll(&fd, 1, 0) > 0;
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
            "struct cordon_run_options: ack_unsafe has a bit that this version of the library does "
            "not know");
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
    if (api_is_canceled(c))
        return err_set(err, E_CANCELED, "canceled before it was started");
    c->wishes.artifacts = c->options.artifacts;
    c->wishes.cwd = c->options.cwd;
    if (!take_acknowledgements(c, err))
        return false;
    c->p.environ = c->options.environ;
    if (!c->options.policy)
        return true;
    c->p.given = &c->policy;
    return policy_parse(str_z(c->options.policy), "policy", &c->arena, &c->policy, err);
}

bool api_call_command(struct api_call *c, const struct cordon_command *command,
    struct cordon_command *ret_command, struct err *err)
{
    struct cordon_command own;
    size_t n = 0;
    if (!api_take(&command_shape, command, &own, err))
        return false;
    while (own.argv && own.argv[n] && n < WORDS_MAX)
        n++;
    if (n == 0)
        return err_set(err, E_CLI_INVALID_ARG, "there is no command: argv is empty");
    if (own.rows > SESSION_ROWS_MAX || own.cols > SESSION_COLS_MAX)
        return err_set(err, E_CLI_INVALID_ARG, "a terminal has at most %d rows and %d columns",
            SESSION_ROWS_MAX, SESSION_COLS_MAX);
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
