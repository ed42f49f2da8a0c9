/* Policies as they are shown: the generated starting point, and the grants of a verdict. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "policy/grants.h"
#include "policy/load.h"
#include "policy/starter.h"

#include <sys/stat.h>
#include <unistd.h>

enum {
    ARENA_MAX = 64 << 20,
    REFUSED_SHOWN = 100, /* see policy/starter.c */
};

/* The starting point ----------------------------------------------------------------------------
 */

#define HEAD                                                                             \
    "# A policy: everything that is not listed here is denied.\n"                        \
    "# 'cordon policy check FILE -- COMMAND' shows what it allows, and why it denies.\n" \
    "policy_version: 4\n\n"                                                              \
    "# native: this system's own sandbox. landlock is weaker, none enforces nothing;\n"  \
    "# both need sandbox_unsafe_ack.\nsandbox: native\nsandbox_unsafe_ack: false\n\n"    \
    "# disabled or enabled, which needs network_unsafe_ack.\nnetwork: disabled\n"        \
    "network_unsafe_ack: false\n"
#define READ  "  # Files and directories that may be read, in addition to the system's libraries.\n"
#define WRITE "  # ... and written: needs fs_write_unsafe_ack.\n"
#define CWD   "  # Working directory of the program: inside one of them.\n"
#define EXEC  "\nexec:\n  # Programs that may run; a directory allows every file below it.\n"
#define SHELL "  # Whether the command may be a shell or a shell script.\n"
#define ENV                                                                              \
    "\nenv:\n  # Whether to pass on the variables in the allowlist.\n  inherit: false\n" \
    "  allowlist: []\n  # Variables with their values; these need no allowlist entry.\n" \
    "  set:\n"
#define TAIL                                                                              \
    "\n# A run that exceeds one of these is killed.\nbudgets:\n  max_runtime_ms: 60000\n" \
    "  max_output_bytes: 8388608\n\n# Limits that the kernel enforces.\nlimits:\n"        \
    "  processes: 512\n  memory_bytes: 4294967296\n"

static const char least[] =
    HEAD "\nfs:\n" READ "  allowed_read: []\n" WRITE "  allowed_write: []\n" CWD
         "  # working_dir: /path/to/project\n"
         "fs_write_unsafe_ack: false\n" EXEC "  allowed_executables: []\n" SHELL
         "  allow_shell: false\n" ENV "    PATH: /usr/local/bin:/usr/bin:/bin\n" TAIL;

#define USED                                                                         \
    "# The command used the network (10.0.0.1:80). To allow it, replace the\n"       \
    "# two lines above with these; all data that it reads could then be sent out.\n" \
    "# network: enabled\n# network_unsafe_ack: true\n"                               \
    "# The command used named Unix sockets. To allow that where it can write:\n"     \
    "# allow_unix_sockets: true\n# unix_sockets_unsafe_ack: true\n"                  \
    "\nfs:\n" READ "  allowed_read:\n    - \"/p\"\n"                                 \
    "    - \"/etc/hosts\" # resolves to \"/run/hosts\"; a note\n" WRITE              \
    "  # It also wrote below /tmp, which is private and initially empty in the sandbox.\n"
#define USED_EXEC "  allowed_executables:\n    - \"/bin/sh\" # resolves to \"/bin/dash\"\n"
#define USED_TAIL                                                       \
    SHELL "  allow_shell: true\n" ENV "    PATH: \"/opt/bin\"\n" TAIL   \
          "\n# The command also used these, which cannot be allowed:\n" \
          "#   \"/dev/mem\": a device\n"

static const char traced[] =
    HEAD USED "  # The command wrote to these. Remove a '#' to allow one, and set\n"
              "  # fs_write_unsafe_ack to true: files there could be changed or deleted.\n"
              "  allowed_write: [\n    # \"/p/out\", # a note\n  ]\n" CWD
              "  working_dir: \"/p\"\nfs_write_unsafe_ack: false\n" EXEC USED_EXEC
              "    # It created programs in these directories and ran them; allowing that\n"
              "    # also needs fs_write_unsafe_ack.\n    # - \"/p/bin\"\n" USED_TAIL;

static const char allowed[] =
    HEAD USED "  allowed_write:\n    - \"/p/out\" # a note\n" CWD
              "  working_dir: \"/p\"\nfs_write_unsafe_ack: true\n" EXEC USED_EXEC
              "    - \"/p/bin\"\n" USED_TAIL;

TEST(starter_has_every_part)
{
    struct starter_path read = {STR("/etc/hosts"), STR("/run/hosts"), "a note"};
    struct starter_path write = {.path = STR("/p/out"), .note = "a note"};
    struct starter_path exec = {.path = STR("/bin/sh"), .target = STR("/bin/dash")};
    struct starter_path made = {.path = STR("/p/bin")};
    struct starter_path refused = {.path = STR("/dev/mem"), .note = "a device"};
    const struct starter all = {
        .root = STR("/p"),
        .read = {&read, 1},
        .write = {&write, 1},
        .exec = {&exec, 1},
        .made = {&made, 1},
        .refused = {&refused, 1},
        .peers = STR("10.0.0.1:80"),
        .search_path = STR("/opt/bin"),
        .unix_sockets = true,
        .tmp = true,
        .shell = true,
    };
    struct starter acknowledged = all;
    acknowledged.write_ack = true;
    const struct {
        const char *name, *want;
        struct starter starter;
    } rows[] = {
        {"least", least, {.search_path = STR(STARTER_PATH)}},
        {"traced", traced, all},
        {"acknowledged", allowed, acknowledged},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf b = BUF_INIT(1 << 20);
        test_row(i, rows[i].name);
        starter_write(&b, &rows[i].starter);
        CHECK_Z(buf_z(&b), rows[i].want);
    }
}

TEST(starter_counts_refused_paths_beyond_its_maximum)
{
    static const struct {
        size_t n;
        const char *end;
    } rows[] = {
        {0, "memory_bytes: 4294967296\n"},
        {1, "which cannot be allowed:\n#   \"/dev/mem\": a device\n"},
        {REFUSED_SHOWN, "#   \"/dev/mem\": a device\n#   \"/dev/mem\": a device\n"},
        {REFUSED_SHOWN + 2, "#   \"/dev/mem\": a device\n#   ... and 2 more\n"},
    };
    struct starter_path refused[REFUSED_SHOWN + 2];
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        refused[i] = (struct starter_path){.path = STR("/dev/mem"), .note = "a device"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf b = BUF_INIT(1 << 20);
        test_row(i, "refused");
        starter_write(&b, &(struct starter){.refused = {refused, rows[i].n}});
        CHECK(str_ends_with(buf_str(&b), str_z(rows[i].end)));
    }
}

/* Grants -------------------------------------------------------------------------------------- */

static const char full_policy[] =
    "{\"policy_version\":4,\"sandbox\":\"landlock\",\"sandbox_unsafe_ack\":true,"
    "\"network\":\"enabled\",\"network_unsafe_ack\":true,"
    "\"allow_unix_sockets\":true,\"unix_sockets_unsafe_ack\":true,"
    "\"fs\":{\"allowed_read\":[\"DIR/r\",\"DIR/file\"],\"allowed_write\":[\"DIR/w\"],"
    "\"working_dir\":\"DIR/r\"},\"fs_write_unsafe_ack\":true,"
    "\"exec\":{\"allowed_executables\":[\"DIR/w/bin\",\"DIR/file\"],\"allow_shell\":true},"
    "\"env\":{\"inherit\":true,\"allowlist\":[\"LANG\",\"TZ\"],\"set\":{\"A\":\"1\",\"B\":\"2\"}}}";

/* Replaces DIR by the test's directory, or back. */
static const char *exchange(struct buf *b, struct str text, const char *from, const char *to)
{
    for (size_t i = 0; i < text.n; i++) {
        bool found = str_starts_with(str_skip(text, i), str_z(from));
        if (found)
            buf_add_z(b, to);
        else
            buf_add_byte(b, text.p[i]);
        i += found ? strlen(from) - 1 : 0;
    }
    return buf_z(b);
}

static void check_grant(const json_t *grants, const char *key, const char *want)
{
    AUTO_BUF struct buf b = BUF_INIT(1 << 16), shown = BUF_INIT(1 << 16);
    test_row(0, key);
    json_t *value = json_object_get(grants, key);
    if (!CHECK(value != NULL))
        return;
    json_add_compact(&b, value);
    CHECK_Z(exchange(&shown, buf_str(&b), test_dir(), "DIR"), want);
}

TEST(grants_have_every_part)
{
    static const struct {
        const char *key, *want;
    } rows[] = {
        {"sandbox", "\"landlock\""},
        {"read", "[{\"given\":\"DIR/r\",\"resolved\":\"DIR/r\",\"kind\":\"directory\"},"
                 "{\"given\":\"DIR/file\",\"resolved\":\"DIR/file\",\"kind\":\"file\"}]"},
        {"write", "[{\"given\":\"DIR/w\",\"resolved\":\"DIR/w\",\"kind\":\"directory\"}]"},
        {"exec", "[{\"given\":\"DIR/w/bin\",\"resolved\":\"DIR/w/bin\",\"kind\":\"directory\"},"
                 "{\"given\":\"DIR/file\",\"resolved\":\"DIR/file\",\"kind\":\"file\"}]"},
        {"allow_shell", "true"},
        {"working_dir", "{\"given\":\"DIR/r\",\"resolved\":\"DIR/r\",\"kind\":\"directory\"}"},
        {"command", "{\"given\":\"DIR/file\",\"resolved\":\"DIR/file\",\"kind\":\"file\"}"},
        {"cwd", "{\"given\":\"DIR/w\",\"resolved\":\"DIR/w\",\"kind\":\"directory\"}"},
        {"network", "\"enabled\""},
        {"allowed_hosts", "[]"},
        {"unix_sockets", "true"},
        {"env", "{\"inherit\":[\"LANG\",\"TZ\"],\"set\":[\"A\",\"B\"]}"},
        {"artifacts", "null"},
        {"gaps", "[\"sandbox landlock: other processes, metadata and sockets of the host stay "
                 "reachable\","
                 "\"allow_unix_sockets: sockets of the host in allowed "
                 "directories can be reached\","
                 "\"writable executables: files written to 'DIR/w/bin' can be run\"]"},
    };
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_BUF struct buf text = BUF_INIT(1 << 16);
    AUTO_ERR struct err err = {0};
    struct policy policy;
    struct verdict v;
    test_write(test_path("r/x"), "");
    test_write(test_path("w/bin/x"), "");
    test_write(test_path("file"), "");
    CHECK_INT(chmod(test_path("file"), 0755), 0);
    exchange(&text, str_z(full_policy), "DIR", test_dir());
    if (!CHECK_OK(policy_parse(buf_str(&text), "p", &a, &policy, &err), &err))
        return;
    policy_validate(&policy, &(struct policy_host){0}, &a, &v);
    policy_validate_command(
        &v, &(struct policy_command){.path = test_path("file"), .cwd = test_path("w")});
    struct str *dirs;
    CHECK(verdict_dirs(&v.read, &a, &dirs) == 1 && str_eq(dirs[0], v.read.p[0].resolved));
    CHECK(verdict_dirs(&v.write, &a, &dirs) == 1 && str_eq(dirs[0], v.write.p[0].resolved));
    AUTO_JSON json_t *shown = policy_explain(&v);
    CHECK(json_is_true(json_object_get(shown, "allowed")));
    CHECK_INT(json_array_size(json_object_get(shown, "errors")), 0);
    const json_t *grants = json_object_get(shown, "grants");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_grant(grants, rows[i].key, rows[i].want);
    CHECK_INT(json_object_size(grants), ARRAY_LEN(rows) + 2); /* and budgets, limits */
}

/* Denied by both of its names. */
TEST(policy_home_is_denied_behind_a_link)
{
    static const struct {
        const char *home, *read;
        bool allowed;
    } rows[] = {
        {"home", "home", false},
        {"home", "link", false},
        {"link", "home", false},
        {"link", "link", false},
        {"link", "home/project", true},
        {"link/missing", "home", true},
    };
    test_write(test_path("home/project/x"), "");
    CHECK_INT(symlink("home", test_path("link")), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_ERR struct err err = {0};
        struct policy policy;
        struct verdict v;
        char text[1000];
        snprintf(text, sizeof(text), "{\"policy_version\":4,\"fs\":{\"allowed_read\":[\"%s\"]}}",
            test_path("%s", rows[i].read));
        test_row(i, rows[i].read);
        CHECK_OK(policy_parse(str_z(text), "p", &a, &policy, &err), &err);
        const struct policy_host host = {.home = test_path("%s", rows[i].home)};
        policy_validate(&policy, &host, &a, &v);
        CHECK_INT(v.denials.n, rows[i].allowed ? 0 : 1); /* each path once */
    }
}
