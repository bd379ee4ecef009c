/*
 * Addresses of cluster sets, as the first page of vidi/cluster.h has them:
 *
 *     redis://[[user]:password@]host[:port][,host[:port]...]/NAME      rediss://... with TLS
 *     redis+unix://[[user]:password@]/path/of/socket/NAME
 *
 * An IPv6 address stands in brackets. User and password are percent-decoded. If the password is missing or empty, the
 * environment variable VIDI_REDIS_PASSWORD gives it. The NAME is what comes after the last '/'.
 */
#ifndef VIDI_FLEET_REDIS_ADDRESS_H
#define VIDI_FLEET_REDIS_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

#include "vidi/cluster.h"

enum { ADDRESS_PORT = 6379, ADDRESS_HOSTS = 64, ADDRESS_LENGTH = 8192, ADDRESS_NAME = 255, ADDRESS_HOST = 255 };

typedef enum address_way { ADDRESS_TCP, ADDRESS_TLS, ADDRESS_UNIX } address_way;

typedef struct address_host {
    char *name;    /* host name or IP address without brackets; with ADDRESS_UNIX: the socket's path */
    uint16_t port; /* with ADDRESS_UNIX: 0 */
} address_host;

typedef struct address {
    address_way way;
    address_host *hosts;
    size_t count;
    char *user, *password; /* NULL: none */
    char *set_name;
} address;

/* What vidi_cluster_is_address and vidi_cluster_show_address do. */
bool address_is(const char *text);
void address_show(const char *address, char shown[VIDI_CLUSTER_ADDRESS_ROOM]);

/* Reads an address. VIDI_EOPTION if it is not one, or VIDI_EMEMORY: then `why` (room REDIS_WHY) has the sentence. */
int address_read(address *to, const char *text, char *why);
void address_free(address *address);

/* Writes "host:port", with brackets around an IPv6 address, or the path; cut off at the room. */
void address_label(char *to, size_t room, const char *name, uint16_t port);

#endif
