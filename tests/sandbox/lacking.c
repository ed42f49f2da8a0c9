/* The program as on a machine that lacks some kernel features: for tests of the fallbacks. Linked
 * with the program's own main(); the program itself has no such switch.
 *
 *     CORDON_TEST_LACKS=pid_max,cgroups cordon_lacking exec -- true
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "sandbox/machine.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    unsigned part;
} parts[] = {
    {"pid_max", MACHINE_PID_MAX},
    {"cgroups", MACHINE_CGROUPS},
    {"id_maps", MACHINE_ID_MAPS},
};

static void lack(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (str_is(name, parts[i].name)) {
            machine_disable(parts[i].part);
            return;
        }
    fprintf(stderr, "lacking: there is no part '" STR_FMT "'\n", STR_ARG(name));
    exit(99);
}

__attribute__((constructor)) static void lack_all(void)
{
    struct str name, rest = str_z(getenv("CORDON_TEST_LACKS"));
    while (rest.n && str_cut(rest, ',', &name, &rest))
        lack(name);
}
