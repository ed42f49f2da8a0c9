/* Loops with vectors, compared with their plain forms: every length, start and position of a
 * byte. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_runs.h"
#include "test.h"

enum {
    ROOM = 80, /* several vectors, and a remainder */
    STARTS = 17,
};

/* A byte that ends a run, or nearly does, at every position of every length. */
TEST(runs_end_where_the_plain_ones_do)
{
    static const uint8_t ends[] = {0x00, 0x06, 0x07, 0x08, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1F, 0x20,
        0x7E, 0x7F, 0x80, 0x9B, 0xFF};
    static const uint8_t fillers[] = {'x', 0x7E, 0x20, 0xC3};
    for (size_t n = 0; n <= ROOM - STARTS; n++)
        for (size_t at = 0; at < MAX(n, (size_t)1); at++)
            for (size_t e = 0; e < ARRAY_LEN(ends); e++) {
                uint8_t bytes[ROOM];
                size_t start = (n + at) % STARTS;
                const uint8_t *from = bytes + start, *end = from + n;
                memset(bytes, fillers[(n + e) % ARRAY_LEN(fillers)], sizeof(bytes));
                bytes[start + at] = ends[e];
                test_row(n, "length");
                CHECK_INT(runs_ascii(from, end), runs_ascii_plain(from, end));
                CHECK_INT(runs_string(from, end), runs_string_plain(from, end));
            }
}

/* Nothing outside the run is written. */
TEST(runs_write_the_same_as_plain_loops)
{
    static const cell templates[] = {0, 1ull << 63, 0x0123456789ABCD00u};
    uint8_t bytes[ROOM];
    for (size_t i = 0; i < ROOM; i++)
        bytes[i] = (uint8_t)(0xF5 + i);
    for (size_t n = 0; n <= ROOM - STARTS; n++)
        for (size_t k = 0; k < ARRAY_LEN(templates); k++) {
            size_t start = (n + k) % STARTS;
            cell quick[ROOM], plain[ROOM];
            memset(quick, 0x55, sizeof(quick));
            memset(plain, 0x55, sizeof(plain));
            test_row(n, "length");
            runs_put(quick + start, bytes + start, n, templates[k]);
            runs_put_plain(plain + start, bytes + start, n, templates[k]);
            CHECK(memcmp(quick, plain, sizeof(quick)) == 0);
            runs_fill(quick + start, n, templates[k] | 'E');
            for (size_t i = 0; i < n; i++)
                plain[start + i] = templates[k] | 'E';
            CHECK(memcmp(quick, plain, sizeof(quick)) == 0);
        }
}
