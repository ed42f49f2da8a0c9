/* Collects facts about the build and the machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/version_facts.h"

#include "base/cpu.h"
#include "llm/curl.h"
#include "sandbox/diagnose.h"
#include "sandbox/machine_facts.h"
#include "tui/leaf.h"

#include <sys/auxv.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

static void version_add_library(struct version_facts *f, const struct version_library *library)
{
    BUG_ON(f->n_libraries == VERSION_LIBRARIES_MAX);
    f->libraries[f->n_libraries++] = *library;
}

static void version_add_libc(struct version_facts *f)
{
    const char *how = f->is_static ? "static" : "shared";
#ifdef __GLIBC__
    version_add_library(f, &(struct version_library){"glibc", gnu_get_libc_version(), how, NULL});
#else
    version_add_library(f, &(struct version_library){"libc", NULL, how, NULL});
#endif
}

static void version_add_curl(struct version_facts *f, struct arena *a)
{
    AUTO_ERR struct err err = {0};
    const struct curl *curl;
    const char *how = f->is_static ? "static" : "on demand";
    if (curl_get(&curl, &err))
        version_add_library(
            f, &(struct version_library){"libcurl", arena_strdup(a, curl_names(curl)), how, NULL});
    else
        version_add_library(f, &(struct version_library){
                                   "libcurl", NULL, "missing", arena_printf(a, "%s", err.message)});
}

static void version_add_md4c(struct version_facts *f, struct arena *a)
{
    AUTO_ERR struct err err = {0};
    const char *how = f->is_static ? "static" : "on demand";
    if (leaf_check(&err))
        version_add_library(f, &(struct version_library){"md4c", NULL, how, NULL});
    else
        version_add_library(f,
            &(struct version_library){"md4c", NULL, "missing", arena_printf(a, "%s", err.message)});
}

static bool version_has_library(const struct version_facts *f, const char *name)
{
    for (size_t i = 0; i < f->n_libraries; i++)
        if (strcmp(f->libraries[i].name, name) == 0)
            return true;
    return false;
}

/* Adds libraries that libcurl depends on: "OpenSSL/3.0.16 nghttp2/1.52.0". In a static program they
 * are part of it. */
static void version_add_brought(struct version_facts *f, struct arena *a)
{
    AUTO_ERR struct err ignored = {0};
    const struct curl *curl;
    struct str word, rest, name, version;
    if (!f->is_static || !curl_get(&curl, &ignored))
        return;
    rest = str_z(curl->version());
    while (f->n_libraries < VERSION_LIBRARIES_MAX && str_cut(rest, ' ', &word, &rest)) {
        (void)str_cut(word, '/', &name, &version);
        if (name.n && version.n && !version_has_library(f, arena_strdup(a, name)))
            version_add_library(f, &(struct version_library){arena_strdup(a, name),
                                       arena_strdup(a, version), "static", NULL});
    }
}

static void version_find_libraries(struct version_facts *f, struct arena *a)
{
    version_add_libc(f);
    for (size_t i = 0; i < build_info.n_libraries; i++) {
        const struct build_library *b = &build_info.libraries[i];
        version_add_library(f, &(struct version_library){
                                   b->name, b->version, b->is_static ? "static" : "shared", NULL});
    }
    if (!version_has_library(f, "libcurl"))
        version_add_curl(f, a);
    if (!version_has_library(f, "md4c"))
        version_add_md4c(f, a);
    version_add_brought(f, a);
}

static void version_find_vectors(struct version_vector vectors[VERSION_VECTORS])
{
    vectors[0] = (struct version_vector){"AVX2", "search", CPU_HAS(AVX2)};
    vectors[1] =
        (struct version_vector){"SHA", "git object names", CPU_HAS(SHA) && CPU_HAS(SSE4_1)};
}

static bool version_has_cgroup2(void)
{
    return access("/sys/fs/cgroup/cgroup.controllers", R_OK) == 0;
}

/* Settings that can disable them. */
static const char *version_user_namespaces(const struct machine *m)
{
    if (m->max_userns == 0)
        return "off: user.max_user_namespaces is 0";
    if (m->userns_clone == 0 && geteuid() != 0)
        return "off for users: kernel.unprivileged_userns_clone is 0";
    if (m->apparmor_userns == 1 && geteuid() != 0)
        return "restricted by AppArmor: kernel.apparmor_restrict_unprivileged_userns is 1";
    return "not disabled by any setting";
}

void version_facts(struct arena *a, struct version_facts *ret_facts)
{
    struct version_facts f = {
        .build = &build_info,
        .is_static = getauxval(AT_BASE) == 0, /* there is no dynamic loader */
        .machine = machine_get(),
        .has_cgroup2 = version_has_cgroup2(),
    };
    struct diagnose_facts facts;
    version_find_libraries(&f, a);
    version_find_vectors(f.vectors);
    f.user_namespaces = version_user_namespaces(f.machine);
    machine_facts(NULL, a, &facts);
    f.container = diagnose_container(&facts);
    *ret_facts = f;
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *version_libraries_json(const struct version_facts *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->n_libraries; i++) {
        const struct version_library *l = &f->libraries[i];
        json_t *one = json_object();
        json_put(one, "name", json_string(l->name));
        json_put(one, "version", json_text_or_null(l->version));
        json_put(one, "linked", json_string(l->how));
        json_put(one, "detail", json_text_or_null(l->detail));
        json_push(list, one);
    }
    return list;
}

static json_t *version_vectors_json(const struct version_facts *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < VERSION_VECTORS; i++)
        if (f->vectors[i].used)
            json_push(list, json_string(f->vectors[i].name));
    return list;
}

json_t *version_facts_json(const struct version_facts *f)
{
    json_t *object = json_object(), *build = json_object(), *kernel = machine_json();
    json_put(kernel, "cgroup2", json_boolean(f->has_cgroup2));
    json_put(object, "version", json_string(CORDON_VERSION));
    json_put(build, "commit", json_string(f->build->commit));
    json_put(build, "compiler", json_string(f->build->compiler));
    json_put(build, "type", json_string(f->build->type));
    json_put(build, "architecture", json_string(f->build->architecture));
    json_put(build, "static", json_boolean(f->is_static));
    json_put(object, "build", build);
    json_put(object, "libraries", version_libraries_json(f));
    json_put(object, "simd", version_vectors_json(f));
    json_put(object, "machine", kernel);
    return object;
}
