/* Two URLs with the same parts at the same places. */
#ifndef TESTS_SUPPORT_URL_PARTS_H
#define TESTS_SUPPORT_URL_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "vidi/url.h"

/* All fields; what follows the last one is padding. */
static inline bool same_parts(const vidi_url *a, const vidi_url *b)
{
    return memcmp(a, b, offsetof(vidi_url, flags) + sizeof a->flags) == 0;
}

#endif
