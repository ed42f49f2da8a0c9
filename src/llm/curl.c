/* libcurl, loaded on demand: with its dependencies it takes more time and memory than the rest of
 * the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/curl.h"

#include "base/library.h"
#include "base/names.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* Built with different TLS libraries. */
static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

static struct curl loaded;
static const char *missing; /* name of the missing library or function */
static size_t n_before;     /* objects loaded before */
static pthread_t loader;
static atomic_bool loading; /* the thread must be joined */
static pthread_once_t once_loaded = PTHREAD_ONCE_INIT, once_prepared = PTHREAD_ONCE_INIT;

/* Loading libcurl and some twenty dependencies leaves megabytes resident that may never be used
 * again: relocation and symbol tables, and the code around them. Drop these pages; those in use are
 * read back from the page cache. */

struct curl_objects {
    size_t n, skip; /* objects loaded before are skipped */
};

/* Text relocations: the code in memory differs from the file and must not be dropped. */
static bool has_own_code(const struct dl_phdr_info *object)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        const ElfW(Dyn) *d = (const ElfW(Dyn) *)(object->dlpi_addr + p->p_vaddr);
        for (; p->p_type == PT_DYNAMIC && d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && (d->d_un.d_val & DF_TEXTREL)))
                return true;
    }
    return false;
}

static int count_object(struct dl_phdr_info *object, size_t size, void *context)
{
    struct curl_objects *o = context;
    (void)object;
    (void)size;
    o->n++;
    return 0;
}

static int trim_object(struct dl_phdr_info *object, size_t size, void *context)
{
    struct curl_objects *o = context;
    (void)size;
    if (o->n++ < o->skip || has_own_code(object))
        return 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t start = object->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        start &= ~(page - 1);
        if (p->p_type == PT_LOAD && !(p->p_flags & PF_W))
            (void)!madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

static bool curl_load_library(void)
{
    struct curl_objects before = {0};
    static const struct library_call calls[] = {
#define CURL_ROW(call) LIBRARY_CALL(struct curl, call, curl_##call),
        CURL_CALLS(CURL_ROW)
#undef CURL_ROW
    };
    static const struct library library = LIBRARY(names, calls);
    dl_iterate_phdr(count_object, &before);
    n_before = before.n;
    missing = library_load(&library, &loaded);
    return !missing;
}

static void curl_init_library(void)
{
    names_prepare();
    if (curl_load_library() && loaded.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        missing = "curl_global_init";
}

bool curl_get(const struct curl **ret_curl, struct err *err)
{
    pthread_once(&once_loaded, curl_init_library);
    if (missing == names[0])
        return err_set(err, E_CONFIG,
            "libcurl.so.4 was not found: it is required to reach a service; on Debian: apt "
            "install libcurl4");
    if (missing)
        return err_set(err, E_CONFIG,
            "libcurl does not work on this machine: %s is missing or fails; version 7.66 or "
            "later is required",
            missing);
    *ret_curl = &loaded;
    return true;
}

struct str curl_names(const struct curl *curl)
{
    struct str all = str_z(curl->version()), first, second, rest;
    if (!str_cut(all, ' ', &first, &rest) || !str_cut(rest, ' ', &second, &rest))
        return all;
    return str_head(all, first.n + 1 + second.n);
}

/* Callers of curl_get() wait only until libcurl works; pages are dropped after that. */
static void *load_aside(void *unused)
{
    (void)unused;
    pthread_once(&once_loaded, curl_init_library);
    dl_iterate_phdr(trim_object, &(struct curl_objects){.skip = n_before});
    return NULL;
}

/* The thread may start before the process decides which signals it reads through a signalfd: block
 * all of them. */
static void start_thread(void)
{
    pthread_attr_t attr;
    sigset_t all;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setsigmask_np(&attr, &all);
    /* On failure curl_get() loads it when needed. */
    loading = pthread_create(&loader, &attr, load_aside, NULL) == 0;
    pthread_attr_destroy(&attr);
}

void curl_prepare(void)
{
    pthread_once(&once_prepared, start_thread);
}

void curl_settle(void)
{
    if (atomic_exchange(&loading, false))
        pthread_join(loader, NULL);
}
