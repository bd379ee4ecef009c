/*
 * Claims on their way to disk and to other servers. See claim_io.h.
 *
 * In a snapshot: the number of claims, then strings of some 64 KiB, each followed by a checksum as a number. Strings
 * hold whole claims, in the order of their keys: a record, then owner, URL and payload.
 *
 * The key of a claim is not saved: it follows from the URL, so a damaged snapshot cannot bring in a wrong one. A claim
 * whose token is void is saved without owner and with token 0, so that it belongs to an earlier epoch when it is
 * loaded.
 *
 * Keys come back in the order in which they were saved, which lets claims.c load them in linear time. Only if another
 * version of ICU sees a URL differently, they may not; from there on claims are inserted one by one.
 */
#include "claim_io.h"

#include <string.h>

#include "claim_key.h"
#include "redis/server/memory.h"
#include "redis/claims/claims.h"

#define STRING_BYTES ((size_t)64 << 10) /* a longer string has one claim */

typedef struct record {
    uint64_t token, deadline, lease;
    uint64_t loss;     /* the bits of a double */
    uint32_t as_given; /* the key is not the canonical form of the URL: claim_key_as_given makes it */
    uint32_t owner_len, url_len, payload_len;
} record;

/*
 * Goes on from the checksum of the strings before. Each step can be undone, so whatever damages one word of eight bytes
 * alone is found for certain.
 */
static uint64_t checksum(uint64_t sum, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, len - i < sizeof word ? len - i : sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return (sum ^ len) * UINT64_C(0x9e3779b97f4a7c15);
}

/* ---- saving ---- */

typedef struct saving {
    server_io *io;
    bytes string;
    uint64_t sum;
} saving;

static void save_string(saving *saving)
{
    saving->sum = checksum(saving->sum, saving->string.ptr, saving->string.len);
    server.SaveStringBuffer(saving->io, saving->string.ptr, saving->string.len);
    server.SaveUnsigned(saving->io, saving->sum);
    saving->string.len = 0;
}

static int save_claim(void *context, const claim_terms *terms)
{
    saving *saving = context;
    record record = {.token = terms->token,
                     .deadline = (uint64_t)terms->deadline,
                     .lease = (uint64_t)terms->lease,
                     .as_given = terms->key.len && terms->key.ptr[0] == 0,
                     .owner_len = (uint32_t)terms->owner.len,
                     .url_len = (uint32_t)terms->url.len,
                     .payload_len = (uint32_t)terms->payload.len};
    memcpy(&record.loss, &terms->loss, sizeof record.loss);
    size_t len = sizeof record + terms->owner.len + terms->url.len + terms->payload.len;
    if (saving->string.len && saving->string.len + len > STRING_BYTES)
        save_string(saving);
    bytes_append(&saving->string, &record, sizeof record);
    const vidi_str parts[] = {terms->owner, terms->url, terms->payload};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        bytes_append(&saving->string, parts[i].ptr, parts[i].len);
    return 0;
}

void claims_save(server_io *io, const value *value)
{
    uint64_t count = claims_count(value->claims);
    saving saving = {.io = io, .string.resize = memory_resize, .sum = count};
    server.SaveUnsigned(io, count);
    claims_visit(value->claims, save_claim, &saving);
    if (saving.string.len)
        save_string(&saving);
    bytes_free(&saving.string);
}

void claims_rewrite(server_io *io, server_string *key, const value *value)
{
    for (const claim *at = claims_next(value->claims, NULL); at; at = claims_next(value->claims, at)) {
        claim_terms terms = claim_read(value->claims, at);
        char token[TOKEN_DIGITS + 1];
        token_print(terms.token, token);
        server.EmitAOF(io, "VIDI.HOLD", "sbllcbb", key, terms.owner.len ? terms.owner.ptr : "", terms.owner.len,
                       (long long)terms.deadline, (long long)terms.lease, token, terms.url.ptr, terms.url.len,
                       terms.payload.ptr, terms.payload.len);
    }
}

void claims_digest(server_digest *digest, const value *value)
{
    int64_t now = value_now(value);
    for (const claim *at = claims_next(value->claims, NULL); at; at = claims_next(value->claims, at)) {
        if (claim_is_expired(value->claims, at, now))
            continue;
        claim_terms terms = claim_read(value->claims, at);
        const vidi_str parts[] = {terms.key, terms.url, terms.payload, terms.owner};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            server.DigestAddStringBuffer(digest, parts[i].len ? parts[i].ptr : "", parts[i].len);
        server.DigestAddLongLong(digest, (long long)terms.token);
        server.DigestAddLongLong(digest, terms.deadline);
        server.DigestAddLongLong(digest, terms.lease);
        server.DigestEndSequence(digest);
    }
}

/* ---- loading ---- */

/*
 * Another version of ICU may take a URL for none, or two URLs for one. The claim is kept all the same, under the URL as
 * it was given: its page would be lost otherwise, or the whole file could not be read.
 */
static int make_loaded_key(claim_key *key, const value *value, vidi_str url)
{
    int error = claim_key_make(key, value, url);
    if (error == VIDI_OK && !claims_of_url(value->claims, key->text))
        return VIDI_OK;
    if (error != VIDI_OK && error != VIDI_INVALID)
        return error;
    if (error == VIDI_OK)
        claim_key_free(key);
    claim_key_as_given(key, url);
    return VIDI_OK;
}

/* Adds a claim whose key is not after all others. */
static int put_loaded(value *value, claim_terms *terms)
{
    claim_key key;
    int error = make_loaded_key(&key, value, terms->url);
    if (error != VIDI_OK)
        return error;
    terms->key = key.text;
    error = claims_of_url(value->claims, key.text) ? VIDI_EEXIST : claims_put(value->claims, terms);
    claim_key_free(&key);
    return error;
}

typedef struct loading {
    server_io *io;
    value *value;
    uint64_t left; /* claims that have not come yet */
    uint64_t sum;
    bool in_order; /* all keys so far came in their order */
} loading;

/* Adds a claim whose key should be after all others. VIDI_EEXIST if it is not. */
static int append_loaded(const loading *loading, claim_terms *terms, bool as_given)
{
    claim_key key;
    int error = as_given ? VIDI_INVALID : claim_key_make(&key, loading->value, terms->url);
    if (error == VIDI_INVALID)
        claim_key_as_given(&key, terms->url);
    else if (error != VIDI_OK)
        return error;
    terms->key = key.text;
    error = claims_append(loading->value->claims, terms);
    claim_key_free(&key);
    return error;
}

/* Terms that come from a damaged file are as bad as terms can be: claims_append and claims_put check them. */
static int load_claim(loading *loading, claim_terms *terms, bool as_given)
{
    if (loading->in_order) {
        int error = append_loaded(loading, terms, as_given);
        if (error != VIDI_EEXIST)
            return error;
        loading->in_order = false;
        error = claims_finish(loading->value->claims);
        if (error != VIDI_OK)
            return error;
    }
    return put_loaded(loading->value, terms);
}

/* Cuts bytes off the beginning of a string. False if it is too short. */
static bool cut(vidi_str *from, vidi_str *part, size_t len)
{
    if (from->len < len)
        return false;
    *part = (vidi_str){from->ptr, len};
    *from = (vidi_str){from->ptr + len, from->len - len};
    return true;
}

static bool cut_claim(vidi_str *from, claim_terms *terms, bool *as_given)
{
    vidi_str head;
    record record;
    if (!cut(from, &head, sizeof record))
        return false;
    memcpy(&record, head.ptr, sizeof record);
    *terms = (claim_terms){.token = record.token, .deadline = (int64_t)record.deadline, .lease = (int64_t)record.lease};
    memcpy(&terms->loss, &record.loss, sizeof terms->loss);
    *as_given = record.as_given;
    return cut(from, &terms->owner, record.owner_len) && cut(from, &terms->url, record.url_len) &&
           cut(from, &terms->payload, record.payload_len);
}

/* What is wrong with a claim that could not be added; NULL if it could. */
static const char *describe(int error)
{
    if (error == VIDI_EMEMORY)
        return "there is no memory for a claim";
    if (error == VIDI_EEXIST)
        return "two claims of one URL or with one token";
    if (error == VIDI_ELIMIT)
        return "a claim whose numbers are out of range";
    return error ? vidi_message() : NULL;
}

/* Loads the claims of a string: NULL, or what is wrong. */
static const char *load_claims(loading *loading, vidi_str string)
{
    const char *wrong = string.len ? NULL : "a string without claims";
    while (string.len && !wrong) {
        claim_terms terms;
        bool as_given;
        if (loading->left-- == 0 || !cut_claim(&string, &terms, &as_given))
            return "a string that does not end with a claim";
        wrong = describe(load_claim(loading, &terms, as_given));
    }
    return wrong;
}

static const char *load_string(loading *loading)
{
    size_t len;
    char *string = server.LoadStringBuffer(loading->io, &len);
    uint64_t sum = string ? server.LoadUnsigned(loading->io) : 0;
    const char *wrong = "it ends too early";
    if (string && !server.IsIOError(loading->io)) {
        loading->sum = checksum(loading->sum, string, len);
        wrong = sum == loading->sum ? load_claims(loading, (vidi_str){string, len}) : "a checksum does not match";
    }
    server.Free(string);
    return wrong;
}

bool claims_load(server_io *io, value *value)
{
    uint64_t count = server.LoadUnsigned(io);
    loading loading = {.io = io, .value = value, .left = count, .sum = count, .in_order = true};
    const char *wrong = server.IsIOError(io) ? "it ends too early" : NULL;
    if (!wrong && count && !(value->claims = claims_create(&value->memory.allocator)))
        wrong = "there is no memory for claims";
    while (loading.left && !wrong)
        wrong = load_string(&loading);
    if (!wrong && count && loading.in_order)
        wrong = describe(claims_finish(value->claims));
    if (wrong)
        server.LogIOError(io, "warning", "vidi refuses damaged claims: %s", wrong);
    return !wrong;
}
