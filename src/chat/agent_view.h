/* Output of a headless agent: its text as it streams, or NDJSON events; if stderr is a terminal,
 * also its progress there.
 *
 *     struct agent_view view;
 *     agent_view_start(&view, &options);
 *     agent.tell = agent_view_tell, agent.context = &view;
 *     ...
 *     agent_view_stop(&view);
 *
 * Each event is written completely before the next one is requested, so nothing is lost, and a slow
 * reader slows down the agent. Keys in use are masked.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHAT_AGENT_VIEW_H
#define CHAT_AGENT_VIEW_H

#include "agent/agent_run.h"
#include "agent/transcript.h"
#include "base/notice.h"
#include "config/config.h"
#include "io/timed_write.h"
#include "llm/mask_stream.h"
#include "tui/progress.h"

struct agent_view_options {
    bool json;            /* write events */
    bool to_terminal;     /* stdout is a terminal */
    struct notices notes; /* progress and results on stderr */
    const struct mask *mask;
    const struct config_model *model; /* for prices; NULL: unknown */
    int cancel_fd;                    /* stop if this is readable while output blocks */
    bool asks;                        /* calls may need approval on the terminal */
};

struct agent_view {
    struct agent_view_options options;
    struct transcript *transcript; /* NULL: none */
    struct progress progress;
    struct write_deadline deadline;
    int quick; /* non-blocking descriptor for stdout; -1: not available */
    struct buf line;
    size_t block;    /* index of the last text block printed */
    bool in_line;    /* the last line of text is not terminated yet */
    bool broken;     /* a write failed: write nothing more */
    bool text_since; /* text of this answer was printed */
    struct mask_stream held;
    struct usage done; /* usage of completed answers */
    json_t *calls;     /* summaries of running calls, by id */
};

void agent_view_start(struct agent_view *view, const struct agent_view_options *options);
void agent_view_stop(struct agent_view *view); /* ends the last line */

bool agent_view_tell(void *view, const struct agent_event *event);
void agent_view_retry(void *view, const struct retry_notice *notice);

/* Adds token counts, and their cost if `model` (may be NULL) has prices. Adds nothing for zero
 * tokens. */
void agent_view_used(const struct usage *usage, const struct config_model *model, struct buf *out);

#endif
