/* See blocked_chance.h. */
#include "filters/blocked/blocked_chance.h"

/* Layers up to this size are counted; counting all partitions then takes about 3 ms. */
#define COUNTED_BYTES ((uint64_t)16 << 20)

/*
 * The probability grows with the 8th power of the number of set bits for one line, the 16th for two, and so on. So more
 * lines need shorter chords.
 */
static int chord_bits(const vidi__layer *layer)
{
    return 6 + (layer->lines > 1) + (layer->lines > 2);
}

/* The chord that spans this number of set bits: where it begins and ends. */
static vidi__chord span_at(const vidi__layer *layer, uint64_t ones)
{
    int bits = ones ? 64 - __builtin_clzll(ones) : 0, shift = bits - chord_bits(layer) - 1;
    if (shift < 0)
        shift = 0;
    uint64_t from = ones >> shift << shift;
    return (vidi__chord){.from = from, .until = from + ((uint64_t)1 << shift)};
}

static vidi__chord chord_at(const vidi__layer *layer, unsigned partition, uint64_t ones, const vidi__chord *previous)
{
    vidi__chord made = span_at(layer, ones);
    bool follows = previous && previous->until == made.from;
    made.low = follows ? previous->high : vidi__layer_fp(layer, partition, (double)made.from);
    made.high = vidi__layer_fp(layer, partition, (double)made.until);
    made.slope = (made.high - made.low) / (double)(made.until - made.from);
    return made;
}

/* The same, unless another partition has computed it in this batch. */
static vidi__chord shared_chord_at(const vidi__layer *layer, unsigned partition, uint64_t ones,
                                   const vidi__chord *previous, vidi__chords *chords)
{
    if (!chords)
        return chord_at(layer, partition, ones, previous);
    vidi__chord span = span_at(layer, ones);
    vidi__chord *known =
        &chords->at[vidi__layer_has_more_rows(layer, partition)][span.from / (span.until - span.from) % VIDI__CHORDS];
    if (known->from != span.from || known->until != span.until)
        *known = chord_at(layer, partition, ones, previous);
    return *known;
}

static double on_chord(const vidi__chord *chord, uint64_t ones)
{
    return chord->low + chord->slope * (double)(ones - chord->from);
}

static double chance_in(const vidi__layer *layer, unsigned partition, uint64_t ones, vidi__chords *chords)
{
    vidi__chord chord = shared_chord_at(layer, partition, ones, NULL, chords);
    return on_chord(&chord, ones);
}

static uint64_t ones_in(const vidi__layer *layer, unsigned partition)
{
    return atomic_load_explicit(&layer->ones[partition], memory_order_relaxed);
}

static double both(double older, double last)
{
    return older + (1 - older) * last;
}

/*
 * The probability in a layer that no longer changes. In a small layer the bits are counted; in a large one the number
 * of set bits is accurate enough.
 */
static double chance_of_full(const vidi__layer *layer, unsigned partition)
{
    if (vidi__layer_bytes(layer) <= COUNTED_BYTES)
        return vidi__layer_fp_counted(layer, partition);
    return chance_in(layer, partition, ones_in(layer, partition), NULL);
}

static void set_last(vidi__zone *zone, double last)
{
    uint64_t bits;
    zone->all = both(zone->older, last);
    memcpy(&bits, &zone->all, sizeof bits);
    atomic_store_explicit(&zone->shown, bits, memory_order_relaxed);
}

void vidi__zone_refresh(vidi__zone *zone, unsigned partition, vidi__layer *const *layers, unsigned count)
{
    const vidi__layer *last = layers[count - 1];
    zone->layers = count;
    zone->older = 0;
    for (unsigned i = 0; i + 1 < count; i++)
        zone->older = both(zone->older, chance_of_full(layers[i], partition));
    zone->last = chord_at(last, partition, ones_in(last, partition), NULL);
    set_last(zone, on_chord(&zone->last, ones_in(last, partition)));
}

void vidi__zone_bits_set(vidi__zone *zone, unsigned partition, vidi__layer *last, uint64_t more, vidi__rise *rise,
                         vidi__chords *chords)
{
    uint64_t before = ones_in(last, partition), middle = before + more / 2, after = before + more;
    double start = zone->all, half = on_chord(&zone->last, middle);
    if (VIDI__UNLIKELY(after >= zone->last.until)) {
        if (middle >= zone->last.until)
            half = chance_in(last, partition, middle, chords);
        zone->last = shared_chord_at(last, partition, after, &zone->last, chords);
    }
    set_last(zone, on_chord(&zone->last, after));
    atomic_store_explicit(&last->ones[partition], after, memory_order_relaxed);
    rise->half += both(zone->older, half) - start;
    rise->whole += zone->all - start;
}

double vidi__zones_chance(const vidi__zone *zones)
{
    double sum = 0;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++) {
        uint64_t bits = atomic_load_explicit(&zones[i].shown, memory_order_relaxed);
        double p;
        memcpy(&p, &bits, sizeof p);
        sum += p;
    }
    return sum / VIDI__PARTITIONS;
}

/* Simpson's rule, as if the URLs of the batch had arrived evenly mixed and not partition by partition. */
double vidi__rise_lost(vidi__rise rise, double before, uint64_t fresh)
{
    double half = before + rise.half / VIDI__PARTITIONS, after = before + rise.whole / VIDI__PARTITIONS;
    return (double)fresh * (vidi__filter_lost(before) + 4 * vidi__filter_lost(half) + vidi__filter_lost(after)) / 6;
}
