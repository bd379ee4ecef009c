/*
 * Addresses of cluster sets: see address.h. Nothing here shows a password: the sentences name what is wrong with an
 * address, and quote only hosts and the set's name.
 */
#include "fleet/redis/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/bytes.h"
#include "fleet/redis/redis.h"

static const char *const schemes[] = {
    [ADDRESS_TCP] = "redis://", [ADDRESS_TLS] = "rediss://", [ADDRESS_UNIX] = "redis+unix://"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* What comes after the scheme; NULL if the text begins with none of them. */
static const char *after_scheme(const char *text, address_way *way)
{
    for (int i = 0; i < SCHEMES; i++) {
        size_t length = strlen(schemes[i]);
        if (strncmp(text, schemes[i], length) == 0) {
            *way = (address_way)i;
            return text + length;
        }
    }
    return NULL;
}

bool address_is(const char *text)
{
    address_way way;
    return text && after_scheme(text, &way);
}

/* ---- showing ---- */

/* Copies n bytes of text behind the `len` bytes there are; leaves room for an end of three dots. */
static size_t show(char *shown, size_t len, const char *text, size_t n)
{
    size_t room = VIDI_CLUSTER_ADDRESS_ROOM - 1 - len;
    size_t taken = n < room ? n : room;

    memcpy(shown + len, text, taken);
    shown[len + taken] = 0;
    if (taken < n)
        memcpy(shown + VIDI_CLUSTER_ADDRESS_ROOM - 4, "...", 4);
    return len + taken;
}

/*
 * The last '@' ends user and password, even if the password contains characters that had to be written otherwise, and
 * what comes before it is shown only up to its first ':'. The path of a socket may contain '@', too, so there it counts
 * only if the path does not begin at once.
 */
void address_show(const char *address, char shown[VIDI_CLUSTER_ADDRESS_ROOM])
{
    address_way way = ADDRESS_TCP;
    const char *rest = after_scheme(address, &way);
    size_t len = 0;

    shown[0] = 0;
    if (rest) {
        const char *at = way == ADDRESS_UNIX && rest[0] == '/' ? NULL : strrchr(rest, '@');
        len = show(shown, len, address, (size_t)(rest - address));
        if (at) {
            const char *colon = memchr(rest, ':', (size_t)(at - rest));
            if (colon && colon > rest) {
                len = show(shown, len, rest, (size_t)(colon - rest));
                len = show(shown, len, "@", 1);
            }
            rest = at + 1;
        }
        address = rest;
    }
    show(shown, len, address, strlen(address));
}

void address_label(char *to, size_t room, const char *name, uint16_t port)
{
    if (!port)
        snprintf(to, room, "%s", name);
    else
        snprintf(to, room, strchr(name, ':') ? "[%s]:%u" : "%s:%u", name, (unsigned)port);
}

/* ---- reading ---- */

static int refuse(char *why, const char *sentence)
{
    snprintf(why, REDIS_WHY, "%s", sentence);
    return VIDI_EOPTION;
}

static int no_memory(char *why)
{
    snprintf(why, REDIS_WHY, "there is no memory left to read an address");
    return VIDI_EMEMORY;
}

/* Decodes a user or password into a text of its own. */
static int decode(char **to, const char *from, size_t n, char *why)
{
    bytes decoded = {0};
    if (bytes_append_decoded(&decoded, from, n) || bytes_append(&decoded, "", 1)) {
        bytes_free(&decoded);
        return no_memory(why);
    }
    *to = decoded.ptr;
    if (strlen(decoded.ptr) + 1 != decoded.len)
        return refuse(why, "a user or password in an address must not contain %00");
    return VIDI_OK;
}

static int read_credentials(address *to, const char *text, size_t n, char *why)
{
    const char *colon = memchr(text, ':', n);
    int error = VIDI_OK;
    if (!colon)
        return refuse(why, "in an address a ':' stands before the password, as in redis://:password@host/NAME; "
                           "with the password in VIDI_REDIS_PASSWORD, write redis://user:@host/NAME");
    size_t user = (size_t)(colon - text);
    if (user)
        error = decode(&to->user, text, user, why);
    if (!error && user + 1 < n)
        error = decode(&to->password, colon + 1, n - user - 1, why);
    return error;
}

/* The password of the environment, if the address has none. */
static int take_environment(address *to, char *why)
{
    const char *password = getenv("VIDI_REDIS_PASSWORD");
    if (to->password)
        return VIDI_OK;
    if (password && password[0]) {
        to->password = strdup(password);
        return to->password ? VIDI_OK : no_memory(why);
    }
    if (to->user)
        return refuse(why, "the address names a user without a password; VIDI_REDIS_PASSWORD can give it");
    return VIDI_OK;
}

static int add_host(address *to, const char *name, size_t n, uint16_t port, char *why)
{
    address_host *host = &to->hosts[to->count];
    host->name = strndup(name, n);
    host->port = port;
    if (!host->name)
        return no_memory(why);
    to->count++;
    return VIDI_OK;
}

/* A decimal number of a port; 0 if it is none. */
static uint16_t read_port(const char *text, size_t n)
{
    unsigned port = 0;
    for (size_t i = 0; i < n; i++) {
        if (!ascii_is_digit(text[i]) || n > 5)
            return 0;
        port = 10 * port + (unsigned)(text[i] - '0');
    }
    return port < 65536 ? (uint16_t)port : 0;
}

static bool is_name_of_host(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!ascii_is_letter(text[i]) && !ascii_is_digit(text[i]) && !strchr(".-_", text[i]))
            return false;
    return n > 0 && n <= ADDRESS_HOST;
}

static bool is_in_brackets(const char *text, size_t n)
{
    for (size_t i = 1; i + 1 < n; i++)
        if (ascii_hex(text[i]) < 0 && text[i] != ':' && text[i] != '.')
            return false;
    return n > 2 && n <= ADDRESS_HOST;
}

/* host[:port] or [IPv6][:port] */
static int read_host(address *to, const char *text, size_t n, char *why)
{
    const char *end = n && text[0] == '[' ? memchr(text, ']', n) : memchr(text, ':', n);
    size_t length = end ? (size_t)(end - text) : n;
    uint16_t port = ADDRESS_PORT;
    bool good;

    if (n && text[0] == '[') {
        length += end != NULL; /* the bracket */
        good = end && is_in_brackets(text, length);
    } else {
        good = is_name_of_host(text, length);
    }
    if (good && length < n) {
        port = text[length] == ':' ? read_port(text + length + 1, n - length - 1) : 0;
        good = port != 0;
    }
    if (!good) {
        snprintf(why, REDIS_WHY, "'%.*s' in the address is not a host with a port, as in host:6379 or [::1]:6379",
                 n < 300 ? (int)n : 300, text);
        return VIDI_EOPTION;
    }
    return text[0] == '[' ? add_host(to, text + 1, length - 2, port, why) : add_host(to, text, length, port, why);
}

static int read_hosts(address *to, const char *text, size_t n, char *why)
{
    size_t count = 1;
    for (size_t i = 0; i < n; i++)
        count += text[i] == ',';
    if (count > ADDRESS_HOSTS)
        return refuse(why, "the address has too many hosts; 64 are allowed, and a few are enough");
    to->hosts = calloc(count, sizeof *to->hosts);
    if (!to->hosts)
        return no_memory(why);
    if (to->way == ADDRESS_UNIX)
        return n > 1 ? add_host(to, text, n, 0, why)
                     : refuse(why, "the address has no socket's path; write redis+unix:///path/of/socket/NAME");
    for (;;) {
        const char *comma = memchr(text, ',', n);
        size_t length = comma ? (size_t)(comma - text) : n;
        int error = read_host(to, text, length, why);
        if (error || !comma)
            return error;
        text = comma + 1;
        n -= length + 1;
    }
}

static int read_name(address *to, const char *name, char *why)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (!ascii_is_letter(name[i]) && !ascii_is_digit(name[i]) && !strchr("._:-", name[i]))
            return refuse(why, "the name of a set, which is the last part of its address, is made of letters, digits, "
                               "'.', '_', ':' and '-'");
    if (length == 0 || length > ADDRESS_NAME)
        return refuse(why, length ? "the name of the set is too long; 255 characters are allowed"
                                  : "the address must end with '/' and the name of the set, as in redis://host/NAME");
    to->set_name = strdup(name);
    return to->set_name ? VIDI_OK : no_memory(why);
}

static int read_parts(address *to, const char *text, char *why)
{
    const char *rest = after_scheme(text, &to->way);
    if (!rest)
        return refuse(why, "an address begins with redis://, rediss:// or redis+unix://");
    if (strlen(text) > ADDRESS_LENGTH)
        return refuse(why, "the address is too long; 8,192 characters are allowed");
    size_t authority = strcspn(rest, "/");
    const char *at = memrchr(rest, '@', authority);
    int error = at ? read_credentials(to, rest, (size_t)(at - rest), why) : VIDI_OK;
    if (error)
        return error;
    rest = at ? at + 1 : rest;
    const char *slash = strrchr(rest, '/');
    if (!slash || (to->way != ADDRESS_UNIX && strchr(rest, '/') != slash) ||
        (to->way == ADDRESS_UNIX && rest[0] != '/'))
        return refuse(why, to->way == ADDRESS_UNIX
                               ? "the address must be redis+unix:// with the path of a socket, '/' and the set's name"
                               : "the address must end with '/' and the name of the set, and have no other '/'; in a "
                                 "password '/' is written %2F");
    error = read_hosts(to, rest, (size_t)(slash - rest), why);
    error = error ? error : read_name(to, slash + 1, why);
    return error ? error : take_environment(to, why);
}

int address_read(address *to, const char *text, char *why)
{
    *to = (address){0};
    int error = text ? read_parts(to, text, why) : refuse(why, "there is no address");
    if (error)
        address_free(to);
    return error;
}

void address_free(address *address)
{
    for (size_t i = 0; i < address->count; i++)
        free(address->hosts[i].name);
    free(address->hosts);
    free(address->user);
    free(address->password);
    free(address->set_name);
    *address = (struct address){0};
}
