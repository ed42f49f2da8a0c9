/* Internals shared by the files of the library. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_API_H
#define API_API_H

#include "agent/tool_setup.h"
#include "cordon.h"
#include "job/job.h"

enum {
    API_ARENA_MAX = 1 << 30,
    API_STRUCT_MAX = 4096,
    API_WORD_MAX = 128 << 10,    /* one argument with its zero byte, as in the kernel */
    API_WORDS_MAX = 6 << 20,     /* all arguments, as in the kernel */
    API_BOX_WORDS_MAX = 1 << 20, /* all arguments of a command in a box, as its supervisor takes */
    API_ENCODE_MAX = 64 << 20,
};
#define API_JSON_MAX ((size_t)1 << 30)

/* Converts an error for the caller; does nothing if `error` is NULL. */
void api_give_error(struct err *err, struct cordon_error *error);

/* Return 0 or the value, or convert the error and return -1 or NULL. */
int api_return(bool ok, struct err *err, struct cordon_error *error);
char *api_return_text(bool ok, struct buf *text, struct err *err, struct cordon_error *error);
/* The JSON text of a tree, whose ownership is taken; may be NULL if !ok. */
char *api_return_json(bool ok, json_t *tree, struct err *err, struct cordon_error *error);

/* E_CLI_INVALID_ARG if an argument is NULL. */
MUST_USE bool api_given(const char *name, const void *argument, struct err *err);

/* E_CLI_INVALID_ARG if a text is empty; NULL is accepted. */
MUST_USE bool api_not_empty(const char *name, const char *argument, struct err *err);

/* Counts a list of words that ends with NULL, and checks their lengths and the sum, with pointers;
 * NULL: none. */
MUST_USE bool api_count_words(
    const char *const *words, const char *name, size_t max, size_t *ret_n, struct err *err);

/* Checks the size of a terminal. */
MUST_USE bool api_check_terminal(unsigned rows, unsigned cols, struct err *err);

/* Messages are those of cordon(1): the names of its options become those of members. Not in
 * quotes. */
void api_name_members(struct err *err);
void api_name_members_text(const char *text, struct buf *out);
/* The same in a string of an object. */
void api_name_members_in(json_t *object, const char *key);

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

/* {"type", "payload": {key: text}}, a new object. */
MUST_USE json_t *api_tagged_text(const char *type, const char *key, const char *text);

struct cordon_exit api_exit(const struct session_exit *e);

/* Descriptor of a session for the caller's event loop: a set of the descriptors that the session
 * waits for, and a timer. */
struct api_watch {
    int set, timer; /* -1: not in use */
    int cancel;     /* in the set; -1: none */
    struct {
        int fd;
        uint32_t events;
    } now[SESSION_POLLS]; /* in the set */
    bool over;            /* the end was reported: nothing left to do */
};

#define API_WATCH_INIT                                                          \
    {                                                                           \
        .set = -1, .timer = -1, .cancel = -1, .now = { {.fd = -1}, {.fd = -1} } \
    }

MUST_USE bool api_watch_open(struct api_watch *w, int cancel, struct err *err);
void api_watch_close(struct api_watch *w);
/* After each call that may have changed what the session waits for. */
void api_watch_update(struct api_watch *w, const struct session *s);

/* Tools and what they need from the host; must not be moved. For struct cordon_tools and for
 * agents, which fill in their own setup. */
struct api_tools {
    struct arena *arena;
    struct cordon_tools_options options; /* copied */
    struct tool_setup_host host;
    struct tool_setup_options setup;
    struct policy policy;
    struct notices warnings;
};

/* Copies the options to the arena and checks them; fills in host, setup and warnings. */
MUST_USE bool api_tools_take(struct api_tools *t, struct arena *arena,
    const struct cordon_tools_options *options, struct err *err);
void api_tools_done(struct api_tools *t);
/* E_CLI_INVALID_ARG if the options conflict with a box. */
MUST_USE bool api_tools_check_box(const struct cordon_tools_options *options, struct err *err);

/* Sessions of exec_command, whose output is read between calls: a descriptor that is readable when
 * api_tending_process() has work. */
struct api_tending {
    int set;      /* -1: not open */
    int sessions; /* its only member; -1: none */
};

#define API_TENDING_NONE ((struct api_tending){-1, -1})
MUST_USE bool api_tending_open(struct api_tending *t, struct err *err);
void api_tending_close(struct api_tending *t);
/* After a call: sessions that began or ended change the descriptors to wait for. */
void api_tending_update(struct api_tending *t, struct toolbox *box);
void api_tending_process(struct api_tending *t, struct toolbox *box);

/* Adds a cancellation to the set that interrupts calls; E_CANCELED if already triggered. */
MUST_USE bool api_tools_begin(
    const struct api_tools *t, const struct cordon_cancel *cancel, struct err *err);
void api_tools_end(const struct api_tools *t, const struct cordon_cancel *cancel);

/* The descriptor of a cancellation; NULL: -1. */
int api_cancel_descriptor(const struct cordon_cancel *cancel);
/* E_CANCELED if it is triggered; NULL is not. */
MUST_USE bool api_cancel_check(const struct cordon_cancel *cancel, struct err *err);

const char *api_copy(struct arena *a, const char *text); /* NULL: NULL */

/* Standard input of a command as callers give it. */
struct api_input {
    const void *bytes;
    size_t n;
    const int *fd;
};

/* Returns its descriptor, or -1; `own` (-1 before) owns that of bytes. */
MUST_USE bool api_open_input(const struct api_input *input, int *own, int *ret_fd, struct err *err);

#endif
