/* A scenario's text: if it is read, it is written with every default, and must read back as the
 * same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_back(const struct scenario *scenario)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 30);
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf b = BUF_INIT(64 << 20);
    AUTO_JSON json_t *first = scenario_json(scenario);
    struct scenario again;
    json_add_pretty(&b, first);
    bool ok = scenario_parse(buf_str(&b), "s.json", &arena, &again, &err);
    BUG_ON(!ok);
    AUTO_JSON json_t *second = scenario_json(&again);
    BUG_ON(!json_equal(first, second));
    scenario_done(&again);
}

/* A policy by its path would read files of this machine. */
static bool names_a_file(const struct str text)
{
    return memmem(text.p, text.n, "path", 4) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 30);
    AUTO_ERR struct err err = {0};
    struct scenario scenario;
    if (names_a_file(text))
        return 0;
    if (scenario_parse(text, "scenario", &arena, &scenario, &err)) {
        read_back(&scenario);
        scenario_done(&scenario);
    } else {
        BUG_ON(err.code != E_PROTOCOL && err.code != E_PROTOCOL_VERSION_MISMATCH);
    }
    return 0;
}
