/* What a headless agent prints: its text as it streams, or NDJSON events; on a terminal's stderr
 * what it is doing.
 *
 *     struct agent_view view;
 *     agent_view_start(&view, &options);
 *     agent.tell = agent_view_tell, agent.context = &view;
 *     ...
 *     agent_view_stop(&view);
 *
 * Every event is written whole before the next is asked for: nothing is lost, and a reader that is
 * slow makes the agent slow. Keys in use are masked.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_AGENT_VIEW_H
#define CLI_AGENT_VIEW_H

#include "agent/run.h"
#include "agent/transcript.h"
#include "cli/config.h"
#include "cli/held.h"
#include "cli/out.h"
#include "cli/progress.h"

struct agent_view_options {
    struct cli *cli;
    const struct mask *mask;
    const struct config_model *model; /* prices; NULL: not known */
    int cancel_fd;                    /* nobody reads, and this can be read: stop */
    bool asks;                        /* somebody may be asked on the terminal during a call */
};

struct agent_view {
    struct agent_view_options options;
    struct transcript *transcript; /* NULL: none */
    struct progress progress;
    struct patience patience;
    int quick; /* stdout once more, which never blocks; -1: there is no such thing */
    struct buf line;
    size_t block;    /* of the text that was printed last */
    bool in_line;    /* the last line of text has no end yet */
    bool broken;     /* something could not be written: nothing more is */
    bool text_since; /* text was printed of this answer */
    struct held held;
    struct usage done; /* of answers that are whole */
    json_t *calls;     /* at work: words for each, by id */
};

void agent_view_start(struct agent_view *view, const struct agent_view_options *options);
void agent_view_stop(struct agent_view *view); /* ends the last line */

bool agent_view_tell(void *view, const struct agent_event *event);
void agent_view_retry(void *view, const struct retry_notice *notice);

/* Tokens, and what they cost if that is known (else NULL); nothing if there are none. */
void agent_view_used(const struct usage *usage, const struct config_model *model, struct buf *out);

#endif
