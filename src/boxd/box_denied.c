/* Denials of a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/box_denied.h"

#include "box/facts.h"
#include "io/replace.h"

enum {
    LINES_MAX = LINK_PACKET_MAX / 2,
};

void box_denied_tell(struct supervisor *sv, const struct client *c, int status)
{
    AUTO_BUF struct buf lines = BUF_INIT(LINES_MAX);
    if (status == 0 || c->fd < 0)
        return;
    AUTO_JSON json_t *list =
        denied_json(sv->view.confined.denied, &(struct denied_style){.front = DENIED_FOR_BOX,
                                                  .home = sv->options->home,
                                                  .session = c->exec.session,
                                                  .failed_only = true,
                                                  .or_others = true});
    denied_add_lines(&lines, list);
    if (lines.n && buf_ok(&lines))
        (void)link_send(c->fd, LINK_DENIED, NULL, 0, buf_str(&lines), NULL);
}

void box_denied_save(struct supervisor *sv)
{
    AUTO_BUF struct buf text = BUF_INIT(FACTS_DENIED_MAX);
    AUTO_JSON json_t *list = denied_json(sv->view.confined.denied,
        &(struct denied_style){.front = DENIED_FOR_BOX, .home = sv->options->home});
    const struct replace_options o = {
        .dir = sv->box->host, .name = FACTS_DENIED_FILE, .mode = 0600};
    json_add_compact(&text, list);
    if (json_array_size(list) && buf_ok(&text))
        (void)!replace_file(&o, buf_str(&text));
}
