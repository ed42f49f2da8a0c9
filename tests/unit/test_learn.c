/* Learning from a run: events in, lists out. No program is run here; tests/cli does that.
 *
 * An event is a line "use path" or "use spelling -> path". Uses: r read, w written, e entry
 * changed, m entry made, x executed, s a Unix socket, n an address, l one on the loopback. On the
 * fake host a name with a dot in it is a file, one that begins with "gone" no longer exists,
 * everything else is a directory; the home directory is /home/u.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "job/helpers.h"
#include "learn/learn.h"
#include "learn/learn_observe.h"
#include "path/lexical.h"

#include <arpa/inet.h>

enum {
    ARENA_MAX = 256 << 20,
};

static struct learn_look fake_look(void *arg, struct str path, enum blocked_use use)
{
    (void)arg;
    struct str name = lexical_name(path);
    const struct blocked *row = blocked_path(path, use);
    struct learn_look look = {.why_not = row ? row->reason : NULL};
    CHECK_INT(path.p[path.n], 0);
    if (str_is(path, "/home/u"))
        look.why_not = "it is the home directory";
    if (!str_starts_with(name, STR("gone")))
        look.type = str_find(name, '.') >= 0 ? LEARN_FILE : LEARN_DIR;
    return look;
}

static void play(struct learn *l, const char *events)
{
    static const char letters[] = "rwexsnlm";
    static const enum trace_kind kinds[] = {TRACE_READ, TRACE_WRITE, TRACE_ENTRY, TRACE_EXEC,
        TRACE_SOCKET, TRACE_NETWORK, TRACE_NETWORK, TRACE_ENTRY};
    struct str line, rest = str_z(events);
    while (str_cut(rest, '\n', &line, &rest)) {
        const char *letter = strchr(letters, line.p[0]);
        const char *arrow = memmem(line.p, line.n, " -> ", 4);
        struct trace_event event = {
            .kind = kinds[letter - letters],
            .path = str_skip(line, 2),
            .made = *letter == 'm',
            .loopback = *letter == 'l',
        };
        if (arrow) {
            event.given = str_head(event.path, (size_t)(arrow - event.path.p));
            event.path = str_skip(event.path, event.given.n + 4);
        }
        learn_add(l, &event);
    }
}

static void describe_list(struct buf *b, const char *letter, const struct starter_paths *list)
{
    for (size_t i = 0; i < list->n; i++) {
        buf_printf(b, "%s " STR_FMT, letter, STR_ARG(list->p[i].path));
        if (list->p[i].target.p)
            buf_printf(b, " -> " STR_FMT, STR_ARG(list->p[i].target));
        if (list->p[i].note)
            buf_printf(b, " (%s)", list->p[i].note);
        buf_add_byte(b, '\n');
    }
}

static void describe(struct buf *b, const struct learn *l, const struct learned *learned)
{
    describe_list(b, "r", &learned->read);
    describe_list(b, "w", &learned->write);
    describe_list(b, "x", &learned->exec);
    describe_list(b, "made", &learned->made);
    describe_list(b, "refused", &learned->refused);
    for (size_t i = 0; i < l->n_peers; i++)
        buf_printf(b, "peer " STR_FMT "\n", STR_ARG(l->peers[i]));
    buf_add_z(b, l->network ? "network\n" : "");
    buf_add_z(b, learned->unix_sockets ? "unix\n" : "");
    buf_add_z(b, learned->tmp ? "tmp\n" : "");
}

static const struct {
    const char *name, *events, *want;
} rows[] = {
    {"nothing", "", ""},
    {"in every sandbox",
        "r /usr/lib/x86_64-linux-gnu/libc.so.6\nr /lib64/ld.so\nr /usr/share/zoneinfo/UTC\n"
        "r /usr/libexec/x\nr /etc/ld.so.cache\nr /etc/passwd\nr /proc/1/stat\nr /dev/null\n"
        "w /dev/null\nw /dev/tty\nm /dev/shm/sem.x\nw /dev/pts/3",
        ""},
    {"only similar names", "r /usr/local/lib/a.so\nr /etc/passwd.bak\nr /usr/sharer/a.b",
        "r /etc/passwd.bak\nr /usr/local/lib/a.so\nr /usr/sharer/a.b\n"},
    {"below the root", "r /work/a.c\nr /work/deep/b.c\nr /work\nr /workshop/c.c",
        "r /workshop/c.c\n"},
    {"each once", "r /opt/a/x.h\nr /opt/a/x.h\nr /opt/a/x.h\nr /opt/a/x.h\nr /opt/a/x.h",
        "r /opt/a/x.h\n"},
    {"three files of a directory", "r /opt/a/1.h\nr /opt/a/2.h\nr /opt/a/3.h",
        "r /opt/a/1.h\nr /opt/a/2.h\nr /opt/a/3.h\n"},
    {"four files of a directory",
        "r /opt/a/1.h\nr /opt/a/2.h\nr /opt/a/3.h\nr /opt/a/4.h\n"
        "r /opt/a/deep/5.h\nr /opt/a-b/6.h",
        "r /opt/a\nr /opt/a-b/6.h\n"},
    {"a listed directory", "r /opt/a\nr /opt/a/1.h\nr /opt/a.h", "r /opt/a\nr /opt/a.h\n"},
    {"a blocked directory is not named for its files",
        "r /etc/1.c\nr /etc/2.c\nr /etc/3.c\nr /etc/4.c",
        "r /etc/1.c\nr /etc/2.c\nr /etc/3.c\nr /etc/4.c\n"},
    {"nor is a home",
        "r /home/u/1.c\nr /home/u/2.c\nr /home/u/3.c\nr /home/u/4.c\n"
        "r /home/v/1.c\nr /home/v/2.c\nr /home/v/3.c\nr /home/v/4.c",
        "r /home/u/1.c\nr /home/u/2.c\nr /home/u/3.c\nr /home/u/4.c\n"
        "r /home/v/1.c\nr /home/v/2.c\nr /home/v/3.c\nr /home/v/4.c\n"},
    {"nor one with secrets", "r /home/u/k/1.c\nr /home/u/k/2.c\nr /home/u/k/3.c\nr /home/u/k/x.pem",
        "r /home/u/k/1.c\nr /home/u/k/2.c\nr /home/u/k/3.c\n"
        "r /home/u/k/x.pem (may be a private key)\n"},
    {"eight directories",
        "r /opt/p/v/a\nr /opt/p/v/b\nr /opt/p/v/c\nr /opt/p/v/d\nr /opt/p/v/e\n"
        "r /opt/p/v/f\nr /opt/p/v/g\nr /opt/p/v/h",
        "r /opt/p/v\n"},
    {"eight directories of a wide one",
        "r /var/lib/a\nr /var/lib/b\nr /var/lib/c\nr /var/lib/d\n"
        "r /var/lib/e\nr /var/lib/f\nr /var/lib/g\nr /var/lib/h",
        "r /var/lib/a\nr /var/lib/b\nr /var/lib/c\nr /var/lib/d\n"
        "r /var/lib/e\nr /var/lib/f\nr /var/lib/g\nr /var/lib/h\n"},
    {"blocked", "r /\nr /sys/kernel/x.y\nr /etc\nr /home/u\nw /etc/x.conf\nw /proc/sys/x.y",
        "refused / (it is the whole file system)\n"
        "refused /etc (it holds the system's settings and secrets)\n"
        "refused /etc/x.conf (writing there changes the system)\n"
        "refused /home/u (it is the home directory)\n"
        "refused /proc/sys/x.y (it gives access to other processes)\n"
        "refused /sys/kernel/x.y (it gives access to the kernel)\n"},
    {"not UTF-8", "r /opt/\xff.h", "refused /opt/\xff.h (its name is not UTF-8)\n"},
    {"passwords", "r /etc/shadow", "r /etc/shadow (every user's password, hashed)\n"},
    {"gone", "r /opt/a/gone\nw /opt/a/gone\nx /opt/a/gone", ""},
    {"over a link", "r /opt/l.h -> /srv/r/real.h\nx /bin/sh.x -> /usr/bin/dash.x",
        "r /opt/l.h -> /srv/r/real.h\nx /bin/sh.x -> /usr/bin/dash.x\n"},
    {"two spellings", "x /bin/l.x -> /usr/bin/r.x\nx /usr/bin/l.x -> /usr/bin/r.x\nx /usr/bin/r.x",
        "x /bin/l.x -> /usr/bin/r.x\nx /usr/bin/l.x -> /usr/bin/r.x\n"},
    {"a script is read and run", "x /opt/s.py\nr /opt/s.py", "x /opt/s.py\n"},
    {"over a link in the root", "r /work/l.h -> /srv/r/real.h", "r /srv/r/real.h\n"},
    {"over a link that can't be named", "r /proc/x.y -> /srv/r/real.h", "r /srv/r/real.h\n"},
    {"a file written", "w /work/sub/a.o", "w /work/sub/a.o\n"},
    {"an entry made", "m /work/sub/a.o\nw /work/sub/a.o\nr /work/sub/a.o", "w /work/sub\n"},
    {"an entry removed", "e /work/sub/gone", "w /work/sub\n"},
    {"a directory made, and files in it", "m /work/new\nm /work/new/a.o\nm /work/new/b.o",
        "w /work\n"},
    {"places of the root written", "e /work/a/x.o\ne /work/b/x.o\ne /work/c/x.o",
        "w /work/a\nw /work/b\nw /work/c\n"},
    {"many places of the root written", "e /work/a/x.o\ne /work/b/x.o\ne /work/c/x.o\nw /work/d.o",
        "w /work\n"},
    {"files made are not read from elsewhere", "m /opt/o/a.o\nr /opt/o/a.o", "w /opt/o\n"},
    {"a file that was read before it was made again", "r /opt/o/a.o\nm /opt/o/a.o",
        "r /opt/o/a.o\nw /opt/o\n"},
    {"made in /tmp", "m /tmp/a.o\nr /tmp/a.o\nm /tmp/d\nm /tmp/d/b.o\nr /tmp/d\ne /tmp/gone",
        "tmp\n"},
    {"was in /tmp", "r /tmp/in.txt\nr /tmp\nw /tmp/io.txt\nm /tmp/there/out.txt",
        "r /tmp/in.txt\nw /tmp/io.txt\nw /tmp/there\n"},
    {"programs are named one by one",
        "x /usr/bin/a.x\nx /usr/bin/b.x\nx /usr/bin/c.x\nx /usr/bin/d.x\nx /usr/lib/e.x",
        "x /usr/bin/a.x\nx /usr/bin/b.x\nx /usr/bin/c.x\nx /usr/bin/d.x\nx /usr/lib/e.x\n"},
    {"a program made and run", "m /work/a.out\nx /work/a.out\nx /work/old.out",
        "w /work\nx /work/old.out\nmade /work\n"},
    {"a program made and removed", "m /work/t/gone\nx /work/t/gone", "w /work/t\nmade /work/t\n"},
    {"a program made in a directory that was made",
        "m /work/new\nm /work/new/a.out\nx /work/new/a.out", "w /work\nmade /work\n"},
    {"a program made in a directory of /tmp",
        "m /tmp/old/new\nm /tmp/old/new/a.out\nx /tmp/old/new/a.out\nm /tmp/mine\nm /tmp/mine/b.o",
        "w /tmp/old\nmade /tmp/old\ntmp\n"},
    {"a program made in /tmp", "m /tmp/a.out\nx /tmp/a.out",
        "refused /tmp/a.out (it was created in /tmp, where nothing can be run)\ntmp\n"},
    {"a program in memory", "x /memfd:x (deleted)",
        "refused /memfd:x (deleted) (it was a program in memory)\n"},
    {"addresses", "n 192.0.2.1:80\nn 192.0.2.1:80\nl 127.0.0.1:1\nn [2001:db8::1]:443",
        "peer 192.0.2.1:80\npeer [2001:db8::1]:443\nnetwork\n"},
    {"only the loopback", "l 127.0.0.1:1", ""},
    {"a socket that it made", "m /work/s.sock\ns /work/s.sock", "w /work\nunix\n"},
    {"a socket of the host", "s /run/x.sock\ns @x",
        "refused /run/x.sock (it is a socket that existed before)\n"
        "refused @x (it is a socket that existed before)\nunix\n"},
};

TEST(learn_sums_up)
{
    const struct learn_host host = {.root = STR("/work"), .look = fake_look};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_BUF struct buf got = BUF_INIT(1 << 20);
        struct learn l;
        struct learned learned;
        test_row(i, rows[i].name);
        learn_init(&l, &a);
        play(&l, rows[i].events);
        learn_sum(&l, &host, &learned);
        describe(&got, &l, &learned);
        CHECK_STR(buf_str(&got), str_z(rows[i].want));
        CHECK(!l.full);
    }
}

TEST(learn_without_a_root)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_BUF struct buf got = BUF_INIT(1 << 20);
    const struct learn_host host = {.look = fake_look};
    struct learn l;
    struct learned learned;
    learn_init(&l, &a);
    play(&l, "r /work/a.c\nm /work/a.o");
    learn_sum(&l, &host, &learned);
    describe(&got, &l, &learned);
    CHECK_STR(buf_str(&got), STR("r /work/a.c\nw /work\n"));
}

/* However much a command opens, memory is limited, and the result reports that. */
TEST(learn_has_limits)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    const struct learn_host host = {.root = STR("/work"), .look = fake_look};
    struct learn l;
    struct learned learned;
    char path[64];
    learn_init(&l, &a);
    for (int i = 0; i < LEARN_PATHS_MAX + 1; i++) {
        CHECK_INT(l.full, 0);
        snprintf(path, sizeof(path), "/opt/x/y/%d/%d.h", i % 100, i);
        learn_add(&l, &(struct trace_event){.kind = TRACE_READ, .path = str_z(path)});
    }
    CHECK(l.full);
    learn_sum(&l, &host, &learned);
    if (CHECK_INT(learned.read.n, 1))
        CHECK_STR(learned.read.p[0].path, STR("/opt/x/y"));
}

TEST(script_first_lines)
{
    static const struct {
        const char *head, *interpreter, *argument, *env;
    } lines[] = {
        {"#!/bin/sh\necho", "/bin/sh", NULL, NULL},
        {"#! /bin/sh -e\n", "/bin/sh", "-e", NULL},
        {"#!\t/usr/bin/env  python3 \nx", "/usr/bin/env", "python3", "python3"},
        {"#!/usr/bin/env -S A=1 node --x y\n", "/usr/bin/env", "-S A=1 node --x y", "node"},
        {"#!/usr/bin/env -Snode\n", "/usr/bin/env", "-Snode", "node"},
        {"#!/usr/bin/env -i\n", "/usr/bin/env", "-i", NULL},
        {"#!/bin/awk -f", "/bin/awk", "-f", "-"},
        {"#!", NULL, NULL, NULL},
        {"#!  \n/bin/sh", NULL, NULL, NULL},
        {"\177ELF", NULL, NULL, NULL},
        {"", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        struct script_line line = {0};
        test_row(i, lines[i].head);
        bool is_script = script_parse(str_z(lines[i].head), &a, &line);
        CHECK_INT(is_script, lines[i].interpreter != NULL);
        CHECK_STR(line.interpreter, str_z(lines[i].interpreter));
        CHECK_STR(line.argument, str_z(lines[i].argument));
        if (!lines[i].env || lines[i].env[0] != '-')
            CHECK_STR(script_env_program(line.argument), str_z(lines[i].env));
    }
}

TEST(observe_addresses)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    static const struct {
        int family;
        const char *address, *want;
        bool loopback;
    } addresses[] = {
        {AF_INET, "192.0.2.1", "192.0.2.1:443", false},
        {AF_INET, "127.9.9.9", "127.9.9.9:443", true},
        {AF_INET, "0.0.0.0", "0.0.0.0:443", false},
        {AF_INET6, "2001:db8::1", "[2001:db8::1]:443", false},
        {AF_INET6, "::1", "[::1]:443", true},
        {AF_INET6, "::ffff:127.0.0.1", "[::ffff:127.0.0.1]:443", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(443)};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
        bool four = addresses[i].family == AF_INET, loopback = false;
        struct str text = {0};
        test_row(i, addresses[i].want);
        CHECK_INT(inet_pton(addresses[i].family, addresses[i].address,
                      four ? (void *)&v4.sin_addr : (void *)&v6.sin6_addr),
            1);
        CHECK(observe_address(four ? (void *)&v4 : (void *)&v6, four ? sizeof(v4) : sizeof(v6), &a,
            &text, &loopback));
        CHECK_STR(text, str_z(addresses[i].want));
        CHECK_INT(loopback, addresses[i].loopback);
        CHECK(!observe_address(&v4, 4, &a, &text, &loopback));
        CHECK(!observe_address(&v6, 20, &a, &text, &loopback));
    }
    CHECK(!observe_address(&(struct sockaddr){.sa_family = AF_UNIX}, sizeof(struct sockaddr), &a,
        &(struct str){0}, &(bool){0}));
}

static const struct {
    const char *name;
    bool starts;
} starters[] = {
    {"make", true},
    {"gcc", true},
    {"gcc-12", true},
    {"clang-14.0", true},
    {"npm", true},
    {"git", true},
    {"env", true},
    {"python3", true},
    {"python3.11", true},
    {"perl5.36.0", true},
    {"c99", true},
    {"pip3", true},
    {"cat", false},
    {"sed", false},
    {"gcc-", false},
    {"-12", false},
    {"12", false},
    {"", false},
    {"mak", false},
};

TEST(helpers_programs_that_start_others)
{
    for (size_t i = 0; i < ARRAY_LEN(starters); i++) {
        test_row(i, starters[i].name);
        CHECK(helpers_starts_others(str_z(starters[i].name)) == starters[i].starts);
    }
}
