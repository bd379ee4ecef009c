/*
 * The three ways to get k values from bytes, and the parameters that choose among them.
 *
 *     hash       the function for `derived` and `salted`; default sip13
 *     mode       derived | salted | different; by default derived for 128-bit functions, salted for 32-bit ones, and
 *                different if `functions` is given
 *     salt       prefix | suffix; salted only
 *     functions  a+b+c: what `different` takes its k from; by default all of the build, in the order of vidi__hash_at
 *
 * `derived` is a SplitMix64 generator for each item: its start and its increment are the two halves of the item's hash.
 * The arithmetic progression start + i * increment is Kirsch and Mitzenmacher's double hashing. The mixing after it
 * removes the weakness of double hashing in small arrays, where progressions modulo m that share two terms often share
 * many. A progression modulo 2^64 is determined by 127 bits, so two items practically never share one.
 */
#include "hash/positions.h"

#include <stddef.h>

vidi__seed vidi__seed_child(const vidi__seed *seed, const char *role, uint64_t index, uint64_t count)
{
    vidi__seed child = {.turn = seed->turn * count + index};
    vidi__derive_key(child.key, seed->key, role, index);
    return child;
}

static int find_function(vidi_str name, const vidi__hash_fn **fn)
{
    *fn = vidi__hash_find(name);
    return *fn ? VIDI_OK : vidi__hash_unknown(name);
}

static const vidi__hash_fn *default_function(void)
{
    return vidi__hash_find(VIDI__STR("sip13"));
}

/* Splits "a+b+c" and finds the functions; returns how many there are, or an error. */
static int read_functions(vidi_str text, const vidi__hash_fn **pool)
{
    int count = 0;
    for (;;) {
        const char *plus = text.len ? memchr(text.ptr, '+', text.len) : NULL;
        vidi_str name = {text.ptr, plus ? (size_t)(plus - text.ptr) : text.len};
        if (count == VIDI__K_MAX)
            return vidi__fail(VIDI_EOPTION, "functions lists more than %d functions", VIDI__K_MAX);
        VIDI__TRY(find_function(name, &pool[count]));
        for (int i = 0; i < count; i++)
            if (pool[i] == pool[count])
                return vidi__fail(VIDI_EOPTION, "functions lists %s twice", pool[i]->name);
        count++;
        if (!plus)
            return count;
        text.ptr += name.len + 1;
        text.len -= name.len + 1;
    }
}

/* Takes k consecutive functions of the pool, continuing where the previous epoch stopped. */
static int init_different(vidi__positions *positions, vidi__params *params, const vidi__seed *seed)
{
    const vidi__hash_fn *pool[VIDI__K_MAX];
    vidi_str text;
    int size = vidi__params_str(params, "functions", &text);
    if (size > 0)
        VIDI__TRY(size = read_functions(text, pool));
    else
        while ((pool[size] = vidi__hash_at((size_t)size)))
            size++;
    if (positions->k > (unsigned)size)
        return vidi__fail(VIDI_EOPTION, "mode=different has %d function%s to choose from, too few for k = %u", size,
                          size == 1 ? "" : "s", positions->k);
    uint64_t start = seed->turn % (unsigned)size * positions->k % (unsigned)size;
    for (unsigned i = 0; i < positions->k; i++)
        positions->functions[i] = pool[(start + i) % (unsigned)size];
    return VIDI_OK;
}

static void init_salts(vidi__positions *positions, const vidi__seed *seed)
{
    unsigned char key[VIDI_KEY_BYTES];
    for (unsigned j = 0; j < positions->k; j++) {
        vidi__derive_key(positions->salts[j], seed->key, "salt", 2 * (uint64_t)j);
        vidi__derive_key(key, seed->key, "salt", 2 * (uint64_t)j + 1);
        memcpy(positions->salts[j] + VIDI_KEY_BYTES, key, VIDI__SALT_BYTES - VIDI_KEY_BYTES);
    }
}

static void init_tweaks(vidi__positions *positions, const vidi__seed *seed)
{
    unsigned char key[VIDI_KEY_BYTES];
    vidi__derive_key(key, seed->key, "tweak", 0);
    positions->tweak[0] = vidi__load64(key);
    positions->tweak[1] = vidi__load64(key + 8);
}

/* Reads mode and hash, which depend on each other, and rejects parameters that do not apply to the mode. */
static int read_mode(vidi__positions *positions, vidi__params *params)
{
    static const char *const names[] = {"derived", "salted", "different"};
    const vidi__hash_fn *fn = default_function();
    unsigned mode = VIDI__DERIVED;
    vidi_str name;
    vidi__params_know(params, "salt");
    vidi__params_know(params, "functions");
    int mode_given = vidi__params_choice(params, "mode", "derived|salted|different", &mode);
    VIDI__TRY(mode_given);
    if (vidi__params_str(params, "hash", &name))
        VIDI__TRY(find_function(name, &fn));
    if (!mode_given && vidi__params_has(params, "functions"))
        mode = VIDI__DIFFERENT;
    else if (!mode_given)
        mode = fn->bits == 32 ? VIDI__SALTED : VIDI__DERIVED;
    if (mode == VIDI__DERIVED && fn->bits == 32)
        return vidi__fail(VIDI_EOPTION,
                          "mode=derived needs a 128-bit hash function, but %s has 32 bits: use mode=salted", fn->name);
    if (mode == VIDI__DIFFERENT && vidi__params_has(params, "hash"))
        return vidi__fail(VIDI_EOPTION, "mode=different takes several functions: give functions=a+b instead of hash");
    if (mode != VIDI__DIFFERENT && vidi__params_has(params, "functions"))
        return vidi__fail(VIDI_EOPTION, "functions is for mode=different; mode=%s takes hash", names[mode]);
    if (mode != VIDI__SALTED && vidi__params_has(params, "salt"))
        return vidi__fail(VIDI_EOPTION, "salt is for mode=salted, but the mode is %s", names[mode]);
    positions->mode = (vidi__mode)mode;
    positions->functions[0] = fn;
    return VIDI_OK;
}

static void find_narrow(vidi__positions *positions)
{
    positions->narrow = false;
    for (unsigned i = 0; i < vidi__positions_functions(positions); i++)
        positions->narrow |= positions->functions[i]->bits == 32;
}

static size_t bytes_used(const vidi__positions *positions)
{
    return positions->mode == VIDI__DERIVED ? offsetof(vidi__positions, functions[1]) : sizeof *positions;
}

int vidi__positions_keep(vidi__memory *memory, const vidi__positions *positions, vidi__positions **kept)
{
    VIDI__TRY(vidi__alloc(memory, kept, bytes_used(positions), _Alignof(vidi__positions)));
    memcpy(*kept, positions, bytes_used(positions));
    return VIDI_OK;
}

void vidi__positions_drop(vidi__memory *memory, vidi__positions *kept)
{
    if (kept)
        vidi__release(memory, kept, bytes_used(kept), _Alignof(vidi__positions));
}

int vidi__positions_share(vidi__positions *positions, const vidi__positions *from)
{
    if (from->mode != VIDI__DIFFERENT)
        return VIDI_OK;
    if (positions->k > from->k)
        return vidi__fail(VIDI_EOPTION, "mode=different has only k = %u functions, too few for %u", from->k,
                          positions->k);
    memcpy(positions->functions, from->functions, positions->k * sizeof positions->functions[0]);
    find_narrow(positions);
    return VIDI_OK;
}

int vidi__positions_init(vidi__positions *positions, vidi__params *params, const vidi__seed *seed, unsigned k)
{
    memset(positions, 0, sizeof *positions);
    if (k < 1 || k > VIDI__K_MAX)
        return vidi__fail(VIDI_EOPTION, "k must be a whole number from 1 to %d, not %u", VIDI__K_MAX, k);
    positions->k = k;
    VIDI__TRY(read_mode(positions, params));
    unsigned suffix = 0;
    switch (positions->mode) {
    case VIDI__DERIVED:
        init_tweaks(positions, seed);
        break;
    case VIDI__SALTED:
        VIDI__TRY(vidi__params_choice(params, "salt", "prefix|suffix", &suffix));
        positions->suffix = suffix == 1;
        init_salts(positions, seed);
        break;
    case VIDI__DIFFERENT:
        VIDI__TRY(init_different(positions, params, seed));
        break;
    }
    find_narrow(positions);
    vidi__hash_key_init(&positions->key, seed->key);
    return VIDI_OK;
}

int vidi__positions_item_hash(const vidi__params *params, const vidi__hash_fn **fn)
{
    *fn = default_function();
    for (size_t i = 0; i < params->count; i++) {
        vidi_str name = params->list[i].name;
        while (name.len > 6 && memcmp(name.ptr, "inner.", 6) == 0)
            name = (vidi_str){name.ptr + 6, name.len - 6};
        if (!vidi__str_is(name, "hash"))
            continue;
        const vidi__hash_fn *given;
        VIDI__TRY(find_function(params->list[i].value, &given));
        if (given->bits == 128)
            *fn = given;
        return VIDI_OK;
    }
    return VIDI_OK;
}

static void values_salted(const vidi__positions *positions, vidi_str str, uint64_t *values)
{
    const vidi__hash_fn *fn = positions->functions[0];
    if (fn->salted && !positions->suffix) {
        fn->salted(positions->salts, positions->k, str, values);
        return;
    }
    for (unsigned i = 0; i < positions->k; i++) {
        const vidi_str salt = {(const char *)positions->salts[i], VIDI__SALT_BYTES};
        const vidi_str pieces[2] = {positions->suffix ? str : salt, positions->suffix ? salt : str};
        values[i] = fn->hash(&positions->key, pieces, 2).lo;
    }
}

void vidi__positions_values(const vidi__positions *positions, const vidi__part *part, uint64_t *values)
{
    switch (positions->mode) {
    case VIDI__DERIVED:
        for (unsigned i = 0; i < positions->k; i++)
            values[i] = vidi__positions_derived(positions, part->hash, i);
        break;
    case VIDI__SALTED:
        values_salted(positions, part->str, values);
        break;
    case VIDI__DIFFERENT:
        for (unsigned i = 0; i < positions->k; i++)
            values[i] = vidi__hash(positions->functions[i], &positions->key, part->str).lo;
        break;
    }
}

/* Writes "sip13, xxh3, md5 or sha1": the 128-bit functions, best first. */
static void wide_names(vidi__text *text)
{
    const vidi__hash_fn *wide[VIDI__K_MAX], *fn;
    size_t count = 0;
    for (size_t i = 0; (fn = vidi__hash_at(i)); i++)
        if (fn->bits == 128)
            wide[count++] = fn;
    for (size_t left = count; left; left--) {
        const char *between = left > 1 ? ", " : " or ";
        vidi__text_add(text, "%s%s", left < count ? between : "", wide[left - 1]->name);
    }
}

int vidi__positions_check(const vidi__positions *positions, uint64_t places)
{
    if (!positions->narrow || places <= VIDI__NARROW_MAX)
        return VIDI_OK;
    unsigned narrow = 0;
    while (positions->functions[narrow]->bits != 32)
        narrow++;
    char buffer[64];
    vidi__text wide = vidi__text_in(buffer, sizeof buffer);
    wide_names(&wide);
    return vidi__fail(VIDI_EOPTION, "%s gives 32-bit values, too few to reach %llu places evenly; use %s",
                      positions->functions[narrow]->name, (unsigned long long)places, buffer);
}

void vidi__positions_names(const vidi__positions *positions, vidi__text *text)
{
    for (unsigned i = 0; i < vidi__positions_functions(positions); i++)
        vidi__text_add(text, "%s%s", i ? "+" : "", positions->functions[i]->name);
}

void vidi__positions_describe(const vidi__positions *positions, vidi__text *text)
{
    if (positions->mode == VIDI__DIFFERENT) {
        vidi__text_add(text, "mode=different,functions=");
        vidi__positions_names(positions, text);
        return;
    }
    vidi__text_add(text, "hash=%s,mode=%s", positions->functions[0]->name,
                   positions->mode == VIDI__DERIVED ? "derived" : "salted");
    if (positions->mode == VIDI__SALTED)
        vidi__text_add(text, ",salt=%s", positions->suffix ? "suffix" : "prefix");
}

bool vidi__positions_keyed(const vidi__positions *positions)
{
    for (unsigned i = 0; i < vidi__positions_functions(positions); i++)
        if (!positions->functions[i]->keyed)
            return false;
    return true;
}
