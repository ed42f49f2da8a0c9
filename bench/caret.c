/* Caret encoding and decoding of many paths: prints bytes of plain text per second, in both
 * directions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/caret.h"
#include "base/clock.h"

#include <stdio.h>

static const char *const paths[] = {
    "/home/user/project/src/main.c",
    "/srv/www/My Documents/2024.01.31/report (final).pdf",
    "/home/user/données/Łódź/日本/🎉",
    "/usr/lib/x86_64-linux-gnu/libexample.so.1.2.3",
};

int main(void)
{
    enum {
        TEXT = 1 << 20,
        ROUNDS = 200,
    };
    AUTO_BUF struct buf plain = BUF_INIT(2 * TEXT), encoded = BUF_INIT(16 * TEXT),
                        decoded = BUF_INIT(16 * TEXT);
    AUTO_ERR struct err err = {0};
    for (size_t i = 0; plain.n < TEXT; i++)
        buf_add_z(&plain, paths[i % ARRAY_LEN(paths)]);
    uint64_t start = clock_mono_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        buf_reset(&encoded);
        buf_reset(&decoded);
        caret_encode(buf_str(&plain), &encoded);
        if (!caret_decode(buf_str(&encoded), CARET_PATH, &decoded, &err) ||
            !str_eq(buf_str(&decoded), buf_str(&plain)))
            return 1;
    }
    double seconds = (double)(clock_mono_ns() - start) / 1e9;
    printf("%.0f\n", (double)plain.n * ROUNDS / seconds / 1e6);
    return 0;
}
