/*
 * VIDI.COMMIT, VIDI.RELEASE and VIDI.RENEW: what owners do with their claims.
 *
 * COMMIT and RELEASE reach replicas with the tokens that were accepted, also if the command named URLs; RELEASE ALL as
 * it is. RENEW and RELEASE bring the time at which they happened (AT), so that replicas need no clock of their own.
 */
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
    bool by_url;                                       /* the claims are named by their URLs */
    bool drop;                                         /* RELEASE: forgets the URLs */
    int64_t at;                                        /* RELEASE: when it happens; below 0: now */
    const char *event;                                 /* for value_changed */
    const char *word;                                  /* the reply for a claim with which it was done */
    int (*deed)(struct returning *with, claim *claim); /* does it: VIDI_OK, or an error, and nothing was done */
    server_string **names;                             /* tokens or URLs */
    int n;                                             /* how many of them */
    server_string **accepted;                          /* tokens that were not stale, for the replicas */
    size_t count;
} returning;

static claim *claim_of_token(const returning *with, vidi_str text)
{
    uint64_t token;
    return parse_token(text, &token) ? claims_of_token(with->value->claims, with->owner, token) : NULL;
}

/* VIDI_OK, or an error. *found stays as it is if there is no such claim, its token is void, or it is somebody else's. */
static int claim_of_url(const returning *with, vidi_str url, claim **found)
{
    claim_key key;
    int error = claim_key_make(&key, with->value, url);
    if (error == VIDI_INVALID) /* a server with another version of ICU may have taken it for a URL: see claim_io.c */
        claim_key_as_given(&key, url);
    else if (error != VIDI_OK)
        return error;
    claim *there = claims_of_url(with->value->claims, key.text);
    if (there && same_text(claim_read(with->value->claims, there).owner, with->owner))
        *found = there;
    claim_key_free(&key);
    return VIDI_OK;
}

static int find_claim(const returning *with, vidi_str name, claim **found)
{
    *found = NULL;
    if (!with->value || !with->value->claims)
        return VIDI_OK;
    if (with->by_url)
        return claim_of_url(with, name, found);
    *found = claim_of_token(with, name);
    return VIDI_OK;
}

/* Notes the token of a claim for the replicas. */
static void accept(returning *with, server_string *name, uint64_t token)
{
    char text[TOKEN_DIGITS + 1];
    if (with->by_url) {
        token_print(token, text);
        name = server.CreateString(with->ctx, text, TOKEN_DIGITS);
    }
    with->accepted[with->count++] = name;
}

static void return_one(returning *with, server_string *name)
{
    claim *claim;
    int error = find_claim(with, text_of(name), &claim);
    uint64_t token = claim ? claim_read(with->value->claims, claim).token : 0;
    if (error == VIDI_OK && claim)
        error = with->deed(with, claim);
    if (error != VIDI_OK) {
        reply_failure(with->ctx, with->value, error);
        return;
    }
    if (claim)
        accept(with, name, token);
    server.ReplyWithCString(with->ctx, claim ? with->word : "stale");
}

static void free_accepted(returning *with)
{
    for (size_t i = 0; with->by_url && i < with->count; i++)
        server.FreeString(with->ctx, with->accepted[i]);
    server.Free(with->accepted);
}

/* Opens the key; with->value is NULL if there is none. False after an error was replied. */
static bool open_returning(returning *with, server_string *key)
{
    bool absent;
    with->value = value_open(with->ctx, key, FOR_WRITE, ANY_ROLE, &absent);
    if (with->value)
        with->at = time_of(with->value, with->at);
    return with->value || absent;
}

/* Deals with each claim and replies, then replicates the tokens of those that were accepted. */
static int return_all(returning *with, server_string **argv,
                      void (*some)(returning *with, server_string **names, int n),
                      void (*replicate)(const returning *with, server_string **argv))
{
    if (!open_returning(with, argv[1]))
        return SERVER_OK;
    with->accepted = server.Alloc((size_t)with->n * sizeof *with->accepted);
    server.ReplyWithArray(with->ctx, with->n);
    for (int i = 0; i < with->n; i += CLAIM_BATCH)
        some(with, with->names + i, with->n - i < CLAIM_BATCH ? with->n - i : CLAIM_BATCH);
    if (with->count) {
        replicate(with, argv);
        value_changed(with->ctx, argv[1], with->value, with->event);
    }
    free_accepted(with);
    return SERVER_OK;
}

/* Takes URLS and the URLs up to the end, or tokens. Returns how many arguments these are; 0: neither. */
static int take_names(returning *with, server_string **argv, int argc)
{
    uint64_t token;
    with->by_url = argc > 1 && word_is(text_of(argv[0]), "URLS");
    with->names = argv + with->by_url;
    if (with->by_url)
        with->n = argc - 1;
    else
        while (with->n < argc && parse_token(text_of(argv[with->n]), &token))
            with->n++;
    return with->n + with->by_url;
}

static int commit_claim(returning *with, claim *claim)
{
    claim_terms terms = claim_read(with->value->claims, claim);
    int error = claim_add(with->value, terms.key, terms.url);
    if (error == VIDI_OK)
        claims_remove(with->value->claims, claim);
    return error;
}

static bool contains(claim *const *claims, int n, const claim *claim)
{
    for (int i = 0; i < n; i++)
        if (claims[i] == claim)
            return true;
    return false;
}

/* Finds the claims, adds their URLs together, and goes through the rest one by one: what comes twice, and errors. */
static void commit_some(returning *with, server_string **names, int n)
{
    claim *found[CLAIM_BATCH];
    vidi_str keys[CLAIM_BATCH];
    uint8_t verdicts[CLAIM_BATCH] = {VIDI_UNTRIED};
    for (int i = 0; i < n; i++) {
        if (find_claim(with, text_of(names[i]), &found[i]) != VIDI_OK || contains(found, i, found[i]))
            found[i] = NULL;
        keys[i] = found[i] ? claim_read(with->value->claims, found[i]).key : (vidi_str){NULL, 0};
    }
    if (with->value)
        claim_add_batch(with->value, keys, (size_t)n, verdicts);
    for (int i = 0; i < n; i++) {
        if (!found[i] || (verdicts[i] != VIDI_NEW && verdicts[i] != VIDI_SEEN)) {
            return_one(with, names[i]);
            continue;
        }
        accept(with, names[i], claim_read(with->value->claims, found[i]).token);
        claims_remove(with->value->claims, found[i]);
        server.ReplyWithCString(with->ctx, with->word);
    }
}

static void replicate_commit(const returning *with, server_string **argv)
{
    if (!with->by_url && with->count == (size_t)with->n)
        server.ReplicateVerbatim(with->ctx);
    else
        server.Replicate(with->ctx, "VIDI.COMMIT", "ssv", argv[1], argv[2], with->accepted, with->count);
}

/* VIDI.COMMIT key owner [guard] token [token ...] | URLS url [url ...] */
int command_commit(server_context *ctx, server_string **argv, int argc)
{
    if (!guard_pass(ctx, &argv, &argc, 3, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc < 4)
        return server.WrongArity(ctx);
    returning with = {.ctx = ctx, .event = "vidi.commit", .word = "committed", .deed = commit_claim};
    if (!parse_owner(ctx, argv[2], &with.owner))
        return SERVER_OK;
    if (take_names(&with, argv + 3, argc - 3) != argc - 3)
        return reply_error(ctx, BAD_TOKEN);
    return return_all(&with, argv, commit_some, replicate_commit);
}

static int release_claim(returning *with, claim *claim)
{
    if (with->drop)
        claims_remove(with->value->claims, claim);
    else
        claims_give_up(with->value->claims, claim, with->at);
    return VIDI_OK;
}

static void release_some(returning *with, server_string **names, int n)
{
    for (int i = 0; i < n; i++)
        return_one(with, names[i]);
}

static void replicate_release(const returning *with, server_string **argv)
{
    if (with->drop)
        server.Replicate(with->ctx, "VIDI.RELEASE", "ssvc", argv[1], argv[2], with->accepted, with->count, "DROP");
    else
        server.Replicate(with->ctx, "VIDI.RELEASE", "ssvcl", argv[1], argv[2], with->accepted, with->count, "AT",
                         (long long)with->at);
}

/* Takes [AT time-ms]. */
static bool parse_at(returning *with, server_string **argv, int argc)
{
    if (argc == 0)
        return true;
    if (argc == 2 && word_is(text_of(argv[0]), "AT"))
        return parse_time(with->ctx, argv[1], CLAIM_TIME_MOST, &with->at);
    reply_error(with->ctx, "syntax: VIDI.RELEASE key owner token [token ...] [DROP] | [DROP] URLS url [url ...] | ALL; "
                           "a token has 16 hexadecimal digits");
    return false;
}

/* Takes token [token ...] [DROP | AT time-ms] or [DROP] URLS url [url ...]. */
static bool parse_release(returning *with, server_string **argv, int argc)
{
    bool drop_first = argc > 1 && word_is(text_of(argv[0]), "DROP");
    argv += drop_first;
    argc -= drop_first;
    int taken = take_names(with, argv, argc);
    if (taken == 0 || (drop_first && !with->by_url)) {
        reply_error(with->ctx, BAD_TOKEN);
        return false;
    }
    bool drop_last = taken + 1 == argc && word_is(text_of(argv[taken]), "DROP");
    with->drop = drop_first || drop_last;
    return drop_last || parse_at(with, argv + taken, argc - taken);
}

/* Gives up everything of the owner, and replies how much that was. */
static int release_everything(returning *with, server_string **argv)
{
    if (!open_returning(with, argv[1]))
        return SERVER_OK;
    claims *claims = with->value ? with->value->claims : NULL;
    uint64_t count = claims ? claims_give_up_all(claims, with->owner, with->at) : 0;
    if (count) {
        server.Replicate(with->ctx, "VIDI.RELEASE", "ssccl", argv[1], argv[2], "ALL", "AT", (long long)with->at);
        value_changed(with->ctx, argv[1], with->value, with->event);
    }
    return server.ReplyWithLongLong(with->ctx, (long long)count);
}

/* VIDI.RELEASE key owner [guard] token [token ...] [DROP | AT time-ms] | [DROP] URLS url [url ...] | ALL [AT time-ms] */
int command_release(server_context *ctx, server_string **argv, int argc)
{
    if (!guard_pass(ctx, &argv, &argc, 3, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc < 4)
        return server.WrongArity(ctx);
    returning with = {.ctx = ctx, .at = -1, .event = "vidi.release", .word = "released", .deed = release_claim};
    if (!parse_owner(ctx, argv[2], &with.owner))
        return SERVER_OK;
    if (word_is(text_of(argv[3]), "ALL"))
        return parse_at(&with, argv + 4, argc - 4) ? release_everything(&with, argv) : SERVER_OK;
    return parse_release(&with, argv + 3, argc - 3) ? return_all(&with, argv, release_some, replicate_release)
                                                    : SERVER_OK;
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
