/* JSON text, read by a table and written, must read back as the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/doc.h"
#include "sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The error's location must be found, whatever the keys are. */
static void locate(struct str text, const struct err *err)
{
    const struct err_pair *field = err_ctx_get(err, "field");
    struct point at = doc_locate(text, DOC_JSON, field ? field->text : "");
    BUG_ON(at.line == 0 || at.column == 0);
}

static void read_back(const struct sample *first)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf b = BUF_INIT(16 << 20);
    AUTO_JSON json_t *written = field_write(&sample_shape, first);
    AUTO_JSON json_t *parsed = NULL;
    struct sample second;
    json_add_pretty(&b, written);
    bool ok = json_parse(buf_str(&b), "written", E_CONFIG, &parsed, &err);
    BUG_ON(!ok);
    BUG_ON(!json_equal(written, parsed));
    ok = field_read(&sample_shape, parsed, &arena, E_CONFIG, &second, &err);
    BUG_ON(!ok);
    AUTO_JSON json_t *again = field_write(&sample_shape, &second);
    BUG_ON(!json_equal(written, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    AUTO_ARENA struct arena arena = ARENA_INIT(256 << 10);
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    struct sample sample;
    if (!json_parse(text, "input", E_CONFIG, &tree, &err)) {
        locate(text, &err);
        return 0;
    }
    if (field_read(&sample_shape, tree, &arena, E_CONFIG, &sample, &err))
        read_back(&sample);
    else
        locate(text, &err);
    return 0;
}
