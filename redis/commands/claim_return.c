/*
 * VIDI.COMMIT, VIDI.RELEASE and VIDI.RENEW: what owners do with their claims.
 *
 * COMMIT and RELEASE reach replicas with the tokens that were accepted, RENEW and RELEASE with the time at which they
 * happened (AT), so that replicas need no clock of their own.
 */
#include <string.h>

#include "claim_commands.h"
#include "guard.h"
#include "redis/claims/claims.h"
#include "redis/server/memory.h"
#include "redis/value/claim_key.h"
#include "redis/value/reply.h"

/* When a command happens that may say so: AT, from a primary; below 0: now. On a primary, nothing happens later. */
static int64_t time_of(value *value, int64_t at)
{
    if (!memory_enforces())
        value_catch_up(value, at);
    int64_t now = value_now(value);
    return at < 0 || at > now ? now : at;
}

/* ---- COMMIT, RELEASE ---- */

/* A COMMIT or RELEASE that is running. */
typedef struct returning {
    server_context *ctx;
    value *value; /* NULL: there is no such key */
    vidi_str owner;
    bool drop;                /* RELEASE: forgets the URLs */
    int64_t at;               /* RELEASE: when it happens; below 0: now */
    const char *event;        /* for value_changed */
    int tokens;               /* how many of the arguments from argv[3] on are tokens */
    server_string **accepted; /* tokens that were not stale, for the replicas */
    size_t count;
} returning;

/* The claim, or NULL if the token is void or somebody else's. */
static claim *claim_of_token(const returning *with, const server_string *argument)
{
    uint64_t token;
    if (!with->value || !with->value->claims || !parse_token(text_of(argument), &token))
        return NULL;
    claim *found = claims_of_token(with->value->claims, token);
    if (!found)
        return NULL;
    vidi_str owner = claim_read(with->value->claims, found).owner;
    bool same = owner.len == with->owner.len && memcmp(owner.ptr, with->owner.ptr, owner.len) == 0;
    return same ? found : NULL;
}

/* Counts the tokens from argv[3] on; false if there is none. */
static bool count_tokens(returning *with, server_string **argv, int argc)
{
    uint64_t token;
    int end = 3;
    while (end < argc && parse_token(text_of(argv[end]), &token))
        end++;
    with->tokens = end - 3;
    return end > 3;
}

static void accept(returning *with, server_string *token, const char *word)
{
    with->accepted[with->count++] = token;
    server.ReplyWithCString(with->ctx, word);
}

static void commit_one(returning *with, server_string *token)
{
    claim *claim = claim_of_token(with, token);
    if (!claim) {
        server.ReplyWithCString(with->ctx, "stale");
        return;
    }
    claim_terms terms = claim_read(with->value->claims, claim);
    int error = claim_add(with->value, terms.key, terms.url);
    if (error != VIDI_OK) {
        reply_failure(with->ctx, with->value, error);
        return;
    }
    claims_remove(with->value->claims, claim);
    accept(with, token, "committed");
}

static void replicate_commit(const returning *with, server_string **argv)
{
    server.Replicate(with->ctx, "VIDI.COMMIT", "ssv", argv[1], argv[2], with->accepted, with->count);
}

/* Deals with each token and replies, then replicates those that were accepted. */
static int return_all(returning *with, server_string **argv, void (*one)(returning *with, server_string *token),
                      void (*replicate)(const returning *with, server_string **argv))
{
    bool absent;
    with->value = value_open(with->ctx, argv[1], FOR_WRITE, ANY_ROLE, &absent);
    if (!with->value && !absent)
        return SERVER_OK;
    if (with->value)
        with->at = time_of(with->value, with->at);
    with->accepted = server.Alloc((size_t)with->tokens * sizeof *with->accepted);
    server.ReplyWithArray(with->ctx, with->tokens);
    for (int i = 0; i < with->tokens; i++)
        one(with, argv[3 + i]);
    if (with->count) {
        replicate(with, argv);
        value_changed(with->ctx, argv[1], with->value, with->event);
    }
    server.Free(with->accepted);
    return SERVER_OK;
}

/* VIDI.COMMIT key owner [guard] token [token ...] */
int command_commit(server_context *ctx, server_string **argv, int argc)
{
    if (!guard_pass(ctx, &argv, &argc, 3, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc < 4)
        return server.WrongArity(ctx);
    returning with = {.ctx = ctx, .event = "vidi.commit"};
    if (!parse_owner(ctx, argv[2], &with.owner))
        return SERVER_OK;
    if (!count_tokens(&with, argv, argc) || with.tokens != argc - 3)
        return reply_error(ctx, BAD_TOKEN);
    return return_all(&with, argv, commit_one, replicate_commit);
}

static void release_one(returning *with, server_string *token)
{
    claim *claim = claim_of_token(with, token);
    if (!claim) {
        server.ReplyWithCString(with->ctx, "stale");
        return;
    }
    if (with->drop)
        claims_remove(with->value->claims, claim);
    else
        claims_give_up(with->value->claims, claim, with->at);
    accept(with, token, "released");
}

/* Takes what follows the tokens: [DROP | AT time-ms]. */
static bool parse_release(returning *with, server_string **argv, int argc)
{
    int next = 3 + with->tokens;
    if (next == argc)
        return true;
    if (next + 1 == argc && word_is(text_of(argv[next]), "DROP")) {
        with->drop = true;
        return true;
    }
    if (next + 2 == argc && word_is(text_of(argv[next]), "AT"))
        return parse_time(with->ctx, argv[next + 1], CLAIM_TIME_MOST, &with->at);
    reply_error(with->ctx,
                "syntax: VIDI.RELEASE key owner token [token ...] [DROP]; a token has 16 hexadecimal digits");
    return false;
}

static void replicate_release(const returning *with, server_string **argv)
{
    if (with->drop)
        server.Replicate(with->ctx, "VIDI.RELEASE", "ssvc", argv[1], argv[2], with->accepted, with->count, "DROP");
    else
        server.Replicate(with->ctx, "VIDI.RELEASE", "ssvcl", argv[1], argv[2], with->accepted, with->count, "AT",
                         (long long)with->at);
}

/* VIDI.RELEASE key owner [guard] token [token ...] [DROP | AT time-ms] */
int command_release(server_context *ctx, server_string **argv, int argc)
{
    if (!guard_pass(ctx, &argv, &argc, 3, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc < 4)
        return server.WrongArity(ctx);
    returning with = {.ctx = ctx, .at = -1, .event = "vidi.release"};
    if (!parse_owner(ctx, argv[2], &with.owner))
        return SERVER_OK;
    if (!count_tokens(&with, argv, argc))
        return reply_error(ctx, BAD_TOKEN);
    return parse_release(&with, argv, argc) ? return_all(&with, argv, release_one, replicate_release) : SERVER_OK;
}

/* ---- RENEW ---- */

/* Takes [lease-ms] [AT time-ms]; a lease of 0 is that of each claim, and a time below 0 is now. */
static bool parse_renewal(server_context *ctx, server_string **argv, int argc, int64_t *lease, int64_t *at)
{
    int next = 3;
    *lease = 0;
    *at = -1;
    if (argc == 4 || argc == 6)
        if (!parse_lease(ctx, argv[next++], lease))
            return false;
    if (next == argc)
        return true;
    if (word_is(text_of(argv[next]), "AT"))
        return parse_time(ctx, argv[next + 1], CLAIM_TIME_MOST, at);
    reply_error(ctx, "syntax: VIDI.RENEW key owner [lease-ms]");
    return false;
}

static void replicate_renewal(server_context *ctx, server_string **argv, int64_t lease, int64_t at)
{
    if (lease)
        server.Replicate(ctx, "VIDI.RENEW", "sslcl", argv[1], argv[2], (long long)lease, "AT", (long long)at);
    else
        server.Replicate(ctx, "VIDI.RENEW", "sscl", argv[1], argv[2], "AT", (long long)at);
}

/* VIDI.RENEW key owner [guard] [lease-ms] [AT time-ms] */
int command_renew(server_context *ctx, server_string **argv, int argc)
{
    if (!guard_pass(ctx, &argv, &argc, 3, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc < 3 || argc > 6)
        return server.WrongArity(ctx);
    vidi_str owner;
    int64_t lease, at;
    if (!parse_owner(ctx, argv[2], &owner) || !parse_renewal(ctx, argv, argc, &lease, &at))
        return SERVER_OK;
    bool absent;
    value *value = value_open(ctx, argv[1], FOR_WRITE, ANY_ROLE, &absent);
    if (!value && !absent)
        return SERVER_OK;
    if (!value || !value->claims)
        return server.ReplyWithLongLong(ctx, 0);
    at = time_of(value, at);
    uint64_t renewed = claims_renew(value->claims, owner, lease, at);
    if (renewed) {
        replicate_renewal(ctx, argv, lease, at);
        value_changed(ctx, argv[1], value, "vidi.renew");
    }
    return server.ReplyWithLongLong(ctx, (long long)renewed);
}
