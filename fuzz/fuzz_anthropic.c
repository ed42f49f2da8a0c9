/* Fuzzes the reader of Anthropic's Messages API: any stream of events gives a valid message, the
 * same however it is cut, and one that can be sent again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_dialect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_dialect(&dialect_anthropic, str_n((const char *)data, size));
    return 0;
}
