/* Changes of a box as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "base/utf8.h"
#include "box/changes.h"
#include "path/exact.h"

#define PATCH_MAX ((size_t)1 << 30)

void changes_put_patch(json_t *object, struct str patch)
{
    if (utf8_valid(patch)) {
        json_put(object, "patch", json_text(patch));
        return;
    }
    AUTO_BUF struct buf text = BUF_INIT(2 * patch.n + 16);
    base64_add(&text, patch);
    json_put(object, "patch_base64", json_text(buf_str(&text)));
}

json_t *changes_json(const struct box *box)
{
    json_t *object = json_object();
    json_put(object, "name", json_text(box->name));
    json_put(object, "mode", json_string(box_mode_name(box->meta.workdir.mode)));
    exact_put(object, "workdir", box->meta.workdir.host_path);
    return object;
}

static json_t *count_json(
    const struct delta_item *item, const struct gitpatch_count *count, const struct risks_row *acts)
{
    json_t *object = changes_item(item, acts);
    json_put(object, "binary", json_boolean(count->binary));
    json_put(object, "added", json_integer((json_int_t)count->added));
    json_put(object, "deleted", json_integer((json_int_t)count->deleted));
    if (count->omitted)
        json_put(object, "omitted", json_true());
    return object;
}

bool changes_diff_json(const struct changes_diff *d, json_t **ret_object, struct err *err)
{
    const struct delta *delta = &d->changes->delta;
    struct gitpatch p = gitpatch_start(changes_old_fd(d->changes), d->changes->trees.upper);
    AUTO_JSON json_t *object = changes_json(d->box);
    AUTO_BUF struct buf text = BUF_INIT(PATCH_MAX);
    AUTO_RISKS struct risks risks = RISKS_INIT;
    json_t *list = json_array(), *drift = json_array();
    json_put(object, "changes", list);
    json_put(object, "refused", changes_refused(delta));
    json_put(object, "left_out", changes_left_out(delta));
    json_put(object, "drift", drift);
    if (!changes_risks(d->box, d->changes, &risks, err))
        return false;
    for (size_t i = 0; i < delta->n; i++) {
        if (!gitpatch_item(&p, &delta->items[i], &text, &d->counts[i], err))
            return false;
        json_push(list, count_json(&delta->items[i], &d->counts[i], &risks.rows[i]));
    }
    for (size_t i = 0; i < d->drift->n; i++)
        json_push(drift, changes_item(&d->drift->items[i], NULL));
    if (d->whole)
        changes_put_patch(object, buf_str(&text));
    *ret_object = json_take(&object);
    return true;
}
