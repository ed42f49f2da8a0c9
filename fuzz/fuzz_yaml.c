/* YAML text that is read must, written as JSON, read back as the same tree, and have the same lines
 * as for a program that splits at LF. Any bytes, written as a quoted scalar, are read back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/doc.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "base/yaml_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has(struct str text, const char *part)
{
    return text.n && memmem(text.p, text.n, part, strlen(part));
}

static void check_breaks(struct str text)
{
    BUG_ON(has(text, "\xC2\x85") || has(text, "\xE2\x80\xA8") || has(text, "\xE2\x80\xA9"));
    for (size_t i = 0; i < text.n; i++)
        BUG_ON(text.p[i] == '\r' && (i + 1 == text.n || text.p[i + 1] != '\n'));
}

static size_t count(struct str text, const char *part)
{
    size_t n = 0, length = strlen(part);
    const char *at;
    while (text.n && (at = memmem(text.p, text.n, part, length))) {
        text = str_skip(text, (size_t)(at - text.p) + length);
        n++;
    }
    return n;
}

/* Invisible characters are only in values: not in a comment or between two values. */
static void check_hidden(struct str text, struct str json)
{
    static const struct {
        const char *raw, *escaped;
    } rows[] = {{"\xE2\x80\x8B", "\\u200b"}, {"\xC2\xAD", "\\u00ad"}, {"\xE2\x81\xA0", "\\u2060"},
        {"\xEF\xBB\xBF", "\\ufeff"}, {"\xE2\x80\xAE", "\\u202e"}};
    text = utf8_skip_mark(text);
    for (size_t i = 0; i < ARRAY_LEN(rows) && !has(text, "\\"); i++)
        BUG_ON(count(text, rows[i].raw) != count(json, rows[i].escaped));
}

/* As a value, and in a comment, where it has no effect. */
static void check_written(struct str bytes)
{
    AUTO_BUF struct buf written = BUF_INIT(1 << 20), lossy = BUF_INIT(1 << 20);
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    if (str_find(bytes, '\0') >= 0)
        return;
    buf_add_z(&written, "- ");
    yaml_add_text(&written, bytes);
    buf_add_z(&written, " # ");
    yaml_add_text(&written, bytes);
    utf8_add_lossy(&lossy, bytes);
    bool ok = yaml_parse(buf_str(&written), "written", E_CONFIG, &tree, &err);
    BUG_ON(!ok || !str_eq(json_str(json_array_get(tree, 0)), buf_str(&lossy)));
}

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
    check_written(text);
    if (!ok)
        return 0;
    check_breaks(text);
    AUTO_BUF struct buf b = BUF_INIT(64 << 20);
    json_add_compact(&b, tree);
    check_hidden(text, buf_str(&b));
    ok = json_parse(buf_str(&b), "written", E_CONFIG, &again, &err);
    BUG_ON(!ok);
    BUG_ON(!json_equal(tree, again));
    return 0;
}
