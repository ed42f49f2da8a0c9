/* YAML text that is read must, written as JSON, read back as the same tree. */
#include "base/doc.h"
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    AUTO_JSON json_t *again = NULL;
    struct point at = doc_locate(text, DOC_YAML, "a[1].b[\"c d\"]");
    BUG_ON(at.line == 0 || at.column == 0);
    bool ok = yaml_parse(text, "input", E_CONFIG, &tree, &err);
    BUG_ON(ok != (tree != NULL) || ok != (err.code == ERR_NONE));
    if (!ok)
        return 0;
    AUTO_BUF struct buf b = BUF_INIT(64 << 20);
    json_add_compact(&b, tree);
    ok = json_parse(buf_str(&b), "written", E_CONFIG, &again, &err);
    BUG_ON(!ok);
    BUG_ON(!json_equal(tree, again));
    return 0;
}
