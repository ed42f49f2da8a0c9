/* Generates a policy to start from. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/starter.h"

#include "base/yaml_text.h"

enum {
    REFUSED_SHOWN = 100,
};

/* A quoted path: one line of plain text, whatever its bytes are. */
static void starter_add_path(struct buf *b, const char *before, struct str path, const char *after)
{
    buf_add_z(b, before);
    yaml_add_text(b, path);
    buf_add_z(b, after);
}

static void end_entry(struct buf *b, const struct starter_path *entry)
{
    if (entry->target.p)
        starter_add_path(b, " # resolves to ", entry->target, "");
    if (entry->note)
        buf_printf(b, "%s %s", entry->target.p ? ";" : " #", entry->note);
    buf_add_byte(b, '\n');
}

static void add_entries(struct buf *b, const char *before, const struct starter_paths *list)
{
    for (size_t i = 0; i < list->n; i++) {
        starter_add_path(b, before, list->p[i].path, "");
        end_entry(b, &list->p[i]);
    }
}

static void add_read(struct buf *b, const struct starter *starter)
{
    buf_add_z(b, "  # Files and directories that may be read, in addition to the system's "
                 "libraries.\n  allowed_read:");
    buf_add_z(b, starter->root.p || starter->read.n ? "\n" : " []\n");
    if (starter->root.p)
        starter_add_path(b, "    - ", starter->root, "\n");
    add_entries(b, "    - ", &starter->read);
}

/* A flow sequence, so that removing a '#' is enough. */
static void add_write_comments(struct buf *b, const struct starter_paths *write)
{
    buf_add_z(b, "  # The command wrote to these. Remove a '#' to allow one, and set\n  # "
                 "fs_write_unsafe_ack to true: files there could be changed or deleted.\n  "
                 "allowed_write: [\n");
    for (size_t i = 0; i < write->n; i++) {
        starter_add_path(b, "    # ", write->p[i].path, ",");
        end_entry(b, &write->p[i]);
    }
    buf_add_z(b, "  ]\n");
}

static void add_fs(struct buf *b, const struct starter *starter)
{
    bool writes = starter->write.n && starter->write_ack;
    buf_add_z(b, "\nfs:\n");
    add_read(b, starter);
    buf_add_z(b, "  # ... and written: needs fs_write_unsafe_ack.\n");
    if (starter->tmp)
        buf_add_z(b, "  # It also wrote below /tmp, which is private and initially empty in the "
                     "sandbox.\n");
    if (writes) {
        buf_add_z(b, "  allowed_write:\n");
        add_entries(b, "    - ", &starter->write);
    } else if (starter->write.n) {
        add_write_comments(b, &starter->write);
    } else {
        buf_add_z(b, "  allowed_write: []\n");
    }
    buf_add_z(b, "  # Working directory of the program: inside one of them.\n");
    if (starter->root.p)
        starter_add_path(b, "  working_dir: ", starter->root, "\n");
    else
        buf_add_z(b, "  # working_dir: /path/to/project\n");
    buf_printf(b, "fs_write_unsafe_ack: %s\n", starter->write_ack ? "true" : "false");
}

static void add_exec(struct buf *b, const struct starter *starter)
{
    bool made = starter->made.n && starter->write_ack;
    buf_add_z(b, "\nexec:\n  # Programs that may run; a directory allows every file below it.\n  "
                 "allowed_executables:");
    buf_add_z(b, starter->exec.n || made ? "\n" : " []\n");
    add_entries(b, "    - ", &starter->exec);
    if (made) {
        add_entries(b, "    - ", &starter->made);
    } else if (starter->made.n) {
        buf_add_z(b,
            "    # It created programs in these directories and ran them; allowing that\n    "
            "# also needs fs_write_unsafe_ack.\n");
        add_entries(b, "    # - ", &starter->made);
    }
    buf_add_z(b, "  # Whether the command may be a shell or a shell script.\n");
    buf_printf(b, "  allow_shell: %s\n", starter->shell ? "true" : "false");
}

static void add_developer(struct buf *b)
{
    buf_add_z(b,
        "\n# Your toolchains, read-only: the directories of PATH and what they need; PATH and "
        "the\n# locale; a private home directory.\ndeveloper: true\n");
}

static void add_network(struct buf *b, const struct starter *starter)
{
    buf_add_z(b, "\n# disabled or enabled, which needs network_unsafe_ack.\nnetwork: "
                 "disabled\nnetwork_unsafe_ack: false\n");
    if (starter->peers.p) {
        buf_add_z(b, "# The command used the network (");
        buf_add_str(b, starter->peers);
        buf_add_z(b,
            "). To allow it, replace the\n# two lines above with these; all data that it reads "
            "could then be sent out.\n# network: enabled\n# network_unsafe_ack: true\n");
    }
    if (starter->unix_sockets)
        buf_add_z(b, "# The command used named Unix sockets. To allow that where it can write:\n# "
                     "allow_unix_sockets: true\n# unix_sockets_unsafe_ack: true\n");
}

static void add_refused(struct buf *b, const struct starter_paths *refused)
{
    size_t shown = MIN(refused->n, (size_t)REFUSED_SHOWN);
    if (refused->n == 0)
        return;
    buf_add_z(b, "\n# The command also used these, which cannot be allowed:\n");
    for (size_t i = 0; i < shown; i++) {
        starter_add_path(b, "#   ", refused->p[i].path, "");
        buf_printf(b, ": %s\n", refused->p[i].note ? refused->p[i].note : "");
    }
    if (refused->n > shown)
        buf_printf(b, "#   ... and %zu more\n", refused->n - shown);
}

void starter_write(struct buf *b, const struct starter *starter)
{
    buf_add_z(b, "# A policy: everything that is not listed here is denied.\n# 'cordon policy "
                 "check FILE -- COMMAND' shows what it allows, and why it denies.\npolicy_version: "
                 "4\n\n# native: this system's own sandbox. landlock is weaker, none enforces "
                 "nothing;\n# both need sandbox_unsafe_ack.\nsandbox: native\nsandbox_unsafe_ack: "
                 "false\n");
    add_network(b, starter);
    if (starter->developer)
        add_developer(b);
    add_fs(b, starter);
    add_exec(b, starter);
    buf_add_z(b, "\nenv:\n  # Whether to pass on the variables in the allowlist.\n  inherit: "
                 "false\n  allowlist: []\n  # Variables with their values; these need no allowlist "
                 "entry.\n  set:\n");
    if (starter->search_path.p && !str_is(starter->search_path, STARTER_PATH))
        starter_add_path(b, "    PATH: ", starter->search_path, "\n");
    else
        buf_add_z(b, "    PATH: " STARTER_PATH "\n");
    buf_add_z(b, "\n# A run that exceeds one of these is killed.\nbudgets:\n  max_runtime_ms: "
                 "60000\n  max_output_bytes: 8388608\n\n# Limits that the kernel "
                 "enforces.\nlimits:\n  processes: 512\n  memory_bytes: 4294967296\n");
    add_refused(b, &starter->refused);
}
