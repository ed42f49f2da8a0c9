/* cordon version: print information about the build, its libraries and this kernel. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "doctor/version_facts.h"

static void print_fact(struct cli *cli, const char *name, const char *value)
{
    out_line(cli, "%-16s %s", name, value);
}

static void print_libraries(struct cli *cli, const struct version_facts *f)
{
    for (size_t i = 0; i < f->n_libraries; i++) {
        const struct version_library *b = &f->libraries[i];
        print_fact(cli, b->name,
            arena_printf(cli->arena, "%s%s%s%s%s", b->version ? b->version : "",
                b->version ? ", " : "", b->how, b->detail ? ": " : "", b->detail ? b->detail : ""));
    }
}

static void print_vectors(struct cli *cli, const struct version_facts *f)
{
    AUTO_BUF struct buf line = BUF_INIT(256);
    for (size_t i = 0; i < VERSION_VECTORS; i++)
        if (f->vectors[i].used)
            buf_printf(
                &line, "%s%s (%s)", line.n ? ", " : "", f->vectors[i].name, f->vectors[i].use);
    print_fact(cli, "SIMD", line.n ? buf_z(&line) : "none beyond the architecture's baseline");
}

static void print_kernel(struct cli *cli, const struct version_facts *f)
{
    const struct machine *m = f->machine;
    print_fact(cli, "kernel", m->release);
    print_fact(cli, "Landlock",
        m->landlock_abi ? arena_printf(cli->arena, "ABI %d", m->landlock_abi) : "none");
    print_fact(cli, "user namespaces", f->user_namespaces);
    print_fact(cli, "cgroup v2", f->has_cgroup2 ? "at /sys/fs/cgroup" : "not at /sys/fs/cgroup");
    print_fact(cli, "kernel.pid_max",
        m->pid_max_in_namespace ? "one per pid namespace" : "one for the whole machine");
    print_fact(cli, "SysV IPC",
        m->ipc_in_namespace ? "one set of settings per namespace"
                            : "one set of settings for the whole machine");
    print_fact(cli, "container", f->container ? f->container : "none detected");
}

static void print_verbose(struct cli *cli, const struct version_facts *f)
{
    print_fact(cli, "commit", f->build->commit);
    print_fact(cli, "compiler", f->build->compiler);
    print_fact(cli, "build", f->build->type);
    print_fact(cli, "architecture", f->build->architecture);
    print_libraries(cli, f);
    print_vectors(cli, f);
    print_kernel(cli, f);
}

static bool run_version(struct cli *cli, const struct args *args UNUSED, struct err *err)
{
    struct version_facts facts;
    if (cli->verbose)
        version_facts(cli->arena, &facts);
    if (cli->json && cli->verbose)
        return out_json(cli, version_facts_json(&facts), err);
    if (cli->json)
        return out_json(cli, json_pack("{s:s}", "version", CORDON_VERSION), err);
    out_line(cli, "cordon %s", CORDON_VERSION);
    if (cli->verbose)
        print_verbose(cli, &facts);
    return true;
}

static const struct example version_examples[] = {
    {"cordon version --verbose", "for a bug report"},
};

const struct cmd cmd_version = {
    .name = "version",
    .minor = true,
    .summary = "print the version and, with --verbose, build details",
    .about =
        "With --verbose also prints information about the build, its libraries and this "
        "kernel. Libraries are static (part of the program), shared (loaded at start), on demand "
        "(loaded when needed) or missing.",
    .usage = "",
    CMD_EXAMPLES(version_examples),
    .run = run_version,
};
