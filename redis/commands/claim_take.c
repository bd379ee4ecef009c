/*
 * VIDI.CLAIM, VIDI.RECLAIM and the internal VIDI.HOLD: how owners get claims.
 *
 * Replicas decide nothing. CLAIM and RECLAIM reach them and the append-only file as VIDI.HOLD, which lists the
 * resulting claims with their tokens and absolute deadlines.
 */
#include "claim_commands.h"
#include "guard.h"
#include "redis/claims/claims.h"
#include "redis/server/memory.h"
#include "redis/value/claim_key.h"
#include "redis/value/reply.h"

enum { RECLAIM_MOST = 1000 }; /* claims that one RECLAIM hands out */

/* ---- what replicas get ---- */

/* The claims that a command has made or passed on: token, URL and payload of each. */
typedef struct holds {
    server_string **list;
    size_t count;
    bool borrowed; /* URLs and payloads are the command's arguments */
} holds;

static void holds_begin(holds *holds, size_t most)
{
    holds->list = server.Alloc(most * 3 * sizeof *holds->list);
    holds->count = 0;
    holds->borrowed = false;
}

static void holds_add(server_context *ctx, holds *holds, uint64_t token, server_string *url, server_string *payload)
{
    char text[TOKEN_DIGITS + 1];
    token_print(token, text);
    holds->list[holds->count++] = server.CreateString(ctx, text, TOKEN_DIGITS);
    holds->list[holds->count++] = url;
    holds->list[holds->count++] = payload;
}

static void holds_end(server_context *ctx, holds *holds)
{
    for (size_t i = 0; i < holds->count; i += holds->borrowed ? 3 : 1)
        server.FreeString(ctx, holds->list[i]);
    server.Free(holds->list);
}

/* ---- replies ---- */

static void reply_words(server_context *ctx, const char *word, const char *detail)
{
    server.ReplyWithArray(ctx, detail ? 2 : 1);
    server.ReplyWithCString(ctx, word);
    if (detail)
        server.ReplyWithCString(ctx, detail);
}

/* Why a claim could not be made, passed on or committed. */
static void reply_refusal(server_context *ctx, const value *value, int error)
{
    if (error == VIDI_EMEMORY && !value->memory.refused)
        reply_error(ctx, "there is no memory for the claim");
    else if (error == VIDI_ELIMIT && !value->memory.refused)
        reply_error(ctx, "a claim's URL and payload have less than 4 GiB each");
    else
        reply_failure(ctx, value, error);
}

/* ---- CLAIM, RECLAIM ---- */

/* What the claims of one command have in common. */
typedef struct claiming {
    server_context *ctx;
    value *value;
    holds holds;
    vidi_str owner;
    int64_t now, lease;
    bool again;  /* what the owner holds is claimed once more */
    double odds; /* vidi_odds, below 0 before it was needed */
} claiming;

/* A page of VIDI.CLAIM: its words in the command, and its key. */
typedef struct page {
    server_string *url, *payload;
    vidi_str key;
    int verdict; /* VIDI_NEW or VIDI_SEEN: whether the set has it; anything else: not known yet */
} page;

/* Creates the value's claims if it has none yet. False if there is no memory; then the error was replied. */
static bool begin_claiming(claiming *with, size_t most)
{
    value *value = with->value;
    with->now = value_now(value);
    with->odds = -1;
    atomic_store(&value->memory.refused, false);
    if (!value->claims && !(value->claims = claims_create(&value->memory.allocator))) {
        reply_refusal(with->ctx, value, VIDI_EMEMORY);
        return false;
    }
    holds_begin(&with->holds, most);
    return true;
}

/* Replicates the claims that were made or passed on, if there are any, and frees the list of them. */
static void end_claiming(claiming *with, server_string **argv)
{
    holds *holds = &with->holds;
    if (holds->count) {
        server.Replicate(with->ctx, "VIDI.HOLD", "ssllv", argv[1], argv[2], (long long)(with->now + with->lease),
                         (long long)with->lease, holds->list, holds->count);
        value_changed(with->ctx, argv[1], with->value, "vidi.claim");
    }
    holds_end(with->ctx, holds);
}

static double odds(claiming *with)
{
    if (with->odds < 0)
        (void)vidi_odds(with->value->set, &with->odds); /* 0 if it fails */
    return with->odds;
}

/* The terms of a claim on a page, without token and loss. */
static claim_terms terms_of(const claiming *with, const page *page)
{
    return (claim_terms){.key = page->key,
                         .url = text_of(page->url),
                         .payload = text_of(page->payload),
                         .owner = with->owner,
                         .deadline = with->now + with->lease,
                         .lease = with->lease};
}

/* Replies what has become of an attempt to claim a page. */
static void reply_attempt(claiming *with, const page *page, uint64_t token, int error)
{
    char text[TOKEN_DIGITS + 1];
    if (error != VIDI_OK) {
        reply_refusal(with->ctx, with->value, error);
        return;
    }
    token_print(token, text);
    holds_add(with->ctx, &with->holds, token, page->url, page->payload);
    reply_words(with->ctx, "claimed", text);
}

/*
 * Tokens ascend from a random number on, so that claims made one after the other lie side by side in the tree of their
 * owner. A token of an earlier life of this server, or of another one, is met again only if two such numbers of 64 bits
 * are closer to each other than there are claims.
 */
static uint64_t draw_token(void)
{
    static uint64_t next;
    next = next ? next : draw_number();
    return next++;
}

/* A page counts once among the expected losses, however often its claim is taken over. */
static void make_claim(claiming *with, const page *page, const claim *expired, tree_place *place)
{
    claims *claims = with->value->claims;
    claim_terms terms = terms_of(with, page);
    terms.loss = expired ? claim_read(claims, expired).loss : odds(with);
    int error;
    do {
        terms.token = draw_token();
        error = expired ? claims_put(claims, &terms) : claims_add(claims, place, &terms);
    } while (error == VIDI_EEXIST);
    reply_attempt(with, page, terms.token, error);
}

/* Keeps the token, which the owner may never have heard of: the reply to its first command can be lost. */
static void claim_again(claiming *with, const page *page, claim *held)
{
    claims *claims = with->value->claims;
    claim_terms before = claim_read(claims, held), terms = terms_of(with, page);
    int error = VIDI_OK;
    terms.token = before.token;
    terms.loss = before.loss;
    if (same_text(terms.url, before.url) && same_text(terms.payload, before.payload))
        claims_extend(claims, held, with->lease, with->now);
    else
        error = claims_put(claims, &terms);
    reply_attempt(with, page, terms.token, error);
}

static void claim_page(claiming *with, const page *page)
{
    claims *claims = with->value->claims;
    tree_place place;
    claim *there = claims_find(claims, page->key, &place);
    if (there && with->again && same_text(claim_read(claims, there).owner, with->owner)) {
        claim_again(with, page, there);
        return;
    }
    if (there && !claim_is_expired(claims, there, with->now)) {
        server.ReplyWithArray(with->ctx, 2);
        server.ReplyWithCString(with->ctx, "held");
        server.ReplyWithLongLong(with->ctx, claim_read(claims, there).deadline - with->now);
        return;
    }
    int verdict = there ? VIDI_NEW : page->verdict;
    if (verdict != VIDI_NEW && verdict != VIDI_SEEN)
        verdict = claim_has(with->value, page->key, text_of(page->url));
    if (verdict < 0) {
        reply_failure(with->ctx, with->value, verdict);
    } else if (verdict == VIDI_SEEN) {
        reply_words(with->ctx, "seen", NULL);
    } else {
        make_claim(with, page, there, &place);
    }
}

static void claim_url(claiming *with, server_string *url, server_string *payload)
{
    claim_key key;
    int error = claim_key_make(&key, with->value, text_of(url));
    if (error == VIDI_INVALID) {
        reply_words(with->ctx, "invalid", vidi_message());
    } else if (error != VIDI_OK) {
        reply_failure(with->ctx, with->value, error);
    } else {
        page page = {url, payload, key.text, VIDI_UNTRIED};
        claim_page(with, &page);
        claim_key_free(&key);
    }
}

/* Up to CLAIM_BATCH pages, of which the set is asked together. */
static void claim_urls(claiming *with, server_string **words, size_t n)
{
    claim_key keys[CLAIM_BATCH];
    vidi_str texts[CLAIM_BATCH] = {{NULL, 0}};
    uint8_t verdicts[CLAIM_BATCH];
    bool good[CLAIM_BATCH];
    for (size_t i = 0; i < n; i++) {
        good[i] = claim_key_make(&keys[i], with->value, text_of(words[2 * i])) == VIDI_OK;
        texts[i] = good[i] ? keys[i].text : (vidi_str){NULL, 0};
    }
    claim_has_batch(with->value, texts, n, verdicts);
    for (size_t i = 0; i < n; i++, words += 2) {
        if (!good[i]) {
            claim_url(with, words[0], words[1]); /* once more, for the reason why it is none */
            continue;
        }
        page page = {words[0], words[1], texts[i], verdicts[i]};
        claim_page(with, &page);
        claim_key_free(&keys[i]);
    }
}

/* VIDI.CLAIM key owner lease-ms [guard, with AGAIN] url payload [url payload ...] */
int command_claim(server_context *ctx, server_string **argv, int argc)
{
    claiming with = {.ctx = ctx};
    if (!guard_pass_claims(ctx, &argv, &argc, 4, &with.again))
        return SERVER_OK;
    if (argc < 6 || argc % 2)
        return server.WrongArity(ctx);
    if (!parse_owner(ctx, argv[2], &with.owner) || !parse_lease(ctx, argv[3], &with.lease) ||
        !(with.value = value_or_new(ctx, argv[1])) || !begin_claiming(&with, (size_t)(argc - 4) / 2))
        return SERVER_OK;
    with.holds.borrowed = true;
    server.ReplyWithArray(ctx, (argc - 4) / 2);
    size_t pages = (size_t)(argc - 4) / 2;
    for (size_t from = 0; from < pages; from += CLAIM_BATCH)
        claim_urls(&with, argv + 4 + 2 * from, pages - from < CLAIM_BATCH ? pages - from : CLAIM_BATCH);
    end_claiming(&with, argv);
    return SERVER_OK;
}

/* Hands out the claim that expired first: 1, 0 if there is none, or an error. */
static int reclaim_one(claiming *with)
{
    claims *claims = with->value->claims;
    claim *expired = claims_first_expired(claims, with->now);
    if (!expired)
        return 0;
    int error;
    do {
        error = claims_pass(claims, expired, with->owner, draw_token(), with->now + with->lease, with->lease);
    } while (error == VIDI_EEXIST);
    if (error != VIDI_OK)
        return error;
    claim_terms terms = claim_read(claims, expired);
    holds_add(with->ctx, &with->holds, terms.token, server.CreateString(with->ctx, terms.url.ptr, terms.url.len),
              server.CreateString(with->ctx, terms.payload.ptr, terms.payload.len));
    return 1;
}

/* URL, payload and token of each claim. */
static void reply_reclaimed(server_context *ctx, const holds *holds)
{
    server.ReplyWithArray(ctx, (long)(holds->count / 3));
    for (size_t i = 0; i < holds->count; i += 3) {
        server.ReplyWithArray(ctx, 3);
        server.ReplyWithString(ctx, holds->list[i + 1]);
        server.ReplyWithString(ctx, holds->list[i + 2]);
        server.ReplyWithString(ctx, holds->list[i]);
    }
}

/* If handing out fails midway, the reply lists the claims handed out so far; the next call reports the error. */
static void reclaim_all(claiming *with, uint64_t count)
{
    int result = 1;
    for (uint64_t i = 0; i < count && result == 1; i++)
        result = reclaim_one(with);
    if (result < 0 && with->holds.count == 0)
        reply_refusal(with->ctx, with->value, result);
    else
        reply_reclaimed(with->ctx, &with->holds);
}

static bool parse_reclaim_count(server_context *ctx, server_string **argv, int argc, uint64_t *count)
{
    *count = 1;
    if (argc == 4)
        return true;
    if (!word_is(text_of(argv[4]), "COUNT"))
        reply_error(ctx, "syntax: VIDI.RECLAIM key owner lease-ms [COUNT n]");
    else if (!parse_count(text_of(argv[5]), count) || *count < 1 || *count > RECLAIM_MOST)
        reply_error(ctx, "COUNT is a number from 1 to 1000");
    else
        return true;
    return false;
}

/* VIDI.RECLAIM key owner lease-ms [guard] [COUNT n] */
int command_reclaim(server_context *ctx, server_string **argv, int argc)
{
    if (!guard_pass(ctx, &argv, &argc, 4, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc != 4 && argc != 6)
        return server.WrongArity(ctx);
    claiming with = {.ctx = ctx};
    uint64_t count;
    if (!parse_owner(ctx, argv[2], &with.owner) || !parse_lease(ctx, argv[3], &with.lease) ||
        !parse_reclaim_count(ctx, argv, argc, &count))
        return SERVER_OK;
    bool absent;
    with.value = value_open(ctx, argv[1], FOR_WRITE, ANY_ROLE, &absent);
    if (!with.value && !absent)
        return SERVER_OK;
    uint64_t there = with.value ? claims_count(with.value->claims) : 0;
    if (there == 0)
        return server.ReplyWithArray(ctx, 0);
    if (!begin_claiming(&with, (size_t)(count < there ? count : there)))
        return SERVER_OK;
    reclaim_all(&with, count);
    end_claiming(&with, argv);
    return SERVER_OK;
}

/* ---- HOLD ---- */

/*
 * Makes one claim with these terms. If it replaces a claim, it keeps that claim's expected loss; otherwise its loss is
 * what one more claim costs on this server now.
 */
static int hold_one(value *value, claim_terms *terms)
{
    claim_key key;
    int error = claim_key_make(&key, value, terms->url);
    if (error == VIDI_INVALID && !memory_enforces()) /* the primary took it for a URL: see claim_io.c */
        claim_key_as_given(&key, terms->url);
    else if (error != VIDI_OK)
        return error;
    const claim *there = claims_of_url(value->claims, key.text);
    terms->key = key.text;
    if (there)
        terms->loss = claim_read(value->claims, there).loss;
    else
        (void)vidi_odds(value->set, &terms->loss); /* 0 if it fails */
    error = claims_put(value->claims, terms);
    claim_key_free(&key);
    return error;
}

static void reply_bad_hold(server_context *ctx, int error)
{
    if (error == VIDI_EEXIST)
        reply_error(ctx, "another claim has the token");
    else if (error == VIDI_ELIMIT)
        reply_error(ctx, "a claim has an owner and a token, or neither");
    else if (error == VIDI_EMEMORY)
        reply_error(ctx, "there is no memory for the claim");
    else
        reply_error(ctx, vidi_message());
}

/* Replies, and returns how many of the words were processed: all, or those before the first error. */
static int hold_all(server_context *ctx, value *value, claim_terms terms, server_string **triples, int count)
{
    for (int i = 0; i < count; i += 3) {
        terms.url = text_of(triples[i + 1]);
        terms.payload = text_of(triples[i + 2]);
        if (!parse_token(text_of(triples[i]), &terms.token)) {
            reply_error(ctx, BAD_TOKEN);
            return i;
        }
        int error = hold_one(value, &terms);
        if (error != VIDI_OK) {
            reply_bad_hold(ctx, error);
            return i;
        }
    }
    server.ReplyWithSimpleString(ctx, "OK");
    return count;
}

/* VIDI.HOLD key owner deadline-ms lease-ms token url payload [token url payload ...] */
int command_hold(server_context *ctx, server_string **argv, int argc)
{
    if (argc < 8 || (argc - 5) % 3)
        return server.WrongArity(ctx);
    claim_terms terms = {.owner = text_of(argv[2])};
    if (!parse_time(ctx, argv[3], CLAIM_DEADLINE_MOST, &terms.deadline) || !parse_lease(ctx, argv[4], &terms.lease))
        return SERVER_OK;
    value *value = value_needed(ctx, argv[1], FOR_WRITE);
    if (!value)
        return SERVER_OK;
    if (!value->claims && !(value->claims = claims_create(&value->memory.allocator)))
        return reply_error(ctx, "there is no memory for the claim");
    if (!memory_enforces()) /* from the primary: when the lease began */
        value_catch_up(value, terms.deadline - terms.lease);
    else if (terms.deadline - terms.lease > value_now(value)) /* a lease that began in the future would last too long */
        terms.deadline = value_now(value) + terms.lease;
    int done = hold_all(ctx, value, terms, argv + 5, argc - 5);
    if (done == 0)
        return SERVER_OK;
    server.Replicate(ctx, "VIDI.HOLD", "sslsv", argv[1], argv[2], (long long)terms.deadline, argv[4], argv + 5,
                     (size_t)done);
    value_changed(ctx, argv[1], value, "vidi.claim");
    return SERVER_OK;
}
