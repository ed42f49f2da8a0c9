/* Renders a turn of a script as the bytes that a service would send: headers, events in its
 * dialect, delays, and faults.
 *
 *     struct script_render play;
 *     script_render_init(&play);
 *     script_render_turn(&play, &script_anthropic, &spec, turn);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_SCRIPT_RENDER_H
#define LLM_SCRIPT_RENDER_H

#include "llm/script.h"

enum {
    SCRIPT_RENDER_BODY_MAX = 512 << 20,
    SCRIPT_RENDER_ENDLESS = 1 << 30, /* bytes of FAULT_ENDLESS */
};

/* The end of the answer. */
enum script_render_end {
    SCRIPT_RENDER_DONE,
    SCRIPT_RENDER_RESET,  /* the connection is reset */
    SCRIPT_RENDER_CLOSED, /* the connection is closed before the announced end */
    SCRIPT_RENDER_STALLED,
    SCRIPT_RENDER_FILLED, /* continues without a line break */
};

struct script_render_mark {
    size_t at;         /* offset at which an event ends */
    uint64_t delay_ms; /* before the next event */
};

struct script_render {
    unsigned status;
    struct buf headers; /* lines, each terminated by \r\n */
    struct buf body;
    struct script_render_mark *marks;
    size_t n_marks, cap_marks;
    enum script_render_end end;
    uint64_t chunk_bytes;
    /* While it is rendered. */
    const struct script_turn *turn;
    struct script *script;
    const char *model;
    uint64_t number; /* of the request */
    size_t index;    /* of the block */
    size_t calls;    /* of the answer so far */
    uint64_t deltas;
    bool stopped; /* the fault or error has been played */
};

struct script_render_spec {
    struct script *script;
    const char *model;
    uint64_t number;
    uint16_t port; /* of the server, for the target of a redirect */
    bool whole;    /* one JSON object instead of a stream: no stream faults */
};

/* The output format of a service. */
struct script_dialect {
    const char *name;
    const char *path; /* suffix of the request path */
    void (*start)(struct script_render *p);
    void (*begin)(struct script_render *p, const struct script_part *part, const char *id);
    void (*delta)(struct script_render *p, const struct script_part *part, struct str delta);
    void (*end)(struct script_render *p, const struct script_part *part);
    void (*usage)(struct script_render *p, uint64_t output_tokens); /* in the middle */
    void (*finish)(struct script_render *p, bool last_event);
    void (*error)(struct script_render *p, const struct script_error *error); /* in the middle */
    json_t *(*whole)(
        struct script_render *p); /* the complete answer, for clients that do not stream */
    json_t *(*error_body)(const struct script_error *error, const char *request_id);
    const char *half_text; /* data of an event with an incomplete UTF-8 character */
};

extern const struct script_dialect script_anthropic;
extern const struct script_dialect script_openai;

void script_render_init(struct script_render *p);
void script_render_done(struct script_render *p);
void script_render_turn(struct script_render *p, const struct script_dialect *dialect,
    const struct script_render_spec *spec, const struct script_turn *turn);
/* An answer of one JSON object; takes ownership. */
void script_render_json(struct script_render *p, unsigned status, json_t *object);

/* For dialects: the id of a call; may be empty. */
void script_render_call_id(struct script_render *p, const struct script_part *part, struct buf *id);

/* For dialects: one event; the name may be NULL. script_render_event() takes ownership of the
 * object.
 */
void script_render_event(struct script_render *p, const char *name, json_t *data);
void script_render_event_text(struct script_render *p, const char *name, struct str data);

#endif
