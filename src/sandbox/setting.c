/* Writing below /proc/sys. */
#include "sandbox/setting.h"

#include "path/file.h"

#include <fcntl.h>

enum {
    SHARE = 4,               /* a sandbox gets this part of what its user has */
    WATCHES_MAX = 64 * 1024, /* and not more inotify watches */
    QUEUE_BYTES = 1 << 20,   /* a full message queue of empty messages */
    QUEUES_MIN = 8,
    QUEUES_MAX = 64,
    TEXT_MAX = 64,
};

/* In one array, in all, in one call, arrays: at most 2 MB of the kernel's memory. */
static const char semaphores[] = "250 32000 500 1024";

const char *setting_number(uint64_t n, unsigned base, char text[SETTING_DIGITS])
{
    char *p = text + SETTING_DIGITS - 1;
    *p = '\0';
    do {
        *--p = (char)('0' + n % base);
        n /= base;
    } while (n);
    return p;
}

static bool write_text(int proc, const char *path, struct str text)
{
    AUTO_FD int fd = openat(proc, path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && file_write_all(fd, text);
}

bool setting_write(int proc, const char *path, uint64_t value)
{
    char text[SETTING_DIGITS];
    return write_text(proc, path, str_z(setting_number(value, 10, text)));
}

/* The largest number if it can't be read. */
static uint64_t read_number(int proc, const char *path)
{
    char text[TEXT_MAX];
    AUTO_FD int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text)) : -1;
    uint64_t value = 0;
    for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    return n > 0 ? value : UINT64_MAX;
}

void setting_limit_inotify(int proc)
{
    static const struct {
        const char *own, *users;
        uint64_t most;
    } settings[] = {
        {"sys/user/max_inotify_watches", "sys/fs/inotify/max_user_watches", WATCHES_MAX},
        {"sys/user/max_inotify_instances", "sys/fs/inotify/max_user_instances", INT32_MAX},
    };
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        uint64_t share = read_number(proc, settings[i].users) / SHARE;
        (void)!setting_write(proc, settings[i].own, MAX(MIN(share, settings[i].most), 1u));
    }
}

bool setting_limit_ipc(int proc, const struct policy_limits *limits)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t queues = limits->memory_bytes / SHARE / QUEUE_BYTES;
    queues = MAX(MIN(queues, (uint64_t)QUEUES_MAX), (uint64_t)QUEUES_MIN);
    return setting_write(proc, "sys/kernel/shmall", limits->memory_bytes / page) &&
           setting_write(proc, "sys/kernel/msgmni", queues) &&
           write_text(proc, "sys/kernel/sem", str_z(semaphores));
}
