/* An untrusted record of a run: the files of fuzz_files.h. Rendered as a page and as a recording,
 * and compared with itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_files.h"

#include "replay/checksums.h"
#include "replay/offline.h"
#include "trace/cast.h"
#include "trace/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"transcript.log", "run.json", "events.jsonl", "scenario.json",
    "snapshots/0001.json", "policy.json", "replay-1/diff.json", "replay-1/run.json",
    "replay-1/transcript.log", "checksums.json", NULL};
static const char *const places[] = {"snapshots", "replay-1", NULL};

static void look(void)
{
    AUTO_ERR struct err err = {0};
    AUTO(trace_close) struct trace t = TRACE_NONE;
    AUTO_BUF struct buf page = BUF_INIT(2 * (size_t)PAGE_BYTES_MAX), cast = BUF_INIT(1 << 30);
    if (!trace_open(files_dir, &t, &err)) {
        BUG_ON(err.code != E_PROTOCOL && err.code != E_IO && err.code != E_NOT_FOUND);
        return;
    }
    BUG_ON(t.timeline.n == 0);
    cast_write(&t, &cast);
    if (page_write(&t, PAGE_AT_END, &page, &err))
        BUG_ON(memmem(page.p, page.n, "<img", 4) != NULL);
}

static void compare(void)
{
    static const struct checksums_needs needs;
    static const struct normalization none = {.strict = true, .source = "none"};
    AUTO_ERR struct err err = {0};
    AUTO(replay_source_close) struct replay_source s = REPLAY_SOURCE_NONE;
    struct mismatch m = {0};
    AUTO(timeline_done) struct timeline timeline = TIMELINE_NONE;
    bool ok = replay_source_open(files_dir, &s, &err) &&
              checksums_verify(s.files.dir, &needs, &m, &err) &&
              (m.kind || replay_source_read(&s, &m, &err));
    if (ok && !m.kind && timeline_read_steps(s.files.run, s.files.transcript.n, &timeline, &err))
        (void)!offline_check(&s.files, &timeline, &none, &m, &err);
    mismatch_done(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    files_open(names, places);
    files_write(str_n((const char *)data, size));
    look();
    compare();
    return 0;
}
