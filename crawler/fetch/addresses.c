/*
 * Addresses and networks: what is written as text, what is public, what is permitted.
 *
 * Public is what IANA's registries of special-purpose addresses leave over (RFC 6890): an address that anybody on the
 * Internet can have. Addresses that carry another one inside (mapped, NAT64, 6to4, Teredo) are never public, because
 * the machine that unpacks them may be on our side of a firewall.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/fetch/addresses.h"

typedef struct special_net {
    uint8_t bytes[8]; /* the first ones; the others are 0 */
    uint8_t bits;
} special_net;

static const special_net special_v4[] = {
    {{0}, 8},             /* this network */
    {{10}, 8},            /* private */
    {{100, 64}, 10},      /* behind a carrier's NAT */
    {{127}, 8},           /* loopback */
    {{169, 254}, 16},     /* link-local; the clouds' metadata */
    {{172, 16}, 12},      /* private */
    {{192, 0, 0}, 24},    /* IETF protocols */
    {{192, 0, 2}, 24},    /* documentation */
    {{192, 88, 99}, 24},  /* 6to4 relays */
    {{192, 168}, 16},     /* private */
    {{198, 18}, 15},      /* benchmarks */
    {{198, 51, 100}, 24}, /* documentation */
    {{203, 0, 113}, 24},  /* documentation */
    {{224}, 4},           /* multicast */
    {{240}, 4},           /* reserved, and the broadcast address */
};

/* Inside of 2000::/3; everything outside of it is special: ::, ::1, mapped, NAT64, fc00::/7, fe80::/10, ff00::/8 …. */
static const special_net special_v6[] = {
    {{0x20, 0x01}, 23},             /* IETF protocols: Teredo, benchmarks, ORCHID */
    {{0x20, 0x01, 0x0d, 0xb8}, 32}, /* documentation */
    {{0x20, 0x02}, 16},             /* 6to4 */
    {{0x3f, 0xff}, 20},             /* documentation */
};
static const special_net global_v6 = {{0x20}, 3};

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned rest = bits % 8;

    if (memcmp(a, b, bits / 8) != 0)
        return false;
    return rest == 0 || (a[bits / 8] ^ b[bits / 8]) >> (8 - rest) == 0;
}

static bool is_among(const fetch_address *address, const special_net *nets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (same_bits(address->bytes, nets[i].bytes, nets[i].bits))
            return true;
    return false;
}

bool fetch_address_is_loopback(const fetch_address *address)
{
    static const uint8_t one[16] = {[15] = 1};

    return address->length == 4 ? address->bytes[0] == 127
                                : address->length == 16 && memcmp(address->bytes, one, sizeof one) == 0;
}

bool fetch_address_is_public(const fetch_address *address)
{
    switch (address->length) {
    case 4:
        return !is_among(address, special_v4, sizeof special_v4 / sizeof special_v4[0]);
    case 16:
        return same_bits(address->bytes, global_v6.bytes, global_v6.bits) &&
               !is_among(address, special_v6, sizeof special_v6 / sizeof special_v6[0]);
    default:
        return false;
    }
}

const char *fetch_address_text(const fetch_address *address, char *to)
{
    to[0] = '\0';
    if (address->length)
        inet_ntop(address->length == 4 ? AF_INET : AF_INET6, address->bytes, to, FETCH_ADDRESS_ROOM);
    return to;
}

/* An address without brackets. */
static bool read_address(const char *text, size_t n, fetch_address *to)
{
    char copy[FETCH_ADDRESS_ROOM];

    *to = (fetch_address){0};
    if (n >= sizeof copy || memchr(text, '\0', n))
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (inet_pton(AF_INET, copy, to->bytes) == 1)
        to->length = 4;
    else if (inet_pton(AF_INET6, copy, to->bytes) == 1)
        to->length = 16;
    return to->length != 0;
}

bool fetch_address_parse(vidi_str host, fetch_address *to)
{
    bool has_brackets = host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';

    *to = (fetch_address){0};
    if (has_brackets)
        return read_address(host.ptr + 1, host.len - 2, to) && to->length == 16;
    if (read_address(host.ptr, host.len, to) && to->length == 4)
        return true;
    *to = (fetch_address){0};
    return false;
}

bool fetch_address_read(const struct sockaddr *from, fetch_address *to)
{
    *to = (fetch_address){0};
    if (from->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, from, sizeof v4);
        memcpy(to->bytes, &v4.sin_addr, 4);
        to->length = 4;
    } else if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, from, sizeof v6);
        memcpy(to->bytes, &v6.sin6_addr, 16);
        to->length = 16;
    }
    return to->length != 0;
}

/* The number after the '/': up to three digits, nothing else. */
static bool read_bits(const char *text, unsigned most, unsigned *bits)
{
    size_t n = strspn(text, "0123456789");

    if (n == 0 || n > 3 || text[n])
        return false;
    *bits = (unsigned)strtoul(text, NULL, 10);
    return *bits <= most;
}

bool fetch_net_parse(const char *text, fetch_net *net)
{
    size_t n = strcspn(text, "/");

    *net = (fetch_net){0};
    if (!read_address(text, n, &net->address))
        return false;
    net->bits = 8 * net->address.length;
    return !text[n] || read_bits(text + n + 1, net->bits, &net->bits);
}

bool fetch_net_has(const fetch_net *net, const fetch_address *address)
{
    return net->address.length && net->address.length == address->length &&
           same_bits(net->address.bytes, address->bytes, net->bits);
}

int fetch_guard_open(fetch_guard *made, const fetch_options *options)
{
    *made = (fetch_guard){.allow_public = options->allow_public};
    if (options->allowed_count == 0)
        return VIDI_OK;
    made->nets = calloc(options->allowed_count, sizeof *made->nets);
    if (!made->nets)
        return VIDI_EMEMORY;
    memcpy(made->nets, options->allowed, options->allowed_count * sizeof *made->nets);
    made->net_count = options->allowed_count;
    return VIDI_OK;
}

void fetch_guard_close(fetch_guard *guard)
{
    free(guard->nets);
    *guard = (fetch_guard){0};
}

bool fetch_guard_permits(const fetch_guard *guard, const fetch_address *address)
{
    for (size_t i = 0; i < guard->net_count; i++)
        if (fetch_net_has(&guard->nets[i], address))
            return true;
    return guard->allow_public && fetch_address_is_public(address);
}

void fetch_guard_explain(const fetch_address *address, char *why)
{
    char text[FETCH_ADDRESS_ROOM];

    fetch_address_text(address, text);
    if (fetch_address_is_public(address))
        fetch_explain(why, "%s is a public address, and only addresses of allowed networks may be asked", text);
    else
        fetch_explain(why, "%s is not a public address, and no allowed network has it", text);
}
