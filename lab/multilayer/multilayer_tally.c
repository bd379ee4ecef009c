/*
 * The false positives of a multilayer filter depend not on the number of URLs but on the number of different segments
 * in each layer. This file counts them from the texts, without the library's filters and with a different hash
 * function.
 *
 * A URL is falsely seen if its unknown segments hit set bits in their layers and the XOR of all segments does so in the
 * XOR layer. With one unknown segment the two are not independent (lab_multilayer_both). If all segments are known,
 * only the XOR layer can tell.
 */
#include <math.h>
#include <string.h>

#include "common/fnv.h"
#include "lab/multilayer/multilayer.h"

/* ---- text ---- */

vidi_str lab_multilayer_strip(vidi_str url)
{
    for (size_t i = 0; i + 3 <= url.len && url.ptr[i] != '/'; i++)
        if (memcmp(url.ptr + i, "://", 3) == 0)
            return (vidi_str){url.ptr + i + 3, url.len - i - 3};
    return url;
}

vidi_str lab_multilayer_url(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index)
{
    return lab_multilayer_strip(lab_url_text(buffer, settings, run, index));
}

size_t lab_multilayer_cut(vidi_str url, size_t most, vidi_str *segments)
{
    size_t count = 0, begin = 0;
    for (size_t i = 0; i < url.len && url.ptr[i] != '?' && url.ptr[i] != '#' && count + 1 < most; i++)
        if (url.ptr[i] == '/') {
            segments[count++] = (vidi_str){url.ptr + begin, i - begin};
            begin = i + 1;
        }
    segments[count++] = (vidi_str){url.ptr + begin, url.len - begin};
    return count;
}

vidi_str lab_multilayer_append(char buffer[LAB_LAYERS_ROOM], vidi_str url, uint64_t number)
{
    char digits[20];
    size_t count = 0, length = url.len;
    memcpy(buffer, url.ptr, url.len);
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count)
        buffer[length++] = digits[--count];
    return (vidi_str){buffer, length};
}

/* ---- maps ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

uint64_t lab_multilayer_hash(vidi_str text)
{
    return mix(fnv_bytes(FNV_START, text.ptr, text.len));
}

/* The position of the key, or of the free slot for it. */
static uint64_t find(const lab_multilayer_map *map, uint64_t key)
{
    uint64_t at = mix(key) & (map->room - 1);
    while (map->keys[at] && map->keys[at] != key)
        at = (at + 1) & (map->room - 1);
    return at;
}

static int grow(lab_multilayer_map *map)
{
    lab_multilayer_map old = *map;
    map->room = old.room ? 2 * old.room : 256;
    LAB_TRY(LAB_NEW(map->keys, map->room));
    LAB_TRY(LAB_NEW(map->counts, map->room));
    for (uint64_t i = 0; i < old.room; i++)
        if (old.keys[i]) {
            uint64_t at = find(map, old.keys[i]);
            map->keys[at] = old.keys[i];
            map->counts[at] = old.counts[i];
        }
    return VIDI_OK;
}

int lab_multilayer_map_add(lab_multilayer_map *map, uint64_t key)
{
    if (3 * map->used >= 2 * map->room)
        LAB_TRY(grow(map));
    key = key ? key : 1;
    uint64_t at = find(map, key);
    bool is_new = !map->keys[at];
    map->keys[at] = key;
    map->counts[at]++;
    map->used += is_new;
    return is_new;
}

uint32_t lab_multilayer_map_count(const lab_multilayer_map *map, uint64_t key)
{
    if (!map->room)
        return 0;
    uint64_t at = find(map, key ? key : 1);
    return map->keys[at] ? map->counts[at] : 0;
}

/* ---- tallies ---- */

enum { DEPTH_BITS = 7 };

typedef struct cut {
    size_t count;
    uint64_t hashes[LAB_LAYERS], all, before; /* the XOR of all segments, and of all but the last */
} cut;

static cut cut_url(const lab_multilayer_tally *tally, vidi_str stripped)
{
    vidi_str segments[LAB_LAYERS];
    cut cut = {.count = lab_multilayer_cut(stripped, LAB_LAYERS, segments)};
    for (size_t i = 0; i < cut.count; i++) {
        cut.hashes[i] = lab_multilayer_hash(segments[i]);
        if (tally->salted)
            cut.hashes[i] = mix(cut.hashes[i] + i + 1);
        cut.before = cut.all;
        cut.all ^= cut.hashes[i];
    }
    return cut;
}

static uint64_t class_of(const cut *cut)
{
    return (cut->before & ~(uint64_t)DEPTH_BITS) | cut->count;
}

int lab_multilayer_tally_add(lab_multilayer_tally *tally, vidi_str stripped)
{
    cut cut = cut_url(tally, stripped);
    for (size_t i = 0; i < cut.count; i++)
        LAB_TRY(lab_multilayer_map_add(&tally->segments[i], cut.hashes[i]));
    int is_new = lab_multilayer_map_add(&tally->urls, cut.all);
    if (is_new == 1)
        is_new = lab_multilayer_map_add(&tally->classes, class_of(&cut));
    return is_new < 0 ? is_new : VIDI_OK;
}

bool lab_multilayer_tally_has(const lab_multilayer_tally *tally, vidi_str stripped)
{
    cut cut = cut_url(tally, stripped);
    return lab_multilayer_map_count(&tally->urls, cut.all) > 0;
}

static lab_multilayer_pair pair_of(const lab_multilayer_tally *tally, uint64_t class, double near, double common)
{
    size_t depth = class & DEPTH_BITS;
    return (lab_multilayer_pair){(double)tally->segments[depth - 1].used, (double)tally->urls.used, near, common};
}

/* If there are no other segments, or they cancel, the XOR is the hash of the last segment for every function. */
static double common_of(uint64_t class, double k, double kept)
{
    return class <= DEPTH_BITS ? k : kept;
}

double lab_multilayer_expect_appended(const lab_multilayer_tally *tally, double m, double k)
{
    double sum = 0, kept = lab_multilayer_kept(m);
    for (uint64_t i = 0; i < tally->classes.room; i++)
        if (tally->classes.keys[i]) {
            uint64_t class = tally->classes.keys[i];
            double near = tally->classes.counts[i];
            sum += near * lab_multilayer_both(pair_of(tally, class, near, common_of(class, k, kept)), m, k);
        }
    return sum;
}

lab_multilayer_view lab_multilayer_view_of(const lab_multilayer_tally *tally, double m, double k)
{
    lab_multilayer_view view = {.tally = tally, .m = m, .k = k, .kept = lab_multilayer_kept(m)};
    for (size_t i = 0; i < LAB_LAYERS; i++)
        view.powers[i] = lab_fill_power(lab_fill_after(k * (double)tally->segments[i].used, m), k);
    view.last = lab_fill_power(lab_fill_after(k * (double)tally->urls.used, m), k);
    return view;
}

double lab_multilayer_expect(const lab_multilayer_view *view, vidi_str stripped)
{
    const lab_multilayer_tally *tally = view->tally;
    cut cut = cut_url(tally, stripped);
    double p = view->last;
    size_t unknown = 0, last = 0;
    for (size_t i = 0; i < cut.count; i++)
        if (!lab_multilayer_map_count(&tally->segments[i], cut.hashes[i])) {
            p *= view->powers[i];
            unknown++;
            last = i;
        }
    if (unknown == 0 && lab_multilayer_map_count(&tally->urls, cut.all))
        return 1;
    uint64_t class = class_of(&cut);
    double near = unknown == 1 && last == cut.count - 1 ? lab_multilayer_map_count(&tally->classes, class) : 0;
    if (near > 0)
        return lab_multilayer_both(pair_of(tally, class, near, common_of(class, view->k, view->kept)), view->m,
                                   view->k);
    return p;
}
