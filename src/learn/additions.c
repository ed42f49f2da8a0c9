/* Proposals from denials. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/additions.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "base/yaml_text.h"

enum {
    WORD_MAX = 64 << 10,
};

static struct str additions_text(const json_t *entry, const char *key)
{
    return json_str(json_object_get(entry, key));
}

/* Takes the next word of a fix, which quotes them for a shell. */
static bool additions_next_word(struct str *rest, struct buf *word)
{
    bool quoted = false;
    size_t i = 0;
    buf_reset(word);
    while (rest->n && rest->p[0] == ' ')
        *rest = str_skip(*rest, 1);
    for (; i < rest->n && (quoted || rest->p[i] != ' '); i++) {
        if (rest->p[i] == '\'')
            quoted = !quoted;
        else if (!quoted && rest->p[i] == '\\' && i + 1 < rest->n)
            buf_add_byte(word, rest->p[++i]);
        else
            buf_add_byte(word, rest->p[i]);
    }
    *rest = str_skip(*rest, i);
    return i > 0;
}

/* Whether the list has this value already. */
static bool additions_has(const json_t *values, struct str value)
{
    for (size_t i = 0; i < json_array_size(values); i++)
        if (str_eq(additions_text(json_array_get(values, i), "value"), value))
            return true;
    return false;
}

/* The values that fixes have for an option: a new array of {"value","program"}. A placeholder is
 * not a value: HOST. */
static json_t *additions_values(const json_t *denied, const char *option)
{
    json_t *values = json_array();
    for (size_t i = 0; i < json_array_size(denied); i++) {
        const json_t *entry = json_array_get(denied, i);
        struct str rest = additions_text(entry, "fix");
        AUTO_BUF struct buf word = BUF_INIT(WORD_MAX);
        bool wanted = false;
        if (json_object_get(entry, "inexact"))
            continue;
        while (additions_next_word(&rest, &word) && buf_ok(&word)) {
            if (wanted && !str_starts_with(buf_str(&word), STR("HOST")) &&
                !additions_has(values, buf_str(&word))) {
                json_t *one = json_object();
                json_put(one, "value", json_text(buf_str(&word)));
                json_put(one, "program", json_text(additions_text(entry, "program")));
                json_push(values, one);
            }
            wanted = str_eq(buf_str(&word), str_z(option));
        }
    }
    return values;
}

static bool has_option(const json_t *denied, const char *option)
{
    for (size_t i = 0; i < json_array_size(denied); i++) {
        const char *fix = json_string_value(json_object_get(json_array_get(denied, i), "fix"));
        if (fix && strstr(fix, option))
            return true;
    }
    return false;
}

static void additions_add_list(
    struct buf *b, const char *indent, const char *key, const json_t *values)
{
    if (json_array_size(values))
        buf_printf(b, "%s%s:\n", indent, key);
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *one = json_array_get(values, i);
        struct str program = additions_text(one, "program");
        buf_printf(b, "%s  - ", indent);
        yaml_add_text(b, additions_text(one, "value"));
        if (program.n)
            buf_add_z(b, "  # for ");
        utf8_add_printable(b, program);
        buf_add_byte(b, '\n');
    }
}

/* Entries that no policy can allow, and the reasons. */
static void add_rest(struct buf *b, const json_t *denied)
{
    bool first = true;
    for (size_t i = 0; i < json_array_size(denied); i++) {
        const json_t *entry = json_array_get(denied, i);
        if (additions_text(entry, "fix").n && !json_object_get(entry, "inexact"))
            continue;
        if (first)
            buf_add_z(b, "# A policy cannot allow:\n");
        first = false;
        buf_add_z(b, "#   ");
        utf8_add_printable(b, additions_text(entry, "op"));
        buf_add_byte(b, ' ');
        utf8_add_printable(b, additions_text(entry, "target"));
        buf_add_z(b, " (");
        utf8_add_printable(b, additions_text(entry, "rule"));
        buf_add_z(b, ")\n");
    }
}

void additions_add(struct buf *b, const json_t *denied)
{
    AUTO_JSON json_t *read = additions_values(denied, "--read");
    AUTO_JSON json_t *write = additions_values(denied, "--write");
    AUTO_JSON json_t *exec = additions_values(denied, "--allow-exec");
    AUTO_JSON json_t *hosts = additions_values(denied, "--allow-host");
    if (json_array_size(denied) == 0) {
        buf_add_z(b, "# Nothing was denied.\n");
        return;
    }
    buf_add_z(b, "# Additions to the policy: what the sandbox denied. Check each before you add "
                 "it.\n");
    if (json_array_size(read) || json_array_size(write))
        buf_add_z(b, "fs:\n");
    additions_add_list(b, "  ", "allowed_read", read);
    additions_add_list(b, "  ", "allowed_write", write);
    if (json_array_size(write))
        buf_add_z(b, "fs_write_unsafe_ack: true\n");
    if (json_array_size(exec))
        buf_add_z(b, "exec:\n");
    additions_add_list(b, "  ", "allowed_executables", exec);
    additions_add_list(b, "", "allowed_hosts", hosts);
    if (has_option(denied, "--allow-host HOST"))
        buf_add_z(b, "# allowed_hosts: the hosts that it needs; or:\n");
    if (has_option(denied, "--enable-network"))
        buf_add_z(b, "network: enabled  # all or nothing\nnetwork_unsafe_ack: true\n");
    add_rest(b, denied);
}
