/*
 * Which addresses may be connected to, and how failures are put into words. Shared by the files of this folder.
 */
#ifndef VIDI_CRAWLER_FETCH_ADDRESSES_H
#define VIDI_CRAWLER_FETCH_ADDRESSES_H

#include <stdarg.h>
#include <sys/socket.h>

#include "crawler/fetch/fetch.h"

enum { FETCH_WHY_ROOM = 160, FETCH_ADDRESS_ROOM = 46 };

typedef struct fetch_guard {
    fetch_net *nets; /* allowed besides public addresses */
    size_t net_count;
    bool allow_public;
} fetch_guard;

/* VIDI_OK or VIDI_EMEMORY. */
int fetch_guard_open(fetch_guard *made, const fetch_options *options);
void fetch_guard_close(fetch_guard *guard);

bool fetch_guard_permits(const fetch_guard *guard, const fetch_address *address);
/* Why an address is not permitted. `why` has room for FETCH_WHY_ROOM bytes. */
void fetch_guard_explain(const fetch_address *address, char *why);

/* False if it is neither IPv4 nor IPv6; the address is then none. */
bool fetch_address_read(const struct sockaddr *from, fetch_address *to);

/* A host that is an address: "192.0.2.1" or "[2001:db8::1]". */
bool fetch_address_parse(vidi_str host, fetch_address *to);

/* Formats a sentence; replaces control characters, those that change the direction of text, and what is not UTF-8. */
void fetch_explain(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fetch_explain_values(char *why, const char *format, va_list values) __attribute__((format(printf, 2, 0)));

#endif
