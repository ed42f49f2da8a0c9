/* cordon protocol-help: print the driver's protocol, for users and models. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "run/run_protocol.h"

static const char *protocol_help_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void protocol_help_print_heading(struct cli *cli, const char *text)
{
    out_text(cli, STR("\n"));
    out_styled(cli, OUT_BOLD, text);
    out_text(cli, STR("\n"));
}

/* Prints names with their meanings, and examples if there are any. */
static void protocol_help_print_list(struct cli *cli, const json_t *entries, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        const json_t *example = json_object_get(entry, "example");
        out_line(
            cli, "  %-28s %s", protocol_help_text(entry, name), protocol_help_text(entry, "help"));
        if (!example)
            continue;
        out_text(cli, STR("      "));
        json_add_compact(&cli->stdout_buf, example);
        out_text(cli, STR("\n"));
    }
}

static void protocol_help_print(struct cli *cli, const json_t *doc)
{
    const char *key;
    json_t *value, *lines = json_object_get(json_object_get(doc, "example"), "lines");
    size_t i;
    out_styled(cli, OUT_BOLD, "Driver protocol, version 1");
    out_text(cli, STR("\n\n"));
    json_object_foreach(json_object_get(doc, "about"), key, value)
        out_line(cli, "%s: %s", key, json_string_value(value));
    protocol_help_print_heading(cli, "Input");
    json_object_foreach(json_object_get(json_object_get(doc, "input"), "properties"), key, value)
        out_line(cli, "  %-28s %s", key, protocol_help_text(value, "description"));
    protocol_help_print_heading(cli, "Actions");
    protocol_help_print_list(cli, json_object_get(doc, "actions"), "type");
    protocol_help_print_heading(cli, "Conditions");
    protocol_help_print_list(cli, json_object_get(doc, "conditions"), "type");
    protocol_help_print_heading(cli, "Observation");
    protocol_help_print_list(cli, json_object_get(doc, "observation"), "name");
    protocol_help_print_heading(cli, "Events");
    protocol_help_print_list(cli, json_object_get(doc, "events"), "type");
    protocol_help_print_heading(cli, "Errors");
    protocol_help_print_list(cli, json_object_get(doc, "errors"), "code");
    protocol_help_print_heading(cli, "Example: cordon driver -- bash --norc");
    json_array_foreach(lines, i, value) out_line(cli, "  # %s\n  %s",
        protocol_help_text(value, "about"), protocol_help_text(value, "input"));
}

static bool run_protocol_help(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO_JSON json_t *doc = protocol_json();
    (void)args;
    if (cli->json)
        return out_json(cli, json_take(&doc), err);
    protocol_help_print(cli, doc);
    return true;
}

static const struct example protocol_examples[] = {
    {"cordon protocol-help --json", "with the JSON Schema of every payload"},
};

const struct cmd cmd_protocol_help = {
    .name = "protocol-help",
    .minor = true,
    .summary = "describe the protocol of cordon driver",
    .about = "Prints a complete description of the protocol of 'cordon driver', for people and "
             "for language models: lines of input, actions and conditions with their payloads, "
             "events, errors, and an example session. It is generated from the tables that the "
             "driver uses for parsing.",
    .usage = "",
    CMD_EXAMPLES(protocol_examples),
    .run = run_protocol_help,
};
