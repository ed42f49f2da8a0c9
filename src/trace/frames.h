/* A run as a film: the screen at every observation, and where much was printed also in between.
 *
 *     struct frames f;
 *     frames_make(&trace, &f);
 *     frames_json(&f, &out);             "styles":…,"titles":…,"shapes":…,"t":…,"delta":…
 *     f.rows.text                        a row's contents on each line
 *     f.of_mark[i]                       the frame that shows observation i
 *     f.of_replay[r][i]                  and the one of a replay's observation
 *     frames_done(&f);
 *
 * Rows are kept once, whatever frames they are in. A frame is the rows that differ from the one
 * before; every KEY frames, and when the size changes, it is all of them.
 *
 *     row     [style, "text", …]: a column for each code point; or [-1 - style, "text", width, …]
 *             for one cell that is wide or has several
 *     style   [fg, bg, underline colour, flags, underline]
 *     delta   row number, number of its contents, …
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_FRAMES_H
#define TRACE_FRAMES_H

#include "trace/intern.h"
#include "trace/source.h"

enum {
    FRAMES_KEY = 32,
    FRAMES_SAMPLES = 4000, /* frames between observations, all in all, about */
    FRAMES_PIECE_MIN = 256,
    FRAMES_BYTES_MAX = 256 << 20,
    FRAMES_BYTES_ENOUGH = 48 << 20, /* from here on only observations */
};

struct frames {
    struct intern styles, rows, titles;
    struct buf times, starts, keys, cursors, sizes, title_ids, delta;
    size_t n, n_delta, n_keys;
    uint64_t shapes[4]; /* which of box.h occur: a bit for each */
    size_t n_film;      /* frames of the run itself; those of its replays follow */
    uint32_t *of_mark;
    uint32_t **of_replay; /* the same for each of the trace's runs */
    size_t n_replays;
};

void frames_make(const struct trace *t, struct frames *ret_frames);
void frames_done(struct frames *f);

/* Members of an object, without its braces. False: it is too large. */
MUST_USE bool frames_json(const struct frames *f, struct buf *out);

#endif
