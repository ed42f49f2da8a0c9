/* The AppArmor profile that lets cordon use user namespaces where AppArmor restricts them.
 *
 *     struct apparmor profile = APPARMOR_INIT;
 *     if (!apparmor_make(apparmor_text, self, &profile, err)) return false;
 *     if (!apparmor_is_there(&profile) && agreed) ok = apparmor_install(&profile, err);
 *     apparmor_done(&profile);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DOCTOR_APPARMOR_H
#define DOCTOR_APPARMOR_H

#include "base/buf.h"
#include "base/err.h"

#define APPARMOR_FILE "/etc/apparmor.d/cordon"

enum {
    APPARMOR_MAX = 64 * 1024,
};

/* packaging/apparmor/cordon, embedded into the program at build time. */
extern const char apparmor_text[];

struct apparmor {
    struct buf text;
};
#define APPARMOR_INIT ((struct apparmor){.text = BUF_INIT(APPARMOR_MAX)})

/* Creates the profile from the text for a program at this path, and for programs that the text
 * names if only root can change them. Fails with E_POLICY_DENIED if others than root could put
 * another program there. */
MUST_USE bool apparmor_make(
    const char *text, const char *self, struct apparmor *profile, struct err *err);
void apparmor_done(struct apparmor *profile);

enum apparmor_file {
    APPARMOR_FILE_NONE,
    APPARMOR_FILE_SAME,
    APPARMOR_FILE_OTHER, /* an older version, or edited */
};

enum apparmor_file apparmor_look(const char *file, const struct apparmor *profile);

/* Whether the file has this text and the profile is loaded in the kernel. */
bool apparmor_is_there(const struct apparmor *profile);

/* Writes the file and loads it. If it can't be loaded, the file is restored. Needs root. */
MUST_USE bool apparmor_install(const struct apparmor *profile, struct err *err);

#endif
