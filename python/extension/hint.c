/*
 * Hints about the size of a set, because a Python program rarely knows the number of its URLs in advance.
 *
 * A set that grows by itself does so in small steps, to waste no memory: below a million URLs, each is moved some four
 * or five times, which at ten thousand takes longer than everything else in an add. Next to Python's own objects a few
 * megabytes are nothing: a Python set of str takes several times as much at every size. So as long as it is small, the
 * set grows in large steps. From a million URLs on, the library's own steps are the right ones. The smallest
 * sets get no hint: a program may have one for each host.
 */
#include "extension.h"

static const uint64_t sizes[] = {16384, 65536, 131072, 262144, 524288, 1048576};

#define SIZES (sizeof sizes / sizeof *sizes)

/* When a set has this many URLs, it is prepared for size i. */
static uint64_t hint_at(size_t i)
{
    if (i == SIZES)
        return UINT64_MAX;
    return i == 0 ? 32 : sizes[i - 1];
}

/* The first hint that lies ahead. */
static size_t next_hint(uint64_t urls)
{
    size_t i = 0;
    while (hint_at(i) <= urls)
        i++;
    return i;
}

uint64_t vp_first_hint(uint64_t urls)
{
    return hint_at(next_hint(urls));
}

void vp_hint(set_object *self, uint64_t urls)
{
    size_t i = next_hint(urls);
    self->hint_at = hint_at(i);
    if (i > 0 && self->generation == vp_generation)
        (void)vidi_expect(self->set, sizes[i - 1]); /* a set that cannot make use of a hint goes on as before */
}
