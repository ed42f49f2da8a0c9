/* libvterm, to be measured: its screen layer with damage merged as far as it goes, and a scrollback
 * of as many lines as ours, which it leaves to its caller. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term_engine.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

struct engine {
    VTerm *vt;
    VTermScreenCell *lines[ENGINE_SCROLLBACK];
    size_t next;
};

static int push_line(int cols, const VTermScreenCell *cells, void *context)
{
    struct engine *e = context;
    VTermScreenCell **line = &e->lines[e->next++ % ENGINE_SCROLLBACK];
    if (!*line)
        *line = malloc((size_t)cols * sizeof(*cells));
    if (!*line)
        abort();
    memcpy(*line, cells, (size_t)cols * sizeof(*cells));
    return 1;
}

static VTermScreenCallbacks callbacks = {.sb_pushline = push_line};

static void drop_output(const char *bytes, size_t n, void *context)
{
    (void)bytes;
    (void)n;
    (void)context;
}

struct engine *engine_new(unsigned rows, unsigned cols)
{
    struct engine *e = calloc(1, sizeof(*e));
    if (!e)
        abort();
    e->vt = vterm_new((int)rows, (int)cols);
    vterm_set_utf8(e->vt, 1);
    vterm_output_set_callback(e->vt, drop_output, NULL);
    VTermScreen *screen = vterm_obtain_screen(e->vt);
    vterm_screen_set_callbacks(screen, &callbacks, e);
    vterm_screen_set_damage_merge(screen, VTERM_DAMAGE_SCROLL);
    vterm_screen_enable_altscreen(screen, 1);
    vterm_screen_reset(screen, 1);
    return e;
}

void engine_free(struct engine *e)
{
    vterm_free(e->vt);
    for (size_t i = 0; i < ENGINE_SCROLLBACK; i++)
        free(e->lines[i]);
    free(e);
}

void engine_feed(struct engine *e, const char *bytes, size_t n)
{
    vterm_input_write(e->vt, bytes, n);
}
