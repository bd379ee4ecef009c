/*
 * See totals.h.
 */
#include "totals.h"

#include <stdatomic.h>

static struct {
    _Atomic uint64_t sets, urls, claims, refused, misplaced;
} sums;

/* Sums wrap around while a difference is negative, and are right again afterwards. */
static void move(_Atomic uint64_t *sum, uint64_t from, uint64_t to)
{
    if (from != to)
        atomic_fetch_add_explicit(sum, to - from, memory_order_relaxed);
}

void totals_update(totals *counted, totals now)
{
    move(&sums.sets, counted->sets, now.sets);
    move(&sums.urls, counted->urls, now.urls);
    move(&sums.claims, counted->claims, now.claims);
    *counted = now;
}

void totals_count_refused(void)
{
    atomic_fetch_add_explicit(&sums.refused, 1, memory_order_relaxed);
}

void totals_count_misplaced(void)
{
    atomic_fetch_add_explicit(&sums.misplaced, 1, memory_order_relaxed);
}

totals totals_now(void)
{
    return (totals){
        .sets = atomic_load(&sums.sets),
        .urls = atomic_load(&sums.urls),
        .claims = atomic_load(&sums.claims),
        .refused = atomic_load(&sums.refused),
        .misplaced = atomic_load(&sums.misplaced),
    };
}
