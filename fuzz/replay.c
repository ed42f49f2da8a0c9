/* Runs a fuzz target over files, and over the files of directories, given as arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t replayed;

static void replay_file(const char *path)
{
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    AUTO_BUF struct buf b = BUF_INIT(64 << 20);
    BUG_ON(fd < 0);
    for (;;) {
        char *room = buf_reserve(&b, 4096);
        BUG_ON(!room);
        ssize_t n = read(fd, room, 4096);
        BUG_ON(n < 0);
        if (n == 0)
            break;
        buf_grown(&b, (size_t)n);
    }
    AUTO_FREE uint8_t *exact = base_alloc(b.n); /* a sanitizer detects reads beyond it */
    memcpy(exact, b.p, b.n);
    LLVMFuzzerTestOneInput(exact, b.n);
    replayed++;
}

static void replay_dir(const char *path)
{
    DIR *dir = opendir(path);
    BUG_ON(!dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        AUTO_BUF struct buf file = BUF_INIT(8192);
        if (entry->d_name[0] == '.')
            continue;
        buf_printf(&file, "%s/%s", path, entry->d_name);
        replay_file(buf_z(&file));
    }
    closedir(dir);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0) {
            fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
            return 1;
        }
        if (S_ISDIR(st.st_mode))
            replay_dir(argv[i]);
        else
            replay_file(argv[i]);
    }
    printf("replayed %zu inputs\n", replayed);
    return replayed ? 0 : 1;
}
