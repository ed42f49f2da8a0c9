/* Keys for viewing collapsed output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/talk.h"

void talk_open(struct talk *t, struct str words)
{
    (void)words;
    pthread_mutex_lock(&t->lock);
    bool any = chat_rows_open(t->chat);
    pthread_mutex_unlock(&t->lock);
    if (!any)
        talk_note(t, "nothing is collapsed");
}

static void talk_look_previous(struct talk *t)
{
    (void)chat_rows_look(t->chat, -1);
}

static void talk_look_next(struct talk *t)
{
    (void)chat_rows_look(t->chat, 1);
}

static void talk_look_up(struct talk *t)
{
    chat_rows_look_scroll(t->chat, 0, -1);
}

static void talk_look_down(struct talk *t)
{
    chat_rows_look_scroll(t->chat, 0, 1);
}

static void talk_look_page_up(struct talk *t)
{
    chat_rows_look_scroll(t->chat, -1, 0);
}

static void talk_look_page_down(struct talk *t)
{
    chat_rows_look_scroll(t->chat, 1, 0);
}

static void talk_look_print(struct talk *t)
{
    (void)chat_rows_open(t->chat);
}

static void talk_look_close(struct talk *t)
{
    chat_rows_look_end(t->chat);
}

static const struct {
    const char *key;
    void (*run)(struct talk *t);
} rows[] = {
    {"Ctrl+o", talk_look_previous},
    {"Left", talk_look_previous},
    {"Right", talk_look_next},
    {"Up", talk_look_up},
    {"Down", talk_look_down},
    {"PageUp", talk_look_page_up},
    {"PageDown", talk_look_page_down},
    {"Enter", talk_look_print},
    {"Escape", talk_look_close},
};

static bool look_key(struct talk *t, const struct typed *typed)
{
    bool key = typed->kind == TYPED_KEY;
    if (!chat_rows_looks(t->chat))
        return key && strcmp(typed->key, "Ctrl+o") == 0 && (chat_rows_look(t->chat, 0), true);
    for (size_t i = 0; key && i < ARRAY_LEN(rows); i++)
        if (strcmp(typed->key, rows[i].key) == 0) {
            rows[i].run(t);
            return true;
        }
    if (typed->kind != TYPED_MOUSE && typed->kind != TYPED_UNKNOWN)
        chat_rows_look_end(t->chat); /* typing closes the view */
    return false;
}

bool talk_look_key(struct talk *t, const struct typed *typed)
{
    pthread_mutex_lock(&t->lock);
    bool mine = look_key(t, typed);
    pthread_mutex_unlock(&t->lock);
    return mine;
}
