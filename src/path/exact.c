/* Exact file names in JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/exact.h"

#include "base/utf8.h"
#include "path/caret.h"

static void note_exact(json_t *object, const char *place, struct str bytes)
{
    AUTO_BUF struct buf encoded = BUF_INIT(CARET_GROWTH * bytes.n + 64);
    caret_encode(bytes, &encoded);
    json_t *inexact = json_object_get(object, "inexact");
    if (!inexact) {
        inexact = json_object();
        json_put(object, "inexact", inexact);
    }
    json_put(inexact, place, json_text(buf_str(&encoded)));
}

void exact_put(json_t *object, const char *key, struct str bytes)
{
    json_put(object, key, json_text(bytes));
    if (!utf8_valid(bytes))
        note_exact(object, key, bytes);
}

void exact_push(json_t *object, const char *key, struct str bytes)
{
    json_t *list = json_object_get(object, key);
    BUG_ON(!json_is_array(list));
    if (!utf8_valid(bytes)) {
        char place[64];
        snprintf(place, sizeof(place), "%s[%zu]", key, json_array_size(list));
        note_exact(object, place, bytes);
    }
    json_push(list, json_text(bytes));
}
