/* Errors of the lab: a code, and a sentence that vidi_message gives, as with the library's own. */
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
