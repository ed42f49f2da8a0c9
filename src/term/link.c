/* Links by number. Few are alive at a time, so they are found by looking at all, the newest first.
 */
#include "term/link.h"

void link_table_init(struct link_table *t)
{
    *t = (struct link_table){.n = 1};
}

void link_table_done(struct link_table *t)
{
    for (uint32_t i = 1; i < t->n; i++)
        free(t->links[i].text);
    free(t->links);
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

uint32_t link_intern(struct link_table *t, struct str uri, struct str id)
{
    if (uri.n == 0 || uri.n > LINK_URI_MAX || id.n > LINK_ID_MAX)
        return 0;
    for (uint32_t i = t->n; i-- > 1;)
        if (str_eq(link_uri(t, i), uri) && str_eq(link_id(t, i), id))
            return i;
    if (link_table_full(t))
        return 0;
    if (t->n >= t->cap) {
        t->cap = t->cap ? t->cap * 2 : 16;
        t->links = base_realloc(t->links, t->cap * sizeof(*t->links));
    }
    char *text = base_alloc(uri.n + id.n + 1);
    memcpy(text, uri.p, uri.n);
    if (id.n)
        memcpy(text + uri.n, id.p, id.n);
    t->links[t->n] = (struct link){text, (uint16_t)uri.n, (uint16_t)id.n};
    return t->n++;
}

void link_table_keep(struct link_table *t, uint32_t marks[LINKS_MAX])
{
    uint32_t n = 1;
    for (uint32_t i = 1; i < t->n; i++) {
        if (!marks[i]) {
            free(t->links[i].text);
            continue;
        }
        t->links[n] = t->links[i];
        marks[i] = n++;
    }
    t->n = n;
}
