/*
 * Sentences about errors, and addresses as they may be shown. See message.h.
 */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>

#include "fleet/redis/address.h"

static _Thread_local char message[1024];

const char *vidi_cluster_message(void)
{
    return message;
}

int cluster_fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return code;
}

int cluster_fail_as_set(int code)
{
    return cluster_fail(code, "%s", vidi_message());
}

bool vidi_cluster_is_address(const char *text)
{
    return text && address_is(text);
}

void vidi_cluster_show_address(const char *address, char shown[VIDI_CLUSTER_ADDRESS_ROOM])
{
    address_show(address ? address : "", shown);
}
