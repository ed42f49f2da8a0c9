/* Terminal events; equal ones are counted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_events.h"

#include "base/fnv.h"
#include "base/utf8.h"

enum {
    SLOTS = 4096, /* a power of two, well above EVENTS_MAX */
};

struct events_entry {
    enum term_event_type type;
    struct str text; /* owned */
    uint64_t count;
};

struct events {
    struct events_entry list[EVENTS_MAX];
    size_t n;
    struct events_entry *replaced; /* single entry for all replaced characters; NULL: none yet */
    uint64_t dropped;
    uint16_t slots[SLOTS]; /* list indices + 1; 0: free */
};

static const struct {
    const char *name, *help;
} kinds[TERM_EVENTS] = {
    [TERM_EVENT_TITLE] = {"title", "the program set the window title: message"},
    [TERM_EVENT_BELL] = {"bell", "it rang the bell"},
    [TERM_EVENT_UNKNOWN] = {"unknown_sequence", "it sent an unknown escape sequence: message"},
    [TERM_EVENT_UNANSWERED] = {"unanswered_query",
        "it sent a query that was not answered: message"},
    [TERM_EVENT_REPLACED] = {"replaced_character",
        "bytes that are not a valid character became U+FFFD"},
    [TERM_EVENT_TRUNCATED] = {"truncated_sequence",
        "an escape sequence was too long and was truncated"},
    [TERM_EVENT_CLIPBOARD] = {"clipboard_refused", "it tried to read or write the clipboard"},
    [TERM_EVENT_RESIZE] = {"resize", "it requested another size"},
};

struct events *events_new(void)
{
    struct events *e = base_alloc(sizeof(*e));
    memset(e, 0, sizeof(*e));
    return e;
}

void events_free(struct events *e)
{
    for (size_t i = 0; e && i < e->n; i++)
        free((char *)e->list[i].text.p);
    free(e);
}

const char *event_name(enum term_event_type type)
{
    return (size_t)type < ARRAY_LEN(kinds) ? kinds[type].name : NULL;
}

const char *event_help(enum term_event_type type)
{
    return (size_t)type < ARRAY_LEN(kinds) ? kinds[type].help : NULL;
}

/* Returns the entry, adding it if necessary; NULL if the list is full. */
static struct events_entry *events_find_or_add(
    struct events *e, enum term_event_type type, struct str text)
{
    uint64_t hash = fnv_add(fnv_add(FNV_START, str_n((const char *)&type, sizeof(type))), text);
    size_t at = (hash ^ hash >> 32) & (SLOTS - 1);
    for (; e->slots[at]; at = (at + 1) & (SLOTS - 1)) {
        struct events_entry *entry = &e->list[e->slots[at] - 1];
        if (entry->type == type && str_eq(entry->text, text))
            return entry;
    }
    if (e->n == EVENTS_MAX)
        return NULL;
    char *copy = base_alloc(text.n + 1);
    if (text.n)
        memcpy(copy, text.p, text.n);
    e->list[e->n] = (struct events_entry){type, str_n(copy, text.n), 0};
    e->slots[at] = (uint16_t)(e->n + 1);
    return &e->list[e->n++];
}

/* All invalid bytes are counted in one event, which has the first of them as text (\xNN, because
 * JSON cannot represent them). */
static void add_replaced(struct events *e, struct str bytes)
{
    if (!e->replaced) {
        AUTO_BUF struct buf text = BUF_INIT(4 * EVENTS_TEXT_MAX);
        utf8_add_printable(&text, str_head(bytes, EVENTS_TEXT_MAX));
        e->replaced = events_find_or_add(e, TERM_EVENT_REPLACED, buf_str(&text));
    }
    if (e->replaced)
        e->replaced->count++;
    else
        e->dropped++;
}

void events_add(void *context, const struct term_event *event)
{
    struct events *e = context;
    enum term_event_type type = event->type;
    struct str text = event->text;
    char size[32];
    if (!event_name(type))
        return;
    if (type == TERM_EVENT_REPLACED) {
        add_replaced(e, text);
        return;
    }
    if (type == TERM_EVENT_RESIZE) {
        snprintf(size, sizeof(size), "%ux%u", event->value >> 16, event->value & 0xFFFF);
        text = str_z(size);
    }
    /* Use the same length as the terminal keeps, so that events_json() finds the entry again. */
    bool counted = type == TERM_EVENT_UNKNOWN || type == TERM_EVENT_UNANSWERED;
    struct events_entry *entry =
        events_find_or_add(e, type, str_head(text, counted ? TERM_UNKNOWN_TEXT : EVENTS_TEXT_MAX));
    if (entry)
        entry->count++;
    else
        e->dropped++;
}

static void take_counts(
    struct events *e, enum term_event_type type, const struct term_unknown *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct events_entry *entry = events_find_or_add(e, type, str_n(list[i].text, list[i].n));
        if (entry)
            entry->count = list[i].count;
        else
            e->dropped += list[i].count;
    }
}

json_t *events_json(struct events *e, const struct term *t)
{
    const struct term_unknown *list;
    size_t n = term_unknowns(t, &list);
    take_counts(e, TERM_EVENT_UNKNOWN, list, n);
    n = term_unanswered(t, &list);
    take_counts(e, TERM_EVENT_UNANSWERED, list, n);
    json_t *array = json_array();
    for (size_t i = 0; i < e->n; i++) {
        json_t *event = json_object();
        json_put(event, "type", json_string(event_name(e->list[i].type)));
        json_put(event, "text", json_text(e->list[i].text));
        json_put(event, "count", json_integer((json_int_t)e->list[i].count));
        json_push(array, event);
    }
    return array;
}

uint64_t events_dropped(const struct events *e)
{
    return e->dropped;
}
