/*
 * VIDI.CLAIMS: how many claims there are, and which.
 *
 * Claims are listed in the order of their keys, those of one owner in the order of their tokens. A cursor is the last key
 * or token that was listed: a claim that is there all the time is listed once, whatever happens to others meanwhile.
 */
#include <string.h>

#include "claim_commands.h"
#include "guard.h"
#include "redis/claims/claims.h"
#include "redis/value/reply.h"

#define BAD_CURSOR "a cursor is 0, or what the last reply to the same question gave"

enum { LIST_DEFAULT = 10, LIST_MOST = 1000 };

/* The first byte of a cursor says what follows, and none looks like the "0" at the beginning and the end. */
#define KEY_MARK '>'
#define TOKEN_MARK '#'

typedef struct listing {
    vidi_str owner; /* empty: everybody's */
    uint64_t count;
    vidi_str after_key;
    uint64_t after_token;
    char begun;     /* the mark of the cursor that was given; 0: none, or "0" */
    uint32_t given; /* for option_of */
} listing;

static bool parse_cursor(vidi_str text, listing *listing)
{
    if (text.len == 1 && text.ptr[0] == '0')
        return true;
    if (text.len == 0)
        return false;
    listing->begun = text.ptr[0];
    listing->after_key = (vidi_str){text.ptr + 1, text.len - 1};
    return listing->begun == KEY_MARK ||
           (listing->begun == TOKEN_MARK && parse_token(listing->after_key, &listing->after_token));
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
        return parse_cursor(text, listing) ? NULL : BAD_CURSOR;
    case OPTION_TWICE:
        return GIVEN_TWICE;
    default:
        return "syntax: VIDI.CLAIMS key [OWNER owner] [COUNT n] [CURSOR cursor]";
    }
}

static const claim *first_claim(const claims *claims, const listing *listing)
{
    if (!claims)
        return NULL;
    if (listing->owner.len)
        return claims_list_of(claims, listing->owner, listing->after_token);
    return claims_list(claims, listing->begun ? &listing->after_key : NULL);
}

static const claim *next_claim(const claims *claims, const listing *listing, const claim_terms *after)
{
    return listing->owner.len ? claims_list_of(claims, listing->owner, after->token) : claims_list(claims, &after->key);
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

static void reply_cursor(server_context *ctx, char mark, vidi_str place)
{
    char *text = server.Alloc(place.len + 1);
    text[0] = mark;
    memcpy(text + 1, place.ptr, place.len);
    server.ReplyWithStringBuffer(ctx, text, place.len + 1);
    server.Free(text);
}

/* Replies the list, then the cursor, as two fields of the map. */
static void reply_list(server_context *ctx, const claims *claims, const listing *listing, int64_t now)
{
    const claim *at = first_claim(claims, listing);
    claim_terms last = {0};
    char token[TOKEN_DIGITS + 1];
    long done = 0;
    server.ReplyWithCString(ctx, "claims");
    server.ReplyWithArray(ctx, SERVER_POSTPONED);
    for (; at && (uint64_t)done < listing->count; done++) {
        reply_claim(ctx, claims, at, now);
        last = claim_read(claims, at);
        at = next_claim(claims, listing, &last);
    }
    server.ReplySetArrayLength(ctx, done);
    server.ReplyWithCString(ctx, "cursor");
    token_print(last.token, token);
    if (at && done && listing->owner.len)
        reply_cursor(ctx, TOKEN_MARK, (vidi_str){token, TOKEN_DIGITS});
    else if (at && done)
        reply_cursor(ctx, KEY_MARK, last.key);
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
    if (listing.begun && listing.begun != (listing.owner.len ? TOKEN_MARK : KEY_MARK))
        return reply_error(ctx, BAD_CURSOR);
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
