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
    return 6 + (layer->in.lines > 1) + (layer->in.lines > 2);
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
    return made;
}

/* The same, unless another partition has computed it lately. */
static vidi__chord shared_chord_at(const vidi__layer *layer, unsigned partition, uint64_t ones,
                                   const vidi__chord *previous, bool alone)
{
    vidi__chords *chords = &layer->zones->chords;
    if (!alone)
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
    return chord->low +
           (chord->high - chord->low) * (double)(ones - chord->from) / (double)(chord->until - chord->from);
}

static double chance_in(const vidi__layer *layer, unsigned partition, uint64_t ones, bool alone)
{
    vidi__chord chord = shared_chord_at(layer, partition, ones, NULL, alone);
    return on_chord(&chord, ones);
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
    return chance_in(layer, partition, vidi__layer_ones_in(layer, partition), false);
}

static double show(vidi__zone *zone, uint64_t ones)
{
    double all = both(zone->older, on_chord(&zone->chord, ones));
    atomic_store_explicit(&zone->all, all, memory_order_relaxed);
    return all;
}

void vidi__zone_refresh(vidi__layer *const *layers, unsigned count, unsigned partition, bool alone)
{
    const vidi__layer *last = layers[count - 1];
    vidi__zone *zone = &last->zones->of[partition];
    uint64_t ones = vidi__layer_ones_in(last, partition);
    zone->older = 0;
    for (unsigned i = 0; i + 1 < count; i++)
        zone->older = both(zone->older, chance_of_full(layers[i], partition));
    zone->chord = shared_chord_at(last, partition, ones, NULL, alone);
    show(zone, ones);
}

void vidi__zone_bits_set(vidi__layer *const *layers, unsigned count, unsigned partition, uint64_t bits,
                         vidi__rise *rise, bool alone)
{
    const vidi__layer *last = layers[count - 1];
    vidi__zone *zone = &last->zones->of[partition];
    uint64_t before = vidi__layer_ones_in(last, partition), middle = before + bits / 2, after = before + bits;
    if (VIDI__UNLIKELY(!zone->chord.until))
        vidi__zone_refresh(layers, count, partition, alone);
    double start = atomic_load_explicit(&zone->all, memory_order_relaxed), half = on_chord(&zone->chord, middle);
    if (VIDI__UNLIKELY(after >= zone->chord.until)) {
        if (middle >= zone->chord.until)
            half = chance_in(last, partition, middle, alone);
        zone->chord = shared_chord_at(last, partition, after, &zone->chord, alone);
    }
    atomic_store_explicit(&zone->ones, after, memory_order_relaxed);
    rise->half += both(zone->older, half) - start;
    rise->whole += show(zone, after) - start;
}

/* Until a zone of the last layer is known, that of the layer before tells. */
static double chance_of(vidi__layer *const *layers, unsigned count, unsigned partition)
{
    double all = 0;
    for (unsigned i = count; all == 0 && i-- > 0;)
        all = layers[i]->zones ? atomic_load_explicit(&layers[i]->zones->of[partition].all, memory_order_relaxed) : 0;
    return all;
}

double vidi__zones_chance(vidi__layer *const *layers, unsigned count)
{
    double sum = 0;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        sum += chance_of(layers, count, i);
    return sum / VIDI__PARTITIONS;
}

/* Simpson's rule, as if the URLs of the batch had arrived evenly mixed and not partition by partition. */
double vidi__rise_lost(vidi__rise rise, double before, uint64_t fresh, unsigned zones)
{
    double half = before + rise.half / zones, after = before + rise.whole / zones;
    return (double)fresh * (vidi__filter_lost(before) + 4 * vidi__filter_lost(half) + vidi__filter_lost(after)) / 6;
}
