/*
 * Set-Cookie as RFC 6265 reads it (section 5.2), with what its revision, 6265bis, adds: limits, the prefixes of names,
 * and that a control character, which could begin a line of its own in a request, makes the whole cookie void.
 */
#include "crawler/http/http.h"

#include <string.h>

#include "crawler/http/http_text.h"

enum { COOKIE_MOST = 4096, ATTRIBUTE_MOST = 1024 }; /* bytes of name and value together; of an attribute's value */

static const int64_t LONGEST = INT64_C(400) * 24 * 60 * 60 * 1000; /* milliseconds that a cookie lives */

static bool has_control(vidi_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (((unsigned char)text.ptr[i] < 0x20 && text.ptr[i] != '\t') || text.ptr[i] == 0x7F)
            return true;
    return false;
}

/* Takes the part before the separator off, without blanks around; all of it if there is none. */
static vidi_str take_part(vidi_str *text, char separator)
{
    const char *end = text->len ? memchr(text->ptr, separator, text->len) : NULL;
    vidi_str part = {text->ptr, end ? (size_t)(end - text->ptr) : text->len};

    *text = end ? (vidi_str){end + 1, text->len - part.len - 1} : (vidi_str){NULL, 0};
    return http_trim(part);
}

/* Seconds, which may be negative or too many for a number. False if it is none. */
static bool read_max_age(vidi_str text, int64_t *ms)
{
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    int64_t seconds = 0;

    for (size_t i = is_negative; i < text.len; i++) {
        if (!ascii_is_digit(text.ptr[i]))
            return false;
        seconds = seconds > LONGEST ? seconds : seconds * 10 + (text.ptr[i] - '0');
    }
    *ms = is_negative ? 0 : 1000 * (seconds < LONGEST / 1000 ? seconds : LONGEST / 1000);
    return text.len > (size_t)is_negative;
}

static void read_attribute(vidi_str name, vidi_str value, int64_t date, http_cookie *cookie, bool *has_age)
{
    int64_t ms;

    if (value.len > ATTRIBUTE_MOST)
        return;
    if (ASCII_IS(name, "secure")) {
        cookie->secure = true;
    } else if (ASCII_IS(name, "domain")) {
        size_t dot = value.len > 0 && value.ptr[0] == '.';
        cookie->domain = (vidi_str){value.ptr + dot, value.len - dot};
    } else if (ASCII_IS(name, "path")) {
        cookie->path = value.len && value.ptr[0] == '/' ? value : (vidi_str){NULL, 0};
    } else if (ASCII_IS(name, "max-age") && read_max_age(value, &ms)) {
        cookie->expires = date + ms;
        *has_age = true;
    } else if (ASCII_IS(name, "expires") && !*has_age && (ms = http_cookie_date(value)) >= 0) {
        cookie->expires = ms < date + LONGEST ? ms : date + LONGEST;
    }
}

static bool begins(vidi_str text, const char *with)
{
    size_t n = strlen(with);

    return text.len >= n && http_same((vidi_str){text.ptr, n}, (vidi_str){with, n});
}

/* Names that promise how the cookie was set (RFC 6265bis, section 4.1.3). */
static bool keeps_promise(const http_cookie *cookie)
{
    if (begins(cookie->name, "__host-"))
        return cookie->secure && cookie->domain.len == 0 && cookie->path.len == 1;
    return cookie->secure || !begins(cookie->name, "__secure-");
}

bool http_read_cookie(vidi_str field, int64_t date, http_cookie *cookie)
{
    bool has_age = false;

    *cookie = (http_cookie){.expires = -1};
    if (has_control(field))
        return false;
    vidi_str pair = take_part(&field, ';');
    if (pair.len == 0 || !memchr(pair.ptr, '=', pair.len))
        return false;
    cookie->name = take_part(&pair, '=');
    cookie->value = http_trim(pair);
    while (field.len) {
        vidi_str attribute = take_part(&field, ';'), name = take_part(&attribute, '=');
        read_attribute(name, http_trim(attribute), date, cookie, &has_age);
    }
    return cookie->name.len > 0 && cookie->name.len + cookie->value.len <= COOKIE_MOST && keeps_promise(cookie);
}

vidi_str http_cookie_path(vidi_str path)
{
    const char *slash = path.len && path.ptr[0] == '/' ? memrchr(path.ptr, '/', path.len) : NULL;

    return slash && slash > path.ptr ? (vidi_str){path.ptr, (size_t)(slash - path.ptr)} : (vidi_str){"/", 1};
}

bool http_cookie_path_has(vidi_str cookie, vidi_str path)
{
    return path.len >= cookie.len && memcmp(path.ptr, cookie.ptr, cookie.len) == 0 &&
           (path.len == cookie.len || cookie.ptr[cookie.len - 1] == '/' || path.ptr[cookie.len] == '/');
}
