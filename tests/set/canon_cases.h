/*
 * What the tests of canonical forms in sets share: sets by their form, and a mixture of URLs that are canonical,
 * spelled otherwise, long or none at all.
 */
#ifndef TESTS_SET_CANON_CASES_H
#define TESTS_SET_CANON_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/random.h"
#include "support/streams.h"
#include "support/urls.h"

static const char own_list[] = "# ours\nMine\n from_* \n\n";

/* Options with a fixed key. */
typedef struct canon_options {
    vidi_options options; /* with `access` */
    vidi_access access;
    unsigned char key[VIDI_KEY_BYTES];
} canon_options;

static inline void canon_options_init(canon_options *made, const char *kind, const char *canon, uint32_t invalid)
{
    vidi_options plain = VIDI_OPTIONS_INIT;
    vidi_access defaults = VIDI_ACCESS_INIT;
    made->options = plain;
    made->access = defaults;
    made->options.access = &made->access;
    test_key(made->key, 5);
    made->options.key = made->key;
    made->options.kind = kind;
    made->options.capacity = 20000;
    made->options.canon = canon;
    made->access.invalid = invalid;
}

static inline vidi_set *must_create(const vidi_options *options)
{
    vidi_set *set = NULL;
    int result = vidi_create(&set, options);
    check(result == VIDI_OK && set, "%d: %s", result, vidi_message());
    return set;
}

static inline vidi_set *canon_set(const char *kind, const char *canon, uint32_t invalid)
{
    canon_options made;
    canon_options_init(&made, kind, canon, invalid);
    return must_create(&made.options);
}

/* Text that is freed with the mixture. */
typedef struct mixture {
    vidi_str *urls;
    size_t n;
} mixture;

static inline void mixture_free(mixture *mixed)
{
    for (size_t i = 0; i < mixed->n; i++) {
        free((char *)mixed->urls[i].ptr);
    }
    free(mixed->urls);
}

/* Three pieces with two numbers between them. */
typedef struct shape {
    const char *before, *between, *behind;
} shape;

static inline char *shaped(const shape *of, unsigned a, unsigned b)
{
    char *text = NULL;
    check(asprintf(&text, "%s%u%s%u%s", of->before, a, of->between, b, of->behind) > 0, "no memory");
    return text;
}

/* http://…/x with the same letter for `bytes` bytes behind it; spaces have to be escaped. */
static inline char *long_text(const char *begin, char filler, size_t bytes)
{
    size_t head = strlen(begin);
    char *text = malloc(head + bytes + 2);
    check(text != NULL, "no memory");
    memcpy(text, begin, head);
    memset(text + head, filler, bytes);
    memcpy(text + head + bytes, "x", 2);
    return text;
}

/* n texts, about half of them canonical, out of so few that many come several times, in several spellings. */
static inline mixture mixture_of(size_t n, uint64_t seed)
{
    static const shape shapes[] = {
        {"http://h", ".example/a/p", ".html"},
        {"HTTP://H", ".example:80/a/./b/../p", ".html#top"},
        {"http://h", ".example/a//p", ".html?utm_source=x"},
        {"no url ", " ", ""},
        {"http://[", ".", "/"},
        {"h", ".example", ""},
        {"mailto:a", "/b", "@example.com"},
        {"http://h", ".example/\xc3\xa9 ", ""},
    };
    test_random random = {seed};
    mixture mixed = {malloc((n + 1) * sizeof(vidi_str)), n};
    check(mixed.urls != NULL, "no memory");
    for (size_t i = 0; i < n; i++) {
        unsigned host = (unsigned)test_below(&random, 7), page = (unsigned)test_below(&random, (n / 4) + 1);
        uint64_t which = test_below(&random, 16);
        char *text;
        if (n > 100 && test_below(&random, 400) == 0) {
            text =
                long_text(host % 2 ? "http://h.example/" : "none/", host % 3 ? ' ' : 'y', 3000 * (size_t)(page % 15));
        } else {
            text = shaped(&shapes[which < 8 ? which : 0], host, page);
        }
        mixed.urls[i] = (vidi_str){text, strlen(text)};
    }
    return mixed;
}

#endif
