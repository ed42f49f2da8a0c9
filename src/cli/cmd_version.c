/* cordon version: print information about the build, its libraries and this kernel. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu.h"
#include "cli/build_info.h"
#include "cli/cmds.h"
#include "llm/curl.h"
#include "sandbox/diagnose.h"
#include "sandbox/machine.h"
#include "sandbox/machine_facts.h"
#include "tui/leaf.h"

#include <sys/auxv.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

/* A library: linked statically, loaded at startup, or loaded on demand. */
struct version_library {
    const char *name;
    const char *version; /* NULL: unknown */
    const char *how;     /* "static", "shared", "on demand", "missing" */
    const char *detail;  /* reason if missing */
};

enum {
    LIBRARIES_MAX = 24,
};

struct version_libraries {
    struct version_library v[LIBRARIES_MAX];
    size_t n;
};

static void library_add(struct version_libraries *l, const struct version_library *library)
{
    BUG_ON(l->n == LIBRARIES_MAX);
    l->v[l->n++] = *library;
}

/* A program without a dynamic loader is static. */
static bool is_static(void)
{
    return getauxval(AT_BASE) == 0;
}

static void add_libc(struct version_libraries *l)
{
    const char *how = is_static() ? "static" : "shared";
#ifdef __GLIBC__
    library_add(l, &(struct version_library){"glibc", gnu_get_libc_version(), how, NULL});
#else
    library_add(l, &(struct version_library){"libc", NULL, how, NULL});
#endif
}

static void add_curl(struct version_libraries *l, struct arena *a)
{
    AUTO_ERR struct err err = {0};
    const struct curl *curl;
    const char *how = is_static() ? "static" : "on demand";
    if (curl_get(&curl, &err))
        library_add(
            l, &(struct version_library){"libcurl", arena_strdup(a, curl_names(curl)), how, NULL});
    else
        library_add(l, &(struct version_library){
                           "libcurl", NULL, "missing", arena_printf(a, "%s", err.message)});
}

static void add_md4c(struct version_libraries *l, struct arena *a)
{
    AUTO_ERR struct err err = {0};
    const char *how = is_static() ? "static" : "on demand";
    if (leaf_check(&err))
        library_add(l, &(struct version_library){"md4c", NULL, how, NULL});
    else
        library_add(l,
            &(struct version_library){"md4c", NULL, "missing", arena_printf(a, "%s", err.message)});
}

static bool is_listed(const struct version_libraries *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i].name, name) == 0)
            return true;
    return false;
}

/* Adds libraries that libcurl depends on: "OpenSSL/3.0.16 nghttp2/1.52.0". In a static program they
 * are part of it. */
static void add_brought(struct version_libraries *l, struct arena *a)
{
    AUTO_ERR struct err ignored = {0};
    const struct curl *curl;
    struct str word, rest, name, version;
    if (!is_static() || !curl_get(&curl, &ignored))
        return;
    rest = str_z(curl->version());
    while (l->n < LIBRARIES_MAX && str_cut(rest, ' ', &word, &rest)) {
        (void)str_cut(word, '/', &name, &version);
        if (name.n && version.n && !is_listed(l, arena_strdup(a, name)))
            library_add(l, &(struct version_library){
                               arena_strdup(a, name), arena_strdup(a, version), "static", NULL});
    }
}

static void find_libraries(struct version_libraries *l, struct arena *a)
{
    add_libc(l);
    for (size_t i = 0; i < build_info.n_libraries; i++) {
        const struct build_library *b = &build_info.libraries[i];
        library_add(l, &(struct version_library){
                           b->name, b->version, b->is_static ? "static" : "shared", NULL});
    }
    if (!is_listed(l, "libcurl"))
        add_curl(l, a);
    if (!is_listed(l, "md4c"))
        add_md4c(l, a);
    add_brought(l, a);
}

/* Instruction set extension that the program uses if the processor has it. */
struct version_vector {
    const char *name;
    const char *use;
    bool used;
};

enum {
    VECTORS = 2,
};

static void find_vectors(struct version_vector vectors[VECTORS])
{
    vectors[0] = (struct version_vector){"AVX2", "search", CPU_HAS(AVX2)};
    vectors[1] =
        (struct version_vector){"SHA", "git object names", CPU_HAS(SHA) && CPU_HAS(SSE4_1)};
}

static bool has_cgroup2(void)
{
    return access("/sys/fs/cgroup/cgroup.controllers", R_OK) == 0;
}

/* Text output ---------------------------------------------------------------------------------- */

static void print_fact(struct cli *cli, const char *name, const char *value)
{
    out_line(cli, "%-16s %s", name, value);
}

static void print_libraries(struct cli *cli)
{
    struct version_libraries l = {.n = 0};
    find_libraries(&l, cli->arena);
    for (size_t i = 0; i < l.n; i++) {
        const struct version_library *b = &l.v[i];
        print_fact(cli, b->name,
            arena_printf(cli->arena, "%s%s%s%s%s", b->version ? b->version : "",
                b->version ? ", " : "", b->how, b->detail ? ": " : "", b->detail ? b->detail : ""));
    }
}

static void print_vectors(struct cli *cli)
{
    struct version_vector vectors[VECTORS];
    AUTO_BUF struct buf line = BUF_INIT(256);
    find_vectors(vectors);
    for (size_t i = 0; i < VECTORS; i++)
        if (vectors[i].used)
            buf_printf(&line, "%s%s (%s)", line.n ? ", " : "", vectors[i].name, vectors[i].use);
    print_fact(cli, "SIMD", line.n ? buf_z(&line) : "none beyond the architecture's baseline");
}

/* Settings that can disable them. */
static const char *user_namespaces(const struct machine *m)
{
    if (m->max_userns == 0)
        return "off: user.max_user_namespaces is 0";
    if (m->userns_clone == 0 && geteuid() != 0)
        return "off for users: kernel.unprivileged_userns_clone is 0";
    if (m->apparmor_userns == 1 && geteuid() != 0)
        return "restricted by AppArmor: kernel.apparmor_restrict_unprivileged_userns is 1";
    return "not disabled by any setting";
}

static void print_kernel(struct cli *cli)
{
    const struct machine *m = machine_get();
    print_fact(cli, "kernel", m->release);
    print_fact(cli, "Landlock",
        m->landlock_abi ? arena_printf(cli->arena, "ABI %d", m->landlock_abi) : "none");
    print_fact(cli, "user namespaces", user_namespaces(m));
    print_fact(cli, "cgroup v2", has_cgroup2() ? "at /sys/fs/cgroup" : "not at /sys/fs/cgroup");
    print_fact(cli, "kernel.pid_max",
        m->pid_max_in_namespace ? "one per pid namespace" : "one for the whole machine");
    print_fact(cli, "SysV IPC",
        m->ipc_in_namespace ? "one set of settings per namespace"
                            : "one set of settings for the whole machine");
    struct diagnose_facts facts;
    machine_facts(NULL, cli->arena, &facts);
    const char *container = diagnose_container(&facts);
    print_fact(cli, "container", container ? container : "none detected");
}

static void print_verbose(struct cli *cli)
{
    print_fact(cli, "commit", build_info.commit);
    print_fact(cli, "compiler", build_info.compiler);
    print_fact(cli, "build", build_info.type);
    print_fact(cli, "architecture", build_info.architecture);
    print_libraries(cli);
    print_vectors(cli);
    print_kernel(cli);
}

/* JSON output ---------------------------------------------------------------------------------- */

static json_t *text_or_null(const char *text)
{
    return text ? json_text(str_z(text)) : json_null();
}

static json_t *libraries_json(struct arena *a)
{
    struct version_libraries l = {.n = 0};
    json_t *list = json_array();
    find_libraries(&l, a);
    for (size_t i = 0; i < l.n; i++) {
        json_t *one = json_object();
        json_put(one, "name", json_string(l.v[i].name));
        json_put(one, "version", text_or_null(l.v[i].version));
        json_put(one, "linked", json_string(l.v[i].how));
        json_put(one, "detail", text_or_null(l.v[i].detail));
        json_push(list, one);
    }
    return list;
}

static json_t *vectors_json(void)
{
    struct version_vector vectors[VECTORS];
    json_t *list = json_array();
    find_vectors(vectors);
    for (size_t i = 0; i < VECTORS; i++)
        if (vectors[i].used)
            json_push(list, json_string(vectors[i].name));
    return list;
}

static json_t *kernel_json(void)
{
    json_t *kernel = machine_json();
    json_put(kernel, "cgroup2", json_boolean(has_cgroup2()));
    return kernel;
}

static json_t *verbose_json(struct arena *a)
{
    json_t *object = json_object(), *build = json_object();
    json_put(object, "version", json_string(CORDON_VERSION));
    json_put(build, "commit", json_string(build_info.commit));
    json_put(build, "compiler", json_string(build_info.compiler));
    json_put(build, "type", json_string(build_info.type));
    json_put(build, "architecture", json_string(build_info.architecture));
    json_put(build, "static", json_boolean(is_static()));
    json_put(object, "build", build);
    json_put(object, "libraries", libraries_json(a));
    json_put(object, "simd", vectors_json());
    json_put(object, "machine", kernel_json());
    return object;
}

static bool run_version(struct cli *cli, const struct args *args UNUSED, struct err *err)
{
    if (cli->json && cli->verbose)
        return out_json(cli, verbose_json(cli->arena), err);
    if (cli->json)
        return out_json(cli, json_pack("{s:s}", "version", CORDON_VERSION), err);
    out_line(cli, "cordon %s", CORDON_VERSION);
    if (cli->verbose)
        print_verbose(cli);
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
