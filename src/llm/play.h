/* Renders a turn of a script as the bytes that a service would send: headers, events in its
 * dialect, delays, and faults.
 *
 *     struct play play;
 *     play_init(&play);
 *     play_turn(&play, &voice_anthropic, &spec, turn);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_PLAY_H
#define LLM_PLAY_H

#include "llm/script.h"

enum {
    PLAY_BODY_MAX = 512 << 20,
    PLAY_ENDLESS = 1 << 30, /* bytes of FAULT_ENDLESS */
};

/* The end of the answer. */
enum play_end {
    PLAY_DONE,
    PLAY_RESET,  /* the connection is reset */
    PLAY_CLOSED, /* the connection is closed before the announced end */
    PLAY_STALLED,
    PLAY_FILLED, /* continues without a line break */
};

struct play_mark {
    size_t at;         /* offset at which an event ends */
    uint64_t delay_ms; /* before the next event */
};

struct play {
    unsigned status;
    struct buf headers; /* lines, each terminated by \r\n */
    struct buf body;
    struct play_mark *marks;
    size_t n_marks, cap_marks;
    enum play_end end;
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

struct play_spec {
    struct script *script;
    const char *model;
    uint64_t number;
    uint16_t port; /* of the server, for the target of a redirect */
    bool whole;    /* one JSON object instead of a stream: no stream faults */
};

/* The output format of a service. */
struct voice {
    const char *name;
    const char *path; /* suffix of the request path */
    void (*start)(struct play *p);
    void (*begin)(struct play *p, const struct script_part *part, const char *id);
    void (*delta)(struct play *p, const struct script_part *part, struct str delta);
    void (*end)(struct play *p, const struct script_part *part);
    void (*usage)(struct play *p, uint64_t output_tokens); /* in the middle */
    void (*finish)(struct play *p, bool last_event);
    void (*error)(struct play *p, const struct script_error *error); /* in the middle */
    json_t *(*whole)(struct play *p); /* the complete answer, for clients that do not stream */
    json_t *(*error_body)(const struct script_error *error, const char *request_id);
    const char *half_text; /* data of an event with an incomplete UTF-8 character */
};

extern const struct voice voice_anthropic;
extern const struct voice voice_openai;

void play_init(struct play *p);
void play_done(struct play *p);
void play_turn(struct play *p, const struct voice *voice, const struct play_spec *spec,
    const struct script_turn *turn);
/* An answer of one JSON object; takes ownership. */
void play_json(struct play *p, unsigned status, json_t *object);

/* For voices: the id of a call; may be empty. */
void play_call_id(struct play *p, const struct script_part *part, struct buf *id);

/* For voices: one event; the name may be NULL. play_event() takes ownership of the object. */
void play_event(struct play *p, const char *name, json_t *data);
void play_event_text(struct play *p, const char *name, struct str data);

#endif
