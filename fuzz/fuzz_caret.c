/* Caret encoding: any bytes round-trip; text that decodes, decodes to the same after encoding
 * again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "path/caret.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = str_n((const char *)data, size);
    AUTO_BUF struct buf encoded = BUF_INIT(CARET_GROWTH * size + 64),
                        back = BUF_INIT(CARET_GROWTH * size + 64);
    AUTO_BUF struct buf decoded = BUF_INIT(size + 64), again = BUF_INIT(CARET_GROWTH * size + 64);
    AUTO_BUF struct buf last = BUF_INIT(CARET_GROWTH * size + 64);
    AUTO_ERR struct err err = {0};

    caret_encode(input, &encoded);
    BUG_ON(!buf_ok(&encoded));
    BUG_ON(!caret_decode(buf_str(&encoded), CARET_BYTES, &back, &err));
    BUG_ON(!str_eq(buf_str(&back), input));
    char name[CARET_NAME_MAX + 1];
    caret_name(input, name);
    BUG_ON(strchr(name, '/') || strchr(name, '.'));

    if (caret_decode(input, CARET_PATH, &decoded, &err)) {
        BUG_ON(str_find(buf_str(&decoded), '\0') >= 0 && str_find(input, '\0') < 0);
        caret_encode(buf_str(&decoded), &again);
        BUG_ON(!caret_decode(buf_str(&again), CARET_BYTES, &last, &err));
        BUG_ON(!str_eq(buf_str(&last), buf_str(&decoded)));
    } else {
        BUG_ON(err.code != E_CLI_INVALID_ARG);
    }
    return 0;
}
