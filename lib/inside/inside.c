/* The smaller doors: errors, hash functions, URLs and mapped sets. */
#include "inside/inside.h"

#include "hash/functions.h"
#include "set/set.h"
#include "url/quick/is_canonical.h"
#include "url/parse/split.h"

/* Room on the stack for one URL as the parser writes it; longer ones are allocated. */
enum { URL_ROOM = 1024 };

int vidi__inside_fail(int code, const char *sentence)
{
    return vidi__fail(code, "%s", sentence);
}

unsigned vidi__inside_hash_bits(vidi_str name)
{
    const vidi__hash_fn *function = vidi__hash_find(name);
    return function ? function->bits : 0;
}

int vidi__inside_hash(const char *name, const unsigned char key[VIDI_KEY_BYTES], vidi_str salt, const vidi_str *strs,
                      size_t n, vidi_digest *values)
{
    const vidi_str wanted = {name, strlen(name)};
    const vidi__hash_fn *function = vidi__hash_find(wanted);
    vidi__hash_key prepared;
    if (!function)
        return vidi__hash_unknown(wanted);
    vidi__hash_key_init(&prepared, key);
    if (salt.len == 0) {
        vidi__hash_batch(function, &prepared, strs, n, values);
        return VIDI_OK;
    }
    for (size_t i = 0; i < n; i++) {
        const vidi_str pieces[] = {salt, strs[i]};
        values[i] = function->hash(&prepared, pieces, VIDI__COUNT(pieces));
    }
    return VIDI_OK;
}

uint32_t vidi__inside_murmur3(vidi_str str, uint32_t seed)
{
    return vidi__murmur3(&str, 1, seed);
}

vidi_digest vidi__inside_checksum(const vidi_str *pieces, size_t count)
{
    static const unsigned char zero[VIDI_KEY_BYTES];
    vidi__hash_key key;
    vidi__hash_key_init(&key, zero);
    return vidi__hash_sip13.hash(&key, pieces, count);
}

int vidi__inside_whatwg(const vidi_str *urls, size_t n, uint64_t *bytes)
{
    char room[URL_ROOM];
    vidi__memory memory;
    int code = vidi__memory_init(&memory, NULL, 0);
    *bytes = 0;
    for (size_t i = 0; i < n && code == VIDI_OK; i++) {
        vidi__buffer buffer = vidi__buffer_in(room, sizeof room, &memory);
        vidi_str form;
        code = vidi__url_whatwg(urls[i], &buffer, &form);
        *bytes += form.len;
        vidi__buffer_free(&buffer);
    }
    return code;
}

int vidi__inside_features(vidi_str url, const char *const *names, size_t count, char *buffer, vidi_str *features)
{
    char parsed[URL_ROOM];
    vidi__url_parts parts;
    vidi__memory memory;
    VIDI__TRY(vidi__memory_init(&memory, NULL, 0));
    vidi__buffer room = vidi__buffer_in(parsed, sizeof parsed, &memory);
    int code = vidi__url_split(&parts, url, &room);
    for (size_t i = 0; i < count && code == VIDI_OK; i++) {
        vidi__url_feature_fn *feature = vidi__url_feature(names[i]);
        if (feature)
            features[i] = feature(&parts, buffer + i * url.len);
        else
            code = vidi__url_feature_unknown(names[i]);
    }
    vidi__buffer_free(&room);
    return code;
}

int vidi__inside_map(vidi_set **set, const void *bytes, uint64_t size, const vidi_access *access)
{
    return vidi__set_map(set, bytes, size, access);
}
