/* URLs in tests as C strings: what comes of one, or of a reference against a base. */
#ifndef TESTS_URL_HREF_H
#define TESTS_URL_HREF_H

#include <stdio.h>
#include <string.h>

#include "vidi/url.h"
#include "vidi/vidi.h"
#include "support/check.h"

typedef struct href_case {
    const char *input, *want; /* NULL: it is no URL */
} href_case;

/* The serialisation, good until the next call; NULL if it, or the base, is not a URL. base NULL: none. */
static inline const char *href_of(const char *input, const char *base)
{
    static char out[4096];
    size_t len = sizeof out - 1;
    vidi_url url = {.size = sizeof url};
    vidi_str base_str = {base, base ? strlen(base) : 0};
    int result = vidi_url_parse((vidi_str){input, strlen(input)}, base ? &base_str : NULL, out, &len, &url);
    check(result == VIDI_OK || result == VIDI_INVALID || (base && result == VIDI_EARGUMENT), "%s: error %d, %s", input,
          result, vidi_message());
    out[len] = 0;
    return result ? NULL : out;
}

/* Each case gives what it should, and what it gives reads as itself. */
static inline void check_hrefs(const href_case *cases, size_t count, const char *base)
{
    for (size_t i = 0; i < count; i++) {
        const char *got = href_of(cases[i].input, base), *want = cases[i].want;
        check(!got == !want, "<%s> against <%s>: %s", cases[i].input, base ? base : "", got ? got : vidi_message());
        if (!want)
            continue;
        check(strcmp(got, want) == 0, "<%s> against <%s>: <%s> instead of <%s>", cases[i].input, base ? base : "", got,
              want);
        got = href_of(want, NULL);
        check(got && strcmp(got, want) == 0, "<%s> reads as <%s>", want, got ? got : vidi_message());
    }
}

#define CHECK_HREFS(base, ...)                                                                                         \
    do {                                                                                                               \
        static const href_case cases_[] = {__VA_ARGS__};                                                               \
        check_hrefs(cases_, sizeof cases_ / sizeof cases_[0], base);                                                   \
    } while (0)

#endif
