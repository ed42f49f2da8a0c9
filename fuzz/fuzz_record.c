/* The record of a run, as anybody may have written it: its files, one after the other with 0x1E
 * between them. Looked at as a page and as a recording, and compared with itself. */
#include "path/file.h"
#include "replay/offline.h"
#include "trace/cast.h"
#include "trace/page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"transcript.log", "run.json", "events.jsonl", "scenario.json",
    "snapshots/0001.json", "policy.json", "replay-1/diff.json", "replay-1/run.json",
    "replay-1/transcript.log", "checksums.json"};

static char dir[] = "/tmp/fuzz-record-XXXXXX";

static void clean(void)
{
    char path[sizeof(dir) + 64];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        unlink(path);
    }
    for (const char *const *name = (const char *const[]){"snapshots", "replay-1", ".", NULL}; *name;
         name++) {
        snprintf(path, sizeof(path), "%s/%s", dir, *name);
        rmdir(strcmp(*name, ".") == 0 ? dir : path);
    }
}

static void make_dir(void)
{
    static bool made;
    char path[sizeof(dir) + 64];
    if (made)
        return;
    made = true;
    BUG_ON(!mkdtemp(dir));
    atexit(clean);
    snprintf(path, sizeof(path), "%s/snapshots", dir);
    BUG_ON(mkdir(path, 0700) != 0);
    snprintf(path, sizeof(path), "%s/replay-1", dir);
    BUG_ON(mkdir(path, 0700) != 0);
}

/* A file that is not in the input is not there. */
static void write_files(struct str rest)
{
    char path[sizeof(dir) + 64];
    struct str part;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        unlink(path);
        if (!str_cut(rest, 0x1E, &part, &rest) || part.n == 0)
            continue;
        AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        BUG_ON(fd < 0 || !file_write_all(fd, part));
    }
}

static void look(void)
{
    AUTO_ERR struct err err = {0};
    AUTO(trace_close) struct trace t = TRACE_NONE;
    AUTO_BUF struct buf page = BUF_INIT(2 * (size_t)PAGE_BYTES_MAX), cast = BUF_INIT(1 << 30);
    if (!trace_open(dir, &t, &err)) {
        BUG_ON(err.code != E_PROTOCOL && err.code != E_IO && err.code != E_NOT_FOUND);
        return;
    }
    BUG_ON(t.n_marks == 0);
    cast_write(&t, &cast);
    if (page_write(&t, PAGE_AT_END, &page, &err))
        BUG_ON(memmem(page.p, page.n, "<img", 4) != NULL);
}

static void compare(void)
{
    static const struct source_needs needs;
    static const struct normalization none = {.strict = true, .source = "none"};
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 30);
    AUTO_ERR struct err err = {0};
    AUTO(source_close) struct source s = SOURCE_NONE;
    struct mismatch m = {0};
    struct points points;
    bool ok = source_open(dir, &s, &err) && source_verify(&s, &needs, &m, &err) &&
              (m.kind || source_read(&s, &m, &err));
    if (ok && !m.kind && points_read(s.run, s.transcript.n, &arena, &points, &err))
        (void)!offline_check(&s, &points, &none, &m, &err);
    mismatch_done(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_dir();
    write_files(str_n((const char *)data, size));
    look();
    compare();
    return 0;
}
