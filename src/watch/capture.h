/* A program in the user's terminal, with everything that the user does recorded as actions of a
 * scenario.
 *
 *     capture_init(&c);
 *     ok = capture_run(&c, &options, err);
 *     if (c.any) ... c.recorder.steps ...
 *     capture_close(&c);
 *     capture_done(&c);
 *
 * Ctrl+] q ends it, Ctrl+] twice sends one Ctrl+].
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WATCH_CAPTURE_H
#define WATCH_CAPTURE_H

#include "run/recorder.h"
#include "tui/display.h"

struct capture {
    struct session *session;
    struct display display;
    struct recorder recorder;
    struct typed_keys *keys;
    struct buf input; /* typed, but not sent yet */
    uint64_t came_ms; /* time at which its first byte arrived */
    uint64_t drawn_ms;
    struct tty_size size; /* of the program's terminal at its start */
    bool dirty, leaving;  /* leaving: Ctrl+] was typed */
    bool over, canceled;
    bool any; /* there is something to save, even if it failed */
};

struct capture_options {
    const struct plan *plan;
    const char *const *argv, *const *envp;
    uint64_t max_runtime_ms, max_output_bytes;
    bool colors;
    int signals;         /* a signalfd: SIGWINCH and the terminating signals */
    struct buf *refused; /* see struct process_options; may be NULL */
};

void capture_init(struct capture *c);
MUST_USE bool capture_run(
    struct capture *c, const struct capture_options *options, struct err *err);
void capture_close(struct capture *c); /* ends the program */
void capture_done(struct capture *c);

#endif
