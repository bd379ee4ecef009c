/* Errors of the lab: a code and a sentence, which vidi_message() returns as it does for the library's errors. */
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
