/* Table of links. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_link.h"

#include "base/fnv.h"

void link_table_init(struct link_table *t)
{
    *t = (struct link_table){.n = 1};
}

void link_table_done(struct link_table *t)
{
    for (uint32_t i = 1; i < t->n; i++)
        free(t->links[i].text);
    free(t->links);
    free(t->slots);
    *t = (struct link_table){0};
}

struct str link_uri(const struct link_table *t, uint32_t link)
{
    if (link == 0 || link >= t->n)
        return (struct str){0};
    return str_n(t->links[link].text, t->links[link].uri_n);
}

struct str link_id(const struct link_table *t, uint32_t link)
{
    if (link == 0 || link >= t->n || t->links[link].id_n == 0)
        return (struct str){0};
    return str_n(t->links[link].text + t->links[link].uri_n, t->links[link].id_n);
}

enum {
    SLOTS = 2 * LINKS_MAX,
};

static uint32_t link_table_hash(const struct link_table *t, struct str uri, struct str id)
{
    uint64_t h = fnv_add(fnv_add(FNV_START ^ (uintptr_t)t->slots, uri), id);
    return (uint32_t)(h ^ h >> 32) & (SLOTS - 1);
}

static void link_table_insert(struct link_table *t, uint32_t link)
{
    uint32_t i = link_table_hash(t, link_uri(t, link), link_id(t, link));
    while (t->slots[i])
        i = (i + 1) & (SLOTS - 1);
    t->slots[i] = (uint16_t)link;
}

static uint32_t link_table_find(const struct link_table *t, struct str uri, struct str id)
{
    for (uint32_t i = link_table_hash(t, uri, id); t->slots[i]; i = (i + 1) & (SLOTS - 1))
        if (str_eq(link_uri(t, t->slots[i]), uri) && str_eq(link_id(t, t->slots[i]), id))
            return t->slots[i];
    return 0;
}

static void link_table_grow(struct link_table *t)
{
    t->cap = t->cap ? t->cap * 2 : 16;
    t->links = base_realloc(t->links, t->cap * sizeof(*t->links));
    if (!t->slots)
        t->slots = base_alloc(SLOTS * sizeof(*t->slots));
}

uint32_t link_intern(struct link_table *t, struct str uri, struct str id)
{
    if (uri.n == 0 || uri.n > LINK_URI_MAX || id.n > LINK_ID_MAX)
        return 0;
    uint32_t known = t->slots ? link_table_find(t, uri, id) : 0;
    if (known || link_table_full(t))
        return known;
    if (t->n >= t->cap)
        link_table_grow(t);
    char *text = base_alloc(uri.n + id.n + 1);
    memcpy(text, uri.p, uri.n);
    if (id.n)
        memcpy(text + uri.n, id.p, id.n);
    t->links[t->n] = (struct link){text, (uint16_t)uri.n, (uint16_t)id.n};
    link_table_insert(t, t->n);
    return t->n++;
}

void link_table_keep(struct link_table *t, uint32_t marks[LINKS_MAX])
{
    uint32_t n = 1, was = t->n;
    for (uint32_t i = 1; i < was; i++) {
        if (!marks[i]) {
            free(t->links[i].text);
            continue;
        }
        t->links[n] = t->links[i];
        marks[i] = n++;
    }
    t->n = n;
    if (t->slots)
        memset(t->slots, 0, SLOTS * sizeof(*t->slots));
    for (uint32_t i = 1; i < n; i++)
        link_table_insert(t, i);
}
