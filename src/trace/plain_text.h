/* The output of a terminal program as text, line by line. Lines are complete when they leave the
 * screen; the rest of the screen follows at the end.
 *
 *     struct plain_text l = PLAIN_TEXT_INIT;
 *     l.put = put; l.context = context;
 *     plain_text_open(&l, refeed_term(\&timeline, NULL, NULL));
 *     plain_text_feed(&l, bytes); ...                         at most PLAIN_TEXT_PIECE bytes each
 *     plain_text_end(&l);
 *     plain_text_done(&l);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_PLAIN_TEXT_H
#define TRACE_PLAIN_TEXT_H

#include "base/buf.h"

enum {
    PLAIN_TEXT_PIECE = 256, /* produces fewer lines than the scrollback holds */
    PLAIN_TEXT_LINE_MAX = 1 << 20,
};

struct plain_text {
    void (*put)(void *context, struct str line);
    void *context;
    struct term *term;
    unsigned shown; /* rows at the top of the screen that are already printed */
    struct buf line;
};

#define PLAIN_TEXT_INIT ((struct plain_text){.line = BUF_INIT(2 * PLAIN_TEXT_LINE_MAX)})

struct term;

void plain_text_open(struct plain_text *l, struct term *term); /* takes the terminal */
void plain_text_feed(struct plain_text *l, struct str bytes);
void plain_text_resize(struct plain_text *l, unsigned rows, unsigned cols);
void plain_text_flush(struct plain_text *l); /* the rows above the cursor */
void plain_text_end(struct plain_text *l);   /* all rows */
void plain_text_done(struct plain_text *l);

#endif
