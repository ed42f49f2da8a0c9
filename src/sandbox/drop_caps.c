/* Capabilities and securebits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/drop_caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum {
    CAPABILITIES = 64,
};

bool drop_capabilities(bool must)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};
    const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                               SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                               SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    bool ok = prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) == 0;
    for (unsigned cap = 0; ok && cap < CAPABILITIES; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0) {
            ok = errno == EINVAL && cap > CAP_CHECKPOINT_RESTORE;
            break;
        }
    if (!ok && must)
        return false;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return syscall(SYS_capset, &header, none) == 0;
}
