/* Keys for viewing collapsed output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/chat.h"

void chat_look_open(struct chat *chat, struct str words)
{
    (void)words;
    pthread_mutex_lock(&chat->lock);
    bool any = chat_rows_open(chat->rows);
    pthread_mutex_unlock(&chat->lock);
    if (!any)
        chat_note(chat, "nothing is collapsed");
}

static void chat_look_previous(struct chat *chat)
{
    (void)chat_rows_look(chat->rows, -1);
}

static void chat_look_next(struct chat *chat)
{
    (void)chat_rows_look(chat->rows, 1);
}

static void chat_look_up(struct chat *chat)
{
    chat_rows_look_scroll(chat->rows, 0, -1);
}

static void chat_look_down(struct chat *chat)
{
    chat_rows_look_scroll(chat->rows, 0, 1);
}

static void chat_look_page_up(struct chat *chat)
{
    chat_rows_look_scroll(chat->rows, -1, 0);
}

static void chat_look_page_down(struct chat *chat)
{
    chat_rows_look_scroll(chat->rows, 1, 0);
}

static void chat_look_print(struct chat *chat)
{
    (void)chat_rows_open(chat->rows);
}

static void chat_look_close(struct chat *chat)
{
    chat_rows_look_end(chat->rows);
}

static const struct {
    const char *key;
    void (*run)(struct chat *chat);
} rows[] = {
    {"Ctrl+o", chat_look_previous},
    {"Left", chat_look_previous},
    {"Right", chat_look_next},
    {"Up", chat_look_up},
    {"Down", chat_look_down},
    {"PageUp", chat_look_page_up},
    {"PageDown", chat_look_page_down},
    {"Enter", chat_look_print},
    {"Escape", chat_look_close},
};

static bool look_key(struct chat *chat, const struct typed *typed)
{
    bool key = typed->kind == TYPED_KEY;
    if (!chat_rows_looks(chat->rows))
        return key && strcmp(typed->key, "Ctrl+o") == 0 && (chat_rows_look(chat->rows, 0), true);
    for (size_t i = 0; key && i < ARRAY_LEN(rows); i++)
        if (strcmp(typed->key, rows[i].key) == 0) {
            rows[i].run(chat);
            return true;
        }
    if (typed->kind != TYPED_MOUSE && typed->kind != TYPED_UNKNOWN)
        chat_rows_look_end(chat->rows); /* typing closes the view */
    return false;
}

bool chat_look_key(struct chat *chat, const struct typed *typed)
{
    pthread_mutex_lock(&chat->lock);
    bool mine = look_key(chat, typed);
    pthread_mutex_unlock(&chat->lock);
    return mine;
}
