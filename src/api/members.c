/* Options of cordon(1) in messages as members of the structures of cordon.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

/* Acknowledgements keep their names, as documented. */
static const struct {
    const char *option, *member;
} members[] = {
    {"--abandon-unapplied", "abandon_unapplied"},
    {"--agent", "agent"},
    {"--allow-executed-config", "allow_executed"},
    {"--allow-host", "hosts"},
    {"--approval", "approval"},
    {"--artifacts", "artifacts"},
    {"--base-url", "base_url"},
    {"--box", "box"},
    {"--continue", "latest"},
    {"--cpu", "cpu_seconds"},
    {"--cpus", "cpus"},
    {"--cwd", "cwd"},
    {"--dir", "dirs"},
    {"--disk", "disk"},
    {"--fork", "fork"},
    {"--fs-mode", "mode"},
    {"--image", "images"},
    {"--include-ignored", "include_ignored"},
    {"--max-retries", "max_retries"},
    {"--max-time-ms", "max_time_ms"},
    {"--max-tokens", "max_tokens"},
    {"--max-total-tokens", "max_total_tokens"},
    {"--max-turns", "max_turns"},
    {"--memory", "memory"},
    {"--model", "model"},
    {"--network", "network"},
    {"--no-sandbox", "sandbox \"none\""},
    {"--policy", "policy"},
    {"--port", "ports"},
    {"--preset", "preset"},
    {"--processes", "processes"},
    {"--prompt", "prompt"},
    {"--provider", "provider"},
    {"--replace", "replace"},
    {"--root", "root"},
    {"--sandbox", "sandbox"},
    {"--script", "script"},
    {"--session", "session"},
    {"--system", "system"},
    {"--temperature", "temperature"},
    {"--workspace", "workspace"},
    {"--yes", "uncommitted"},
};

enum {
    TEXT_MAX = 64 << 20,
};

static bool members_is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* The member of the option at the beginning of the text, or NULL; *ret_n is the option's length. */
static const char *members_find(const char *text, size_t *ret_n)
{
    size_t n = 0;
    while (members_is_name(text[n]))
        n++;
    *ret_n = n;
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (str_is(str_n(text, n), members[i].option))
            return members[i].member;
    return NULL;
}

/* Quotes enclose words of the user, and command lines. An apostrophe follows a letter. */
void api_name_members_text(const char *text, struct buf *out)
{
    char before = ' ';
    bool quoted = false;
    while (*text) {
        size_t n = 1;
        const char *member = NULL;
        if (*text == '\'')
            quoted = !quoted && (before == ' ' || before == '(');
        else if (!quoted && *text == '-' && !members_is_name(before))
            member = members_find(text, &n);
        if (member)
            buf_add_z(out, member);
        else
            buf_add(out, text, n);
        before = text[n - 1];
        text += n;
    }
}

static void members_replace(char **text)
{
    AUTO_BUF struct buf out = BUF_INIT(TEXT_MAX);
    if (!*text || !strstr(*text, "--"))
        return;
    api_name_members_text(*text, &out);
    if (!buf_ok(&out))
        return;
    free(*text);
    *text = buf_take(&out);
}

void api_name_members(struct err *err)
{
    members_replace(&err->message);
    for (size_t i = 0; i < err->n_ctx; i++)
        if (strcmp(err->ctx[i].key, "remedy") == 0 || strcmp(err->ctx[i].key, "why") == 0)
            members_replace(&err->ctx[i].text);
}

void api_name_members_in(json_t *object, const char *key)
{
    AUTO_BUF struct buf out = BUF_INIT(TEXT_MAX);
    const char *text = json_string_value(json_object_get(object, key));
    if (!text || !strstr(text, "--") ||
        strlen(text) != json_string_length(json_object_get(object, key)))
        return;
    api_name_members_text(text, &out);
    if (buf_ok(&out))
        json_put(object, key, json_text(buf_str(&out)));
}
