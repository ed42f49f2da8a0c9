/* Tools that go through many files, canceled. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "tool/tool.h"

#include <fcntl.h>
#include <sys/eventfd.h>

static const struct {
    const char *name, *arguments;
    enum err_code code; /* none: the partial result counts */
} rows[] = {
    {"list_dir", "{\"path\":\".\",\"depth\":2}", E_CANCELED},
    {"glob_files", "{\"pattern\":\"**/x\"}", E_CANCELED},
    {"grep_files", "{\"pattern\":\"x\"}", ERR_NONE},
};

static void call(size_t row, int signals, struct tool_result *result)
{
    AUTO_FD int root = open(test_dir(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_ERR struct err err = {0};
    const struct toolbox_options options = {
        .root_fd = root, .cwd = test_dir(), .approve.mode = APPROVE_NEVER, .signals = signals};
    struct toolbox *box = NULL;
    if (CHECK_OK(toolbox_open(&options, &box, &err), &err))
        tool_call(box, str_z(rows[row].name), str_z(rows[row].arguments), result);
    else
        tool_result_init(result);
    toolbox_close(box);
}

TEST(tools_called_off)
{
    AUTO_FD int quiet = eventfd(0, EFD_CLOEXEC), signaled = eventfd(1, EFD_CLOEXEC);
    for (int i = 0; i < 3; i++)
        test_write(test_path("d%d/x", i), "x\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tool_result result;
        test_row(i, rows[i].name);
        call(i, quiet, &result);
        CHECK_INT(result.error.code, ERR_NONE);
        CHECK(strstr(buf_z(&result.content), "d2/x") && !result.truncated);
        tool_result_done(&result);
        call(i, signaled, &result);
        CHECK_INT(result.error.code, rows[i].code);
        CHECK(!strstr(buf_z(&result.content), "d2/x"));
        CHECK_INT(result.truncated, rows[i].code == ERR_NONE);
        tool_result_done(&result);
    }
}
