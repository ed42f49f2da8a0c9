/* An untrusted session: as lines, and as an envelope. An accepted one is written the same way each
 * time, is valid once it is repaired, and has no key that was to be masked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/envelope.h"
#include "agent/exchange.h"
#include "agent/repair.h"
#include "agent/session_file.h"
#include "io/file.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    TEXT_MAX = 64 << 20,
};

static bool line_file_of(struct str text, struct line_file *ret_file)
{
    AUTO_ERR struct err err = {0};
    int fd = memfd_create("session", MFD_CLOEXEC);
    BUG_ON(fd < 0 || !file_write_all(fd, text));
    return line_file_from_fd(fd, "session", ret_file, &err);
}

/* Converts lines to an envelope; false: they are not a session. */
static bool export(struct str lines, struct buf *envelope)
{
    AUTO_ERR struct err err = {0};
    AUTO(line_file_close) struct line_file t = LINE_FILE_NONE;
    AUTO_STORE struct store *s = NULL;
    BUG_ON(!line_file_of(lines, &t));
    if (!store_read(&t, &s, &err)) {
        BUG_ON(err.code != E_CONFIG);
        return false;
    }
    AUTO_JSON json_t *messages = store_messages(s);
    BUG_ON(!repair_is_valid(messages));
    exchange_add(s, envelope);
    return true;
}

/* An accepted envelope gives lines that are accepted, and the same envelope again. */
static void round_trip(struct str envelope)
{
    static const struct mask none;
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf lines = BUF_INIT(TEXT_MAX), again = BUF_INIT(TEXT_MAX);
    BUG_ON(!envelope_to_lines(envelope, "session", &none, &lines, &err));
    BUG_ON(!export(buf_str(&lines), &again));
    BUG_ON(!str_eq(buf_str(&again), envelope));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    AUTO_ERR struct err err = {0};
    AUTO(line_file_close) struct line_file t = LINE_FILE_NONE;
    AUTO_BUF struct buf lines = BUF_INIT(TEXT_MAX), first = BUF_INIT(TEXT_MAX);
    AUTO(mask_done) struct mask mask = {0};
    mask_add(&mask, STR("secret-key"));
    BUG_ON(!line_file_of(text, &t));
    (void)session_file_has_lines(&t);
    if (export(text, &first))
        round_trip(buf_str(&first));
    if (!envelope_to_lines(text, "session", &mask, &lines, &err)) {
        BUG_ON(err.code != E_CONFIG);
        return 0;
    }
    BUG_ON(lines.n && memmem(lines.p, lines.n, "secret-key", strlen("secret-key")));
    buf_reset(&first);
    BUG_ON(!export(buf_str(&lines), &first));
    round_trip(buf_str(&first));
    return 0;
}
