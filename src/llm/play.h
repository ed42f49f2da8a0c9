/* A turn of a script as the bytes that a service would send: headers, events in its dialect,
 * pauses, and whatever goes wrong.
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

/* How the bytes end. */
enum play_end {
    PLAY_DONE,
    PLAY_RESET,  /* the connection is reset */
    PLAY_CLOSED, /* closed, though more was announced */
    PLAY_STALLED,
    PLAY_FILLED, /* goes on without a line end */
};

struct play_mark {
    size_t at;         /* an event ends here */
    uint64_t delay_ms; /* before what follows */
};

struct play {
    unsigned status;
    struct buf headers; /* lines, each ended by \r\n */
    struct buf body;
    struct play_mark *marks;
    size_t n_marks, cap_marks;
    enum play_end end;
    uint64_t chunk_bytes;
    /* While it is written. */
    const struct script_turn *turn;
    struct script *script;
    const char *model;
    uint64_t number; /* of the request */
    size_t index;    /* of the block */
    size_t calls;    /* of the answer so far */
    uint64_t deltas;
    bool stopped; /* the fault or error has come */
};

struct play_spec {
    struct script *script;
    const char *model;
    uint64_t number;
    uint16_t port; /* of the server: where a redirect leads */
    bool whole;    /* one JSON object, no stream: faults of streams do not happen */
};

/* How a service says things. */
struct voice {
    const char *name;
    const char *path; /* where it is asked, at the end of the request's */
    void (*start)(struct play *p);
    void (*begin)(struct play *p, const struct script_part *part, const char *id);
    void (*delta)(struct play *p, const struct script_part *part, struct str delta);
    void (*end)(struct play *p, const struct script_part *part);
    void (*usage)(struct play *p, uint64_t output_tokens); /* in the middle */
    void (*finish)(struct play *p, bool last_event);
    void (*error)(struct play *p, const struct script_error *error); /* in the middle */
    json_t *(*whole)(struct play *p); /* all of it at once, for who does not stream */
    json_t *(*error_body)(const struct script_error *error, const char *request_id);
    const char *half_text; /* an event's data, with half a character in it */
};

extern const struct voice voice_anthropic;
extern const struct voice voice_openai;

void play_init(struct play *p);
void play_done(struct play *p);
void play_turn(struct play *p, const struct voice *voice, const struct play_spec *spec,
    const struct script_turn *turn);
/* An answer that is one JSON object; takes it over. */
void play_json(struct play *p, unsigned status, json_t *object);

/* For voices: the id of a call, which may be none. */
void play_call_id(struct play *p, const struct script_part *part, struct buf *id);

/* For voices: one event, whose name may be NULL. The first takes the object over. */
void play_event(struct play *p, const char *name, json_t *data);
void play_event_text(struct play *p, const char *name, struct str data);

#endif
