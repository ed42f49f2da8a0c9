/* Internals shared by the files of the library. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_API_H
#define API_API_H

#include "cordon.h"
#include "job/job.h"

enum {
    API_ARENA_MAX = 1 << 30,
    API_STRUCT_MAX = 4096,
};

/* Converts an error for the caller; does nothing if `error` is NULL. */
void api_give_error(struct err *err, struct cordon_error *error);

/* A structure that begins with its size, as in the caller's version of the header: that of an
 * earlier version is shorter; members that this version does not know must be zero. */
struct api_shape {
    const char *name;
    size_t least, size;
};

#define API_SHAPE(type, last)                                                                      \
    {                                                                                              \
#type, offsetof(struct type, last) + sizeof(((struct type *)0)->last), sizeof(struct type) \
    }

/* Copies a structure; NULL yields zeros. */
MUST_USE bool api_take(const struct api_shape *shape, const void *from, void *to, struct err *err);

/* A call that runs something: its options, copied as far as they are needed later, and the prepared
 * run. Must not be moved. */
struct api_call {
    struct arena arena;
    struct cordon_run_options options;
    struct prepare_options wishes;
    struct policy policy; /* parsed options.policy */
    struct prepared p;
    size_t n_steps;
};

/* Takes the options; E_CANCELED if already canceled. */
MUST_USE bool api_call_begin(
    struct api_call *c, const struct cordon_run_options *options, struct err *err);
MUST_USE bool api_call_command(struct api_call *c, const struct cordon_command *command,
    struct cordon_command *ret_command, struct err *err);
void api_call_done(struct api_call *c);

/* The descriptor, or -1. */
int api_cancel_fd(const struct api_call *c);

/* Callback for the command's output; NULL if not wanted. Its context is the call. */
typedef void (*api_output_fn)(void *context, struct str bytes);
api_output_fn api_output(const struct api_call *c);

/* These take ownership of the tree. */
struct cordon_result *api_result_new(json_t *tree);
struct cordon_observation *api_observation_new(json_t *tree);

struct cordon_exit api_exit(const struct session_exit *e);

#endif
