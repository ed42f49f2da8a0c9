/* Scripts: read, and every turn that was accepted is played in both dialects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/script_render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void play_all(struct script *s, const struct script_dialect *dialect)
{
    const struct script_render_spec spec = {.script = s, .model = "m", .number = 1, .port = 1};
    for (size_t i = 0; i < 4; i++) {
        struct script_render play;
        script_render_init(&play);
        script_render_turn(&play, dialect, &spec, script_next(s, STR("hello"), SCRIPT_LAST_USER));
        BUG_ON(play.n_marks && play.marks[play.n_marks - 1].at > play.body.n);
        script_render_done(&play);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script *s = NULL;
    AUTO_ERR struct err err = {0};
    if (!script_from_text(str_n((const char *)data, size), "fuzz", &s, &err)) {
        BUG_ON(err.code != E_PROTOCOL && err.code != E_PROTOCOL_VERSION_MISMATCH);
        return 0;
    }
    play_all(s, &script_anthropic);
    play_all(s, &script_openai);
    script_free(s);
    return 0;
}
