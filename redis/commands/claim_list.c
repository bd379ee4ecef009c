/*
 * VIDI.CLAIMS: how many claims there are, and which.
 *
 * Claims are listed in the order of their keys, and a cursor is the last key that was listed: a claim that is there all
 * the time is listed once, whatever happens to others meanwhile.
 */
#include <string.h>

#include "claim_commands.h"
#include "guard.h"
#include "redis/claims/claims.h"
#include "redis/value/reply.h"

enum { LIST_DEFAULT = 10, LIST_MOST = 1000 };

#define CURSOR_MARK '>' /* before the key of a cursor, so that none looks like the "0" at the beginning and the end */

typedef struct listing {
    vidi_str owner; /* empty: everybody's */
    uint64_t count;
    vidi_str after;
    bool begun;     /* `after` was given */
    uint32_t given; /* for option_of */
} listing;

static bool parse_cursor(vidi_str text, listing *listing)
{
    if (text.len == 1 && text.ptr[0] == '0')
        return true;
    listing->begun = text.len > 0 && text.ptr[0] == CURSOR_MARK;
    listing->after = (vidi_str){text.ptr + 1, text.len - 1};
    return listing->begun;
}

/* NULL, or what is wrong. */
static const char *parse_option(server_string **argv, listing *listing)
{
    static const char *const names[] = {"OWNER", "COUNT", "CURSOR", NULL};
    vidi_str text = text_of(argv[1]);
    switch (option_of(text_of(argv[0]), names, &listing->given)) {
    case 0:
        listing->owner = text;
        return text.len ? NULL : BAD_OWNER;
    case 1:
        return parse_count(text, &listing->count) && listing->count <= LIST_MOST ? NULL : "COUNT is at most 1000";
    case 2:
        return parse_cursor(text, listing) ? NULL : "a cursor is 0, or what the last reply gave";
    case OPTION_TWICE:
        return GIVEN_TWICE;
    default:
        return "syntax: VIDI.CLAIMS key [OWNER owner] [COUNT n] [CURSOR cursor]";
    }
}

/* The next claim of the list. Those of earlier epochs have no owner any more. */
static const claim *next_claim(const claims *claims, const listing *listing, const vidi_str *after)
{
    if (!listing->owner.len)
        return claims_list(claims, after);
    const claim *found = claims_list_of(claims, listing->owner, after);
    while (found && !claim_read(claims, found).token) {
        vidi_str key = claim_read(claims, found).key;
        found = claims_list_of(claims, listing->owner, &key);
    }
    return found;
}

/* URL, payload, owner, token, and the milliseconds that are left: 0 if it has expired. */
static void reply_claim(server_context *ctx, const claims *claims, const claim *claim, int64_t now)
{
    claim_terms terms = claim_read(claims, claim);
    char token[TOKEN_DIGITS + 1];
    token_print(terms.token, token);
    const vidi_str parts[] = {terms.url, terms.payload, terms.owner, {token, terms.token ? TOKEN_DIGITS : 0}};
    server.ReplyWithArray(ctx, 5);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        server.ReplyWithStringBuffer(ctx, parts[i].len ? parts[i].ptr : "", parts[i].len);
    server.ReplyWithLongLong(ctx, claim_is_expired(claims, claim, now) ? 0 : terms.deadline - now);
}

static void reply_cursor(server_context *ctx, vidi_str key)
{
    char *text = server.Alloc(key.len + 1);
    text[0] = CURSOR_MARK;
    memcpy(text + 1, key.ptr, key.len);
    server.ReplyWithStringBuffer(ctx, text, key.len + 1);
    server.Free(text);
}

/* Replies the list, then the cursor, as two fields of the map. */
static void reply_list(server_context *ctx, const claims *claims, const listing *listing, int64_t now)
{
    const claim *at = claims ? next_claim(claims, listing, listing->begun ? &listing->after : NULL) : NULL;
    vidi_str last = {NULL, 0};
    long done = 0;
    server.ReplyWithCString(ctx, "claims");
    server.ReplyWithArray(ctx, SERVER_POSTPONED);
    for (; at && (uint64_t)done < listing->count; done++) {
        reply_claim(ctx, claims, at, now);
        last = claim_read(claims, at).key;
        at = next_claim(claims, listing, &last);
    }
    server.ReplySetArrayLength(ctx, done);
    server.ReplyWithCString(ctx, "cursor");
    if (at && done)
        reply_cursor(ctx, last);
    else
        server.ReplyWithCString(ctx, "0");
}

/* VIDI.CLAIMS key [guard] [OWNER owner] [COUNT n] [CURSOR cursor] */
int command_claims(server_context *ctx, server_string **argv, int argc)
{
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc < 2 || argc % 2)
        return server.WrongArity(ctx);
    listing listing = {.count = LIST_DEFAULT};
    for (int i = 2; i < argc; i += 2) {
        const char *wrong = parse_option(argv + i, &listing);
        if (wrong)
            return reply_error(ctx, wrong);
    }
    bool absent;
    const value *value = value_open(ctx, argv[1], FOR_READ, ANY_ROLE, &absent);
    if (!value && !absent)
        return SERVER_OK;
    const claims *claims = value ? value->claims : NULL;
    int64_t now = value ? value_now(value) : 0;
    uint64_t all = claims_count(claims), expired = claims_expired(claims, now);
    server.ReplyWithMap(ctx, 4);
    server.ReplyWithCString(ctx, "live");
    server.ReplyWithLongLong(ctx, (long long)(all - expired));
    server.ReplyWithCString(ctx, "expired");
    server.ReplyWithLongLong(ctx, (long long)expired);
    reply_list(ctx, claims, &listing, now);
    return SERVER_OK;
}
