/* Canonical forms in tests as C strings. */
#ifndef TESTS_URL_CANONICAL_H
#define TESTS_URL_CANONICAL_H

#include <stdio.h>
#include <string.h>

#include "vidi/url.h"
#include "vidi/vidi.h"
#include "support/check.h"
#include "support/urls.h"

typedef struct canonical_case {
    const char *profile, *input, *want; /* want NULL: VIDI_INVALID */
} canonical_case;

static inline vidi_canon *canon_with(const char *profile, const char *tracking)
{
    vidi_canon *canon = NULL;
    int result = vidi_canon_create(&canon, profile, tracking, NULL);
    check(result == VIDI_OK && canon, "%s: %s", profile ? profile : "NULL", vidi_message());
    return canon;
}

/* Good until the next call; NULL for VIDI_INVALID. */
static inline const char *canonical_by(const vidi_canon *canon, const char *input)
{
    static char out[8192];
    size_t len = sizeof out - 1;
    int result = vidi_url_canon(canon, test_str(input), NULL, out, &len);
    check(result == VIDI_OK || result == VIDI_INVALID, "<%s>: error %d, %s", input, result, vidi_message());
    check(result == VIDI_OK || len == 0, "<%s>: %zu bytes of what is no URL", input, len);
    out[len] = 0;
    return result ? NULL : out;
}

static inline void check_canonical(const canonical_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        vidi_canon *canon = canon_with(cases[i].profile, NULL);
        const char *got = canonical_by(canon, cases[i].input), *want = cases[i].want;
        check(!got == !want && (!got || strcmp(got, want) == 0), "%s <%s>: <%s> instead of <%s>", cases[i].profile,
              cases[i].input, got ? got : "no URL", want ? want : "no URL");
        vidi_canon_close(canon);
    }
}

#define CHECK_CANONICAL(...)                                                                                           \
    do {                                                                                                               \
        static const canonical_case cases_[] = {__VA_ARGS__};                                                          \
        check_canonical(cases_, sizeof cases_ / sizeof cases_[0]);                                                     \
    } while (0)

#endif
