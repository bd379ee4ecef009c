/*
 * Proxies: "http://user:password@proxy.example:3128" is read and taken apart, so that what is shown and what libcurl may
 * put into its messages has no password in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/base/web_url.h"
#include "crawler/fetch/exchange.h"

enum { PROXY_MOST = 4096 }; /* bytes of its URL */

static const struct {
    const char *scheme;
    int port;
    bool resolves, forwards;
} schemes[] = {{"http", 80, true, true},
               {"https", 443, true, true},
               {"socks5h", 1080, true, false},
               {"socks5", 1080, false, false}};

/* Reads the part after the scheme as that of a web page, whose rules for hosts and ports hold for all. */
static bool read_as(const char *scheme, const char *rest, char *buffer, vidi_url *parts)
{
    char text[PROXY_MOST];
    size_t length = PROXY_MOST;
    int n = snprintf(text, sizeof text, "%s%s", scheme, rest);

    *parts = (vidi_url){.size = sizeof *parts};
    return n > 0 && n < PROXY_MOST &&
           vidi_url_parse((vidi_str){text, (size_t)n}, NULL, buffer, &length, parts) == VIDI_OK &&
           parts->path.len == 1 && !parts->query.ptr && !parts->fragment.ptr;
}

/* *port is -1 if none is given; each scheme hides its own default. */
static bool read_rest(const char *rest, char *buffer, vidi_url *parts, int *port)
{
    bool is_fine = read_as("https", rest, buffer, parts);

    *port = parts->port_number;
    is_fine = is_fine && read_as("http", rest, buffer, parts);
    *port = *port >= 0 ? *port : parts->port_number;
    return is_fine;
}

int fetch_proxy_open(fetch_proxy *made, const char *text)
{
    char buffer[PROXY_MOST];
    const char *rest = strstr(text, "://");
    size_t n = rest ? (size_t)(rest - text) : 0, i = 0;
    int port;
    vidi_url parts;

    *made = (fetch_proxy){0};
    while (i < sizeof schemes / sizeof schemes[0] &&
           (strlen(schemes[i].scheme) != n || memcmp(schemes[i].scheme, text, n) != 0))
        i++;
    if (!rest || i == sizeof schemes / sizeof schemes[0] || !fetch_is_line(text) ||
        !read_rest(rest, buffer, &parts, &port))
        return VIDI_EARGUMENT;
    made->resolves = schemes[i].resolves;
    made->forwards = schemes[i].forwards;
    if (asprintf(&made->url, "%s://%.*s:%d", schemes[i].scheme, (int)parts.host.len, parts.host.ptr,
                 port >= 0 ? port : schemes[i].port) < 0)
        made->url = NULL;
    if (made->url && (parts.username.len || parts.password.len) &&
        asprintf(&made->login, "%.*s:%.*s", (int)parts.username.len, parts.username.ptr, (int)parts.password.len,
                 parts.password.ptr) < 0)
        made->login = NULL;
    if (made->url && (made->login || !(parts.username.len || parts.password.len)))
        return VIDI_OK;
    fetch_proxy_close(made);
    return VIDI_EMEMORY;
}

void fetch_proxy_close(fetch_proxy *proxy)
{
    free(proxy->url);
    free(proxy->login);
    *proxy = (fetch_proxy){0};
}

int fetch_proxy_check(const char *text, bool *resolves)
{
    fetch_proxy proxy;
    int error = fetch_proxy_open(&proxy, text);

    *resolves = proxy.resolves;
    fetch_proxy_close(&proxy);
    return error;
}
