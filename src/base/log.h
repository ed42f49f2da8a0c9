/* Debug log: silent unless CORDON_LOG names a level.
 *
 *     LOG_DEBUG("recovered %zu files", n);
 *
 * Lines go to stderr, one write each, with control characters escaped: output of a child can't
 * forge a line.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/str.h"

enum log_level {
    LOG_OFF,
    LOG_WARN,
    LOG_INFO,
    LOG_DEBUG,
};

void log_init(enum log_level level, int fd);
bool log_level_parse(struct str name, enum log_level *ret_level);
bool log_enabled(enum log_level level);
void log_write(enum log_level level, const char *where, const char *format, ...) PRINTF_LIKE(3, 4);

#define LOG_AT(level, ...)                           \
    do {                                             \
        if (log_enabled(level))                      \
            log_write(level, __func__, __VA_ARGS__); \
    } while (0)
#define LOG_WARN(...)  LOG_AT(LOG_WARN, __VA_ARGS__)
#define LOG_INFO(...)  LOG_AT(LOG_INFO, __VA_ARGS__)
#define LOG_DEBUG(...) LOG_AT(LOG_DEBUG, __VA_ARGS__)

#endif
