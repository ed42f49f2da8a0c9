/* Opens records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record_files.h"

bool record_files_open(const char *path, struct record_files *ret_files, struct err *err)
{
    int dir = record_open(path, err);
    if (dir < 0)
        return false;
    *ret_files = RECORD_FILES_NONE;
    ret_files->dir = dir;
    return true;
}

void record_files_close(struct record_files *files)
{
    if (files->dir >= 0)
        close(TAKE_FD(files->dir));
    json_decrefp(&files->run);
    buf_done(&files->transcript);
    *files = RECORD_FILES_NONE;
}

bool record_files_read_transcript(struct record_files *files, size_t max, struct err *err)
{
    return record_text(files->dir, "transcript.log", max, &files->transcript, err);
}
