/*
 * Claims on their way to disk and to other servers. See claim_io.h.
 *
 * In a snapshot: the number of claims, then for each
 *
 *     strings  owner, URL, payload
 *     numbers  token, deadline, lease, expected loss (the bits of a double)
 *
 * The key of a claim is not saved: it follows from the URL, so a damaged snapshot cannot bring in a wrong one. A claim
 * whose token is void is saved without owner and with token 0, so that it belongs to an earlier epoch when it is
 * loaded.
 */
#include "claim_io.h"

#include <string.h>

#include "claim_key.h"
#include "redis/claims/claims.h"

/* ---- saving ---- */

static void save_string(server_io *io, vidi_str text)
{
    server.SaveStringBuffer(io, text.len ? text.ptr : "", text.len);
}

static void save_claim(server_io *io, const claim_terms *terms)
{
    uint64_t loss;
    memcpy(&loss, &terms->loss, sizeof loss);
    save_string(io, terms->owner);
    save_string(io, terms->url);
    save_string(io, terms->payload);
    server.SaveUnsigned(io, terms->token);
    server.SaveUnsigned(io, (uint64_t)terms->deadline);
    server.SaveUnsigned(io, (uint64_t)terms->lease);
    server.SaveUnsigned(io, loss);
}

void claims_save(server_io *io, const value *value)
{
    server.SaveUnsigned(io, claims_count(value->claims));
    for (const claim *at = claims_next(value->claims, NULL); at; at = claims_next(value->claims, at)) {
        claim_terms terms = claim_read(value->claims, at);
        save_claim(io, &terms);
    }
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
    int64_t now = server.Milliseconds();
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

enum { OWNER, URL, PAYLOAD, STRINGS };

static bool load_strings(server_io *io, char *strings[STRINGS], size_t lengths[STRINGS])
{
    for (int i = 0; i < STRINGS; i++) {
        strings[i] = server.LoadStringBuffer(io, &lengths[i]);
        if (!strings[i] || server.IsIOError(io))
            return false;
    }
    return true;
}

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

/* Terms that come from a damaged file are as bad as terms can be: claims_put checks them. */
static const char *put_loaded(value *value, claim_terms *terms)
{
    claim_key key;
    if (make_loaded_key(&key, value, terms->url) != VIDI_OK)
        return vidi_message();
    terms->key = key.text;
    bool twice = claims_of_url(value->claims, key.text) != NULL;
    int error = twice ? VIDI_EEXIST : claims_put(value->claims, terms);
    claim_key_free(&key);
    if (error == VIDI_EMEMORY)
        return "there is no memory for a claim";
    if (error == VIDI_EEXIST)
        return "two claims of one URL or with one token";
    return error ? "a claim whose numbers are out of range" : NULL;
}

/* NULL, or what is wrong. */
static const char *load_claim(server_io *io, value *value)
{
    char *strings[STRINGS] = {NULL};
    size_t lengths[STRINGS] = {0};
    const char *wrong = "it ends too early";
    if (load_strings(io, strings, lengths)) {
        claim_terms terms = {.owner = {strings[OWNER], lengths[OWNER]},
                             .url = {strings[URL], lengths[URL]},
                             .payload = {strings[PAYLOAD], lengths[PAYLOAD]}};
        terms.token = server.LoadUnsigned(io);
        terms.deadline = (int64_t)server.LoadUnsigned(io);
        terms.lease = (int64_t)server.LoadUnsigned(io);
        uint64_t loss = server.LoadUnsigned(io);
        memcpy(&terms.loss, &loss, sizeof loss);
        if (!server.IsIOError(io))
            wrong = put_loaded(value, &terms);
    }
    for (int i = 0; i < STRINGS; i++)
        server.Free(strings[i]);
    return wrong;
}

bool claims_load(server_io *io, value *value)
{
    uint64_t count = server.LoadUnsigned(io);
    const char *wrong = server.IsIOError(io) ? "it ends too early" : NULL;
    if (!wrong && count && !(value->claims = claims_create(&value->memory.allocator)))
        wrong = "there is no memory for claims";
    for (uint64_t i = 0; i < count && !wrong; i++)
        wrong = load_claim(io, value);
    if (wrong)
        server.LogIOError(io, "warning", "vidi refuses damaged claims: %s", wrong);
    return !wrong;
}
