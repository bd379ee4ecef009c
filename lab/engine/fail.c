/*
 * Errors of the lab: a code and a sentence, which vidi_message() returns as it does for the library's errors. Also lists
 * that grow.
 */
#include <stdarg.h>
#include <stdio.h>

#include "lab/engine/lab.h"
#include "lib/inside/inside.h"

int lab_fail(int code, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return vidi__inside_fail(code, text);
}

int lab_grow(void *list, size_t needed, size_t *room, size_t size)
{
    void **at = list;
    if (needed <= *room)
        return VIDI_OK;
    size_t more = *room + *room / 2 + needed;
    void *grown = realloc(*at, more * size);
    if (!grown)
        return lab_fail(VIDI_EMEMORY, "no memory for a list of %zu elements", more);
    *at = grown;
    *room = more;
    return VIDI_OK;
}
