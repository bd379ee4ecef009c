/*
 * The commands on claims: how they read arguments, and their table.
 *
 * A worker claims a page before it fetches it, and commits it when it has claimed or queued everything that the page
 * links to. The set learns a URL at COMMIT only, so whatever happens to a worker before, the page is offered again.
 */
#include "claim_commands.h"

#include <string.h>

#include "guard.h"
#include "redis/claims/claims.h"
#include "redis/value/reply.h"

/* ---- arguments ---- */

bool parse_owner(server_context *ctx, const server_string *argument, vidi_str *owner)
{
    *owner = text_of(argument);
    if (owner->len >= 1 && owner->len <= CLAIM_OWNER_MOST)
        return true;
    reply_error(ctx, BAD_OWNER);
    return false;
}

bool parse_lease(server_context *ctx, const server_string *argument, int64_t *lease)
{
    uint64_t number;
    if (parse_count(text_of(argument), &number) && number >= 1 && number <= (uint64_t)CLAIM_LEASE_MOST) {
        *lease = (int64_t)number;
        return true;
    }
    reply_error(ctx, "a lease is a number of milliseconds from 1 to 1000000000000");
    return false;
}

bool parse_time(server_context *ctx, const server_string *argument, int64_t most, int64_t *time)
{
    uint64_t number;
    if (parse_count(text_of(argument), &number) && number <= (uint64_t)most) {
        *time = (int64_t)number;
        return true;
    }
    reply_error(ctx, "a time is a number of milliseconds since 1970, at most 1000000000000000");
    return false;
}

bool same_text(vidi_str a, vidi_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* ---- the table ---- */

static const server_argument pair[] = {ARG("url", SERVER_ARG_STRING), ARG("payload", SERVER_ARG_STRING), ARG_END};
static const server_argument triple[] = {ARG("token", SERVER_ARG_STRING), ARG("url", SERVER_ARG_STRING),
                                         ARG("payload", SERVER_ARG_STRING), ARG_END};

#define ARG_BLOCKS(name_, parts_) ARG_WITH(name_, NULL, SERVER_ARG_BLOCK, SERVER_ARG_MULTIPLE, -1, parts_)

static const server_argument claim_arguments[] = {
    ARG_KEY,          ARG("owner", SERVER_ARG_STRING), ARG("lease-ms", SERVER_ARG_INTEGER),
    ARG_GUARD_CLAIMS, ARG_BLOCKS("page", pair),        ARG_END};
static const server_argument reclaim_arguments[] = {ARG_KEY,
                                                    ARG("owner", SERVER_ARG_STRING),
                                                    ARG("lease-ms", SERVER_ARG_INTEGER),
                                                    ARG_GUARD,
                                                    ARG_OPTION("count", "COUNT", SERVER_ARG_INTEGER),
                                                    ARG_END};
static const server_argument renew_arguments[] = {ARG_KEY,
                                                  ARG("owner", SERVER_ARG_STRING),
                                                  ARG_GUARD,
                                                  ARG_OPTION("lease-ms", NULL, SERVER_ARG_INTEGER),
                                                  ARG_OPTION("time-ms", "AT", SERVER_ARG_UNIX_TIME),
                                                  ARG_END};

/* Claims by their tokens, by their URLs, or all of an owner. */
#define ARG_URLS ARG_WITH("url", "URLS", SERVER_ARG_STRING, SERVER_ARG_MULTIPLE, -1, NULL)
#define ARG_WHICH(parts_) ARG_WITH("claims", NULL, SERVER_ARG_ONE_OF, 0, -1, parts_)
#define ARG_BLOCK(name_, parts_) ARG_WITH(name_, NULL, SERVER_ARG_BLOCK, 0, -1, parts_)

static const server_argument commit_which[] = {ARG_MANY("token", SERVER_ARG_STRING), ARG_URLS, ARG_END};
static const server_argument commit_arguments[] = {ARG_KEY, ARG("owner", SERVER_ARG_STRING), ARG_GUARD,
                                                   ARG_WHICH(commit_which), ARG_END};
static const server_argument drop_or_time[] = {ARG_WORD("drop", "DROP"),
                                               ARG_WITH("time-ms", "AT", SERVER_ARG_UNIX_TIME, 0, -1, NULL), ARG_END};
static const server_argument release_tokens[] = {ARG_MANY("token", SERVER_ARG_STRING),
                                                 ARG_ONE_OF("how", NULL, drop_or_time), ARG_END};
static const server_argument release_urls[] = {ARG_TOKEN("drop", "DROP"), ARG_URLS, ARG_END};
static const server_argument release_all[] = {ARG_WORD("all", "ALL"), ARG_OPTION("time-ms", "AT", SERVER_ARG_UNIX_TIME),
                                              ARG_END};
static const server_argument release_which[] = {ARG_BLOCK("by-token", release_tokens),
                                                ARG_BLOCK("by-url", release_urls), ARG_BLOCK("everything", release_all),
                                                ARG_END};
static const server_argument release_arguments[] = {ARG_KEY, ARG("owner", SERVER_ARG_STRING), ARG_GUARD,
                                                    ARG_WHICH(release_which), ARG_END};
static const server_argument claims_arguments[] = {ARG_KEY,
                                                   ARG_GUARD,
                                                   ARG_OPTION("owner", "OWNER", SERVER_ARG_STRING),
                                                   ARG_OPTION("count", "COUNT", SERVER_ARG_INTEGER),
                                                   ARG_OPTION("cursor", "CURSOR", SERVER_ARG_STRING),
                                                   ARG_END};
static const server_argument hold_arguments[] = {ARG_KEY,
                                                 ARG("owner", SERVER_ARG_STRING),
                                                 ARG("deadline-ms", SERVER_ARG_UNIX_TIME),
                                                 ARG("lease-ms", SERVER_ARG_INTEGER),
                                                 ARG_BLOCKS("claim", triple),
                                                 ARG_END};

const command_entry claim_commands[] = {
    {"vidi.claim", command_claim, "write deny-oom", -6, keys_insert,
     "Claims URLs for an owner: each is claimed, seen, held by somebody, or invalid.",
     "O(N*log(C)) for N URLs and C claims", claim_arguments},
    {"vidi.reclaim", command_reclaim, "write", -4, keys_update,
     "Hands out claims that have expired or were given up: URL, payload, new token.",
     "O(N*log(C)) for N claims handed out of C", reclaim_arguments},
    {"vidi.renew", command_renew, "write", -3, keys_update, "Extends all claims of an owner.",
     "O(N*log(C)) for N claims of the owner and C in all", renew_arguments},
    {"vidi.commit", command_commit, "write deny-oom", -4, keys_insert, "Adds claimed URLs to the set.",
     "O(N*log(C)) for N tokens or URLs and C claims", commit_arguments},
    {"vidi.release", command_release, "write", -4, keys_update, "Gives up claims, so that others can take them over.",
     "O(N*log(C)) for N tokens or URLs, or N claims of the owner, and C claims in all", release_arguments},
    {"vidi.claims", command_claims, "readonly", -2, keys_read, "Counts and lists claims.",
     "O(log(C)) for the counts, O(log(C)) for each claim listed, of C in all", claims_arguments},
    {"vidi.hold", command_hold, "write", -8, keys_update,
     "Internal: claims as a primary sends them to replicas and the append-only file.",
     "O(N*log(C)) for N claims and C in all", hold_arguments},
    {.name = NULL},
};
