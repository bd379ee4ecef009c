/*
 * ICU, loaded when the first internationalised host is met, whichever version the machine has.
 *
 * Each version of ICU has file and function names of its own (libicuuc.so.72, uidna_openUTS46_72), so a module that is
 * linked with one loads on that distribution alone. The three functions that the library calls are defined here instead
 * and pass the calls on. What they mean has not changed since ICU 4.6. Without ICU, URLs with such hosts are refused, as
 * url/parse/idna.c does if the service cannot be opened.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unicode/uidna.h>

enum { OLDEST = 50, NEWEST = 119 };

static UIDNA *(*open_service)(uint32_t options, UErrorCode *error);
static int32_t (*name_to_ascii)(const UIDNA *service, const char *name, int32_t length, char *dest, int32_t capacity,
                                UIDNAInfo *info, UErrorCode *error);
static const char *(*error_name)(UErrorCode error);

/* Stores the address of a function at *target, or NULL. */
static void find(void *library, const char *name, int version, void *target)
{
    char text[64];
    snprintf(text, sizeof text, "%s_%d", name, version);
    void *found = dlsym(library, text);
    memcpy(target, &found, sizeof found);
}

static bool load(int version)
{
    char file[32];
    snprintf(file, sizeof file, "libicuuc.so.%d", version);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    find(library, "uidna_openUTS46", version, &open_service);
    find(library, "uidna_nameToASCII_UTF8", version, &name_to_ascii);
    find(library, "u_errorName", version, &error_name);
    return open_service && name_to_ascii && error_name;
}

/* The library calls this once, before the others. The version that was there when the module was built comes first. */
UIDNA *uidna_openUTS46(uint32_t options, UErrorCode *error)
{
    bool found = load(U_ICU_VERSION_MAJOR_NUM);
    for (int version = NEWEST; version >= OLDEST && !found; version--)
        found = load(version);
    if (found)
        return open_service(options, error);
    *error = U_MISSING_RESOURCE_ERROR;
    return NULL;
}

int32_t uidna_nameToASCII_UTF8(const UIDNA *service, const char *name, int32_t length, char *dest, int32_t capacity,
                               UIDNAInfo *info, UErrorCode *error)
{
    return name_to_ascii(service, name, length, dest, capacity, info, error);
}

const char *u_errorName(UErrorCode error)
{
    return error_name(error);
}
