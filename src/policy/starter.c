/* A policy to start from. */
#include "policy/starter.h"

#include "base/json.h"

/* Text, and below it one list entry or none. */
static void add_list(struct buf *b, const char *key, struct str entry)
{
    buf_printf(b, "  %s:", key);
    if (!entry.p) {
        buf_add_z(b, " []\n");
        return;
    }
    buf_add_z(b, "\n    - ");
    json_add_text(b, entry);
    buf_add_byte(b, '\n');
}

static void add_fs(struct buf *b, struct str root)
{
    buf_add_z(b, "\n"
                 "fs:\n"
                 "  # Files and directories that may be read, beside the system's libraries.\n");
    add_list(b, "allowed_read", root);
    buf_add_z(b, "  # ... and written: needs fs_write_unsafe_ack.\n"
                 "  allowed_write: []\n"
                 "  # Where the program starts: inside one of them.\n");
    if (root.p) {
        buf_add_z(b, "  working_dir: ");
        json_add_text(b, root);
        buf_add_byte(b, '\n');
    } else {
        buf_add_z(b, "  # working_dir: /path/to/project\n");
    }
    buf_add_z(b, "fs_write_unsafe_ack: false\n");
}

static void add_exec(struct buf *b, const struct starter *starter)
{
    buf_add_z(b, "\n"
                 "exec:\n"
                 "  # Programs that may run, and directories: every file below one may run.\n");
    add_list(b, "allowed_executables", starter->program);
    buf_add_z(b, "  # May the command be a shell or a shell script?\n");
    buf_printf(b, "  allow_shell: %s\n", starter->shell ? "true" : "false");
}

void starter_write(struct buf *b, const struct starter *starter)
{
    buf_add_z(b, "# A policy: what is not named here is not allowed.\n"
                 "# 'cordon policy check FILE -- COMMAND' says what it allows, and why not.\n"
                 "policy_version: 4\n"
                 "\n"
                 "# native: this system's own sandbox. landlock is weaker, none enforces nothing;\n"
                 "# both need sandbox_unsafe_ack.\n"
                 "sandbox: native\n"
                 "sandbox_unsafe_ack: false\n"
                 "\n"
                 "# disabled or enabled, which needs network_unsafe_ack.\n"
                 "network: disabled\n"
                 "network_unsafe_ack: false\n");
    add_fs(b, starter->root);
    add_exec(b, starter);
    buf_add_z(b, "\n"
                 "env:\n"
                 "  # Pass on the variables that the allowlist names?\n"
                 "  inherit: false\n"
                 "  allowlist: []\n"
                 "  # Variables with their values; these need no allowlist entry.\n"
                 "  set:\n"
                 "    PATH: /usr/local/bin:/usr/bin:/bin\n"
                 "\n"
                 "# A run that exceeds one of these is ended.\n"
                 "budgets:\n"
                 "  max_runtime_ms: 60000\n"
                 "  max_output_bytes: 8388608\n"
                 "\n"
                 "# The kernel refuses more than this.\n"
                 "limits:\n"
                 "  processes: 512\n"
                 "  memory_bytes: 4294967296\n");
}
