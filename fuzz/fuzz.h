/*
 * What every fuzz target offers, and what all of them check.
 *
 * A target is a function that takes arbitrary bytes. libFuzzer calls it with inputs that it invents, and replay.c calls
 * it with files. It uses the public header and lib/inside/inside.h, and aborts when the library breaks a promise.
 */
#ifndef VIDI_FUZZ_FUZZ_H
#define VIDI_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "vidi/vidi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Like assert, but active in every build. */
#define FUZZ_CHECK(promise)                                                                                            \
    do {                                                                                                               \
        if (!(promise)) {                                                                                              \
            fprintf(stderr, "%s:%d: broken: %s (%s)\n", __FILE__, __LINE__, #promise, vidi_message());                 \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#define FUZZ_STR(literal)                                                                                              \
    {                                                                                                                  \
        literal, sizeof(literal) - 1                                                                                   \
    }

/* Looks up and adds a few URLs. However the set was made, it must hold the URLs that were added. */
static inline void fuzz_use(vidi_set *set)
{
    static const vidi_str urls[] = {
        FUZZ_STR("http://example.com/"),      FUZZ_STR("https://www.example.org/a/b/c?q=1#top"),
        FUZZ_STR("http://example.com/a/x/x"), FUZZ_STR("not a URL"),
        FUZZ_STR("http://example.com/a"),     FUZZ_STR(""),
    };
    for (size_t i = 0; i < FUZZ_COUNT(urls); i++) {
        vidi_has(set, urls[i]);
        vidi_has_previous(set, urls[i]);
        int verdict = vidi_add(set, urls[i]);
        if (verdict == VIDI_NEW || verdict == VIDI_SEEN)
            FUZZ_CHECK(vidi_has(set, urls[i]) == VIDI_SEEN);
    }
    vidi_stats stats = {.size = sizeof stats};
    FUZZ_CHECK(vidi_stat(set, &stats) == VIDI_OK);
    FUZZ_CHECK(stats.memory_bytes <= stats.memory_limit);
    FUZZ_CHECK(stats.fp_now >= 0 && stats.fp_now <= 1);
    FUZZ_CHECK(stats.expected_lost >= 0);
}

#endif
