/*
 * The URLs that the user has named. A user name and password in one of them become a header for requests to its origin;
 * they are no part of the URL that is fetched, compared and written down.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/base/web_url.h"
#include "crawler/crawl/crawl_state.h"
#include "vidi/url.h"

enum { SEED_MOST = 1 << 16, SHOWN_MOST = 200 }; /* bytes of a seed; of a seed in a message */

/* ---- user names ---- */

static int append_base64(bytes *to, vidi_str from)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < from.len; i += 3) {
        uint32_t three = (uint32_t)(unsigned char)from.ptr[i] << 16;
        size_t left = from.len - i;
        if (left > 1)
            three |= (uint32_t)(unsigned char)from.ptr[i + 1] << 8;
        if (left > 2)
            three |= (unsigned char)from.ptr[i + 2];
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63], digits[three >> 6 & 63], digits[three & 63]};
        for (size_t j = left + 1; j < 4; j++)
            four[j] = '=';
        if (bytes_append(to, four, 4) != VIDI_OK)
            return VIDI_EMEMORY;
    }
    return VIDI_OK;
}

/* "Authorization: Basic …", as text. */
static char *login_header(const vidi_url *url)
{
    bytes name = {0}, header = {0};
    int error = bytes_append_decoded(&name, url->username.ptr, url->username.len);

    if (error == VIDI_OK)
        error = bytes_append_text(&name, ":");
    if (error == VIDI_OK)
        error = bytes_append_decoded(&name, url->password.ptr, url->password.len);
    if (error == VIDI_OK)
        error = bytes_append_text(&header, "Authorization: Basic ");
    if (error == VIDI_OK)
        error = append_base64(&header, bytes_str(&name));
    if (error == VIDI_OK)
        error = bytes_append(&header, "", 1);
    bytes_free(&name);
    if (error)
        bytes_free(&header);
    return header.ptr;
}

static int add_login(crawl *crawl, const vidi_url *url, vidi_str seed)
{
    vidi_url parts;
    crawl_login *more = realloc(crawl->logins, (crawl->login_count + 1) * sizeof *more);

    if (!more)
        return VIDI_EMEMORY;
    crawl->logins = more;
    if (!web_url_view(seed, &parts))
        return VIDI_EOPTION;
    vidi_str origin = web_url_origin(&parts);
    crawl_login login = {strndup(origin.ptr, origin.len), login_header(url)};
    if (!login.origin || !login.header) {
        free(login.origin);
        free(login.header);
        return VIDI_EMEMORY;
    }
    crawl->logins[crawl->login_count++] = login;
    return VIDI_OK;
}

/* ---- seeds ---- */

static int refuse(char *why, vidi_str seed, const char *because)
{
    int shown = seed.len < SHOWN_MOST ? (int)seed.len : SHOWN_MOST;

    if (memchr(seed.ptr, '@', seed.len)) /* there may be a password before it */
        return crawl_explain(why, VIDI_EOPTION, "a seed with a user name cannot be crawled: %s", because);
    return crawl_explain(why, VIDI_EOPTION, "cannot crawl '%.*s': %s", shown, seed.ptr, because);
}

/* The URL without user name and fragment. */
static char *plain_url(const vidi_url *url)
{
    char *text;
    int length = asprintf(&text, "%.*s://%.*s%s%.*s%.*s%s%.*s", (int)url->scheme.len, url->scheme.ptr,
                          (int)url->host.len, url->host.ptr, url->port.ptr ? ":" : "", (int)url->port.len,
                          url->port.ptr ? url->port.ptr : "", (int)url->path.len, url->path.ptr,
                          url->query.ptr ? "?" : "", (int)url->query.len, url->query.ptr ? url->query.ptr : "");

    return length < 0 ? NULL : text;
}

static int take_seed(crawl *crawl, vidi_str seed, char *buffer, char *why)
{
    vidi_url url = {.size = sizeof url};
    size_t len = SEED_MOST;
    int error = vidi_url_parse(seed, NULL, buffer, &len, &url);

    if (error == VIDI_INVALID)
        return refuse(why, seed, vidi_message());
    if (error == VIDI_ELIMIT || len > crawl->options.max_url)
        return refuse(why, seed, "it is longer than --max-url allows");
    if (error)
        return error;
    if (!is_web_url(&url))
        return refuse(why, seed, "only http and https URLs can be fetched");
    if (scope_port_is_bad(web_url_port(&url)))
        return refuse(why, seed, "its port belongs to another protocol, and browsers refuse it, too");
    char *plain = plain_url(&url);
    if (!plain)
        return VIDI_EMEMORY;
    crawl->seed_texts[crawl->seed_count] = plain;
    crawl->seeds[crawl->seed_count] = (vidi_str){plain, strlen(plain)};
    crawl->seed_count++;
    return url.username.len || url.password.len ? add_login(crawl, &url, crawl->seeds[crawl->seed_count - 1]) : VIDI_OK;
}

int seeds_read(crawl *crawl, char *why)
{
    size_t n = crawl->options.seed_count;
    char *buffer = malloc(SEED_MOST);
    int error = VIDI_OK;

    crawl->seeds = calloc(n, sizeof *crawl->seeds);
    crawl->seed_texts = calloc(n, sizeof *crawl->seed_texts);
    if (!buffer || !crawl->seeds || !crawl->seed_texts)
        error = VIDI_EMEMORY;
    for (size_t i = 0; i < n && error == VIDI_OK; i++)
        error = take_seed(crawl, crawl->options.seeds[i], buffer, why);
    free(buffer);
    return error;
}

void seeds_free(crawl *crawl)
{
    for (size_t i = 0; i < crawl->seed_count; i++)
        free(crawl->seed_texts[i]);
    for (size_t i = 0; i < crawl->login_count; i++) {
        free(crawl->logins[i].origin);
        free(crawl->logins[i].header);
    }
    free(crawl->logins);
    free(crawl->seed_texts);
    free(crawl->seeds);
}
