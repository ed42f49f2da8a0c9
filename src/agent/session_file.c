/* Session files in either form. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/session_file.h"

#include "agent/envelope.h"
#include "io/file.h"

bool session_file_has_lines(const struct line_file *t)
{
    AUTO_BUF struct buf line = BUF_INIT((size_t)STORE_LINE_MAX + 1);
    AUTO_ERR struct err ignored = {0};
    AUTO_JSON json_t *header = NULL;
    bool more = false;
    if (!line_file_first(t, &line, &more))
        return false;
    if (!more && !str_ends_with(str_z(t->name), STR(".jsonl")))
        return false;
    const json_t *list = json_parse(buf_str(&line), "", E_CONFIG, &header, &ignored)
                             ? json_object_get(header, "messages")
                             : NULL;
    return json_is_array(list) && json_array_size(list) == 0;
}

bool session_file_lines(
    struct line_file *t, const struct mask *mask, struct buf *lines, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT((size_t)STORE_BYTES_MAX + (64 << 10));
    BUG_ON(!buf_reserve(&text, (size_t)t->size + 1));
    return lseek(t->fd, 0, SEEK_SET) == 0 &&
           file_read(t->fd, (size_t)STORE_BYTES_MAX, t->name, &text, err) &&
           envelope_to_lines(buf_str(&text), t->name, mask, lines, err);
}
