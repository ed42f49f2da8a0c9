/* Arguments of tools: any text is valid, or an error that names the tool. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const struct tool *tool = tools[data[0] % n_tools];
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    if (!json_parse(str_n((const char *)data + 1, size - 1), "a", E_TOOL_VALIDATION, &tree, &err))
        return 0;
    AUTO_ARENA struct arena a = ARENA_INIT(TOOL_ARGS_ARENA);
    _Alignas(max_align_t) unsigned char args[TOOL_ARGS_SIZE] = {0};
    if (!tool_read_arguments(tool, tree, &a, args, &err))
        BUG_ON(err.code != E_TOOL_VALIDATION || !strstr(err.message, tool->name) ||
               !strstr(err.message, "or example "));
    return 0;
}
