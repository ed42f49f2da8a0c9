/* A run as a sequence of frames: the screen at every observation and, if much was printed, also in
 * between.
 *
 *     struct frames f;
 *     frames_make(&trace, &f);
 *     frames_json(&f, &out);             "styles":…,"titles":…,"shapes":…,"t":…,"delta":…
 *     f.rows.text                        a row's contents on each line
 *     f.of_mark[i]                       the frame that shows observation i
 *     f.of_replay[r][i]                  the frame that shows a replay's observation
 *     frames_done(&f);
 *
 * Each distinct row is stored once. A frame has the rows that differ from the previous frame; every
 * FRAMES_KEY frames, and when the size changes, it has all of them.
 *
 *     row     [style, "text", …]: a column for each code point; or [-1 - style, "text", width, …]
 *             for one cell that is wide or has several code points
 *     style   [fg, bg, underline color, flags, underline]
 *     delta   row number, number of its contents, …
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_FRAMES_H
#define TRACE_FRAMES_H

#include "trace/intern.h"
#include "trace/trace_source.h"

enum {
    FRAMES_KEY = 32,
    FRAMES_SAMPLES = 4000, /* approximate number of frames between observations */
    FRAMES_PIECE_MIN = 256,
    FRAMES_BYTES_MAX = 256 << 20,
    FRAMES_BYTES_ENOUGH = 48 << 20, /* beyond this size, only observations */
};

struct frames {
    struct intern styles, rows, titles;
    struct buf times, starts, keys, cursors, sizes, title_ids, delta;
    size_t n, n_delta, n_keys;
    uint64_t shapes[4]; /* bit set of the box.h characters that occur */
    size_t n_film;      /* frames of the run itself; those of its replays follow */
    uint32_t *of_mark;
    uint32_t **of_replay; /* the same for each of the trace's runs */
    size_t n_replays;
};

void frames_make(const struct trace *t, struct frames *ret_frames);
void frames_done(struct frames *f);

/* Writes members of an object, without its braces. Returns false if they are too large. */
MUST_USE bool frames_json(const struct frames *f, struct buf *out);

#endif
