/*
 * libpsl, loaded when the first set is made with key=site: not every machine with a server has it. The functions that
 * the library calls are defined here, and pass the calls on. Without libpsl there is no list, so no such set.
 */
#include <dlfcn.h>
#include <libpsl.h>
#include <stddef.h>
#include <string.h>

static void *library;

/* Stores the address of a function at *target, or NULL. */
static void find(const char *name, void *target)
{
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(target, &found, sizeof found);
}

psl_ctx_t *psl_latest(const char *fname)
{
    psl_ctx_t *(*latest)(const char *fname);
    if (!library)
        library = dlopen("libpsl.so.5", RTLD_NOW | RTLD_LOCAL);
    find("psl_latest", &latest);
    return latest ? latest(fname) : NULL;
}

void psl_free(psl_ctx_t *psl)
{
    void (*release)(psl_ctx_t * list);
    find("psl_free", &release);
    if (psl)
        release(psl);
}

const char *psl_registrable_domain(const psl_ctx_t *psl, const char *domain)
{
    static const char *(*registrable)(const psl_ctx_t *list, const char *domain);
    if (!registrable)
        find("psl_registrable_domain", &registrable);
    return registrable(psl, domain);
}
