/* Error messages, text building, and structs that carry their own size. */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char message[VIDI__MESSAGE];
static _Thread_local vidi__quiet *quiet_now; /* the innermost; NULL: sentences go to the message */

static char *place(void)
{
    return quiet_now ? quiet_now->sentence : message;
}

int vidi__fail(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(place(), VIDI__MESSAGE, format, args);
    va_end(args);
    return code;
}

int vidi__fail_in(const char *where, int code)
{
    char inner[VIDI__MESSAGE];
    memcpy(inner, place(), sizeof inner);
    return vidi__fail(code, "%s: %s", where, inner);
}

const char *vidi__sentence(void)
{
    return place();
}

void vidi__quiet_begin(vidi__quiet *quiet)
{
    quiet->sentence[0] = 0;
    quiet->outer = quiet_now;
    quiet_now = quiet;
}

int vidi__quiet_end(vidi__quiet *quiet, int code)
{
    quiet_now = quiet->outer;
    return code < 0 || code == VIDI_INVALID ? vidi__fail(code, "%s", quiet->sentence) : code;
}

const char *vidi_message(void)
{
    return message;
}

const char *vidi_strerror(int error)
{
    switch (error) {
    case VIDI_OK:
        return "no error";
    case VIDI_EARGUMENT:
        return "an argument makes no sense";
    case VIDI_EOPTION:
        return "an option or parameter is unknown or out of range";
    case VIDI_EMEMORY:
        return "out of memory";
    case VIDI_ELIMIT:
        return "a limit would be exceeded";
    case VIDI_EABSENT:
        return "not there";
    case VIDI_ECANNOT:
        return "this kind of set cannot do that";
    case VIDI_EDIFFERS:
        return "the sets do not fit together";
    case VIDI_EFORMAT:
        return "not a vidi set, or a damaged one";
    case VIDI_EIO:
        return "reading or writing failed";
    case VIDI_ESYSTEM:
        return "the operating system refused";
    case VIDI_EEXIST:
        return "the folder is not empty";
    case VIDI_EBUSY:
        return "in use";
    case VIDI_EDAMAGED:
        return "part of what was committed is gone";
    case VIDI_ERATE:
        return "the merged set would lose many more pages than was asked for";
    case VIDI_EOWNED:
        return "the set belongs to another program";
    case VIDI_INVALID:
        return "not a URL";
    default:
        return "not an error code of vidi";
    }
}

#define TEXT_OF(x) #x
#define VERSION(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *vidi_version(void)
{
    return VERSION(VIDI_VERSION_MAJOR, VIDI_VERSION_MINOR, VIDI_VERSION_PATCH);
}

vidi__human vidi__human_bytes(uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    vidi__human human;
    if (bytes < 1024) {
        snprintf(human.text, sizeof human.text, "%u bytes", (unsigned)bytes);
        return human;
    }
    double value = (double)bytes / 1024;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < VIDI__COUNT(units)) {
        value /= 1024;
        unit++;
    }
    snprintf(human.text, sizeof human.text, "%.*f %s", value < 10 ? 1 : 0, value, units[unit]);
    return human;
}

void vidi__text_add(vidi__text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text->at + text->len, text->room - text->len, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= text->room - text->len) {
        text->cut = true;
        text->at[text->len] = 0;
        return;
    }
    text->len += (size_t)len;
}

/* A struct that does not begin with its own size begins with an arbitrary number. Sizes above this are rejected. */
#define STRUCT_MAX 65536

static int struct_size(const void *theirs, const char *name, size_t *size)
{
    memcpy(size, theirs, sizeof *size);
    if (*size < sizeof *size || *size > STRUCT_MAX)
        return vidi__fail(VIDI_EARGUMENT, "%s.size is %zu; set it to sizeof(%s)", name, *size, name);
    return VIDI_OK;
}

int vidi__struct_in(void *mine, size_t mine_size, const void *theirs, const char *name)
{
    size_t size;
    VIDI__TRY(struct_size(theirs, name, &size));
    size_t known = size < mine_size ? size : mine_size;
    memset(mine, 0, mine_size);
    memcpy(mine, theirs, known);
    const unsigned char *rest = (const unsigned char *)theirs;
    for (size_t i = known; i < size; i++)
        if (rest[i])
            return vidi__fail(VIDI_EARGUMENT, "%s has fields that this version (%s) of vidi does not know", name,
                              vidi_version());
    return VIDI_OK;
}

int vidi__struct_out(void *theirs, const void *mine, size_t mine_size, const char *name)
{
    size_t size;
    VIDI__TRY(struct_size(theirs, name, &size));
    size_t known = size < mine_size ? size : mine_size;
    memcpy(theirs, mine, known);
    memset((char *)theirs + known, 0, size - known);
    memcpy(theirs, &size, sizeof size);
    return VIDI_OK;
}
