/*
 * VIDI.INFO and VIDI.STATS: everything that the library's statistics tell about a key, as a map (a flat array in
 * version 2 of the protocol). The expected number of lost pages comes first, because that is what a crawl pays for its
 * memory.
 *
 * What INFO tells is a table: a name, a type, and where the figure lies in a struct that is filled in first. The names
 * are those of vidi_stats, so that its comments in vidi.h explain them.
 */
#include <stddef.h>
#include <string.h>

#include "guard.h"
#include "redis/claims/claims.h"
#include "redis/server/server.h"
#include "redis/value/reply.h"
#include "redis/value/value.h"

/* ---- tables of figures ---- */

typedef enum field_type {
    COUNT64, /* uint64_t */
    COUNT32, /* uint32_t */
    REAL,    /* double */
    TEXT,    /* characters in the struct itself */
    WORD     /* a pointer to characters */
} field_type;

typedef struct field {
    const char *name;
    field_type type;
    size_t at; /* offset in the struct */
} field;

/* A figure with the name of its field. */
#define FIELD(struct_, name_, type_)                                                                                   \
    {                                                                                                                  \
        .name = #name_, .type = (type_), .at = offsetof(struct_, name_)                                                \
    }
#define FIELDS(table) table, sizeof(table) / sizeof *(table)

static void reply_with_field(server_context *ctx, const field *field, const void *from)
{
    const char *at = (const char *)from + field->at;
    server.ReplyWithCString(ctx, field->name);
    switch (field->type) {
    case COUNT64:
        server.ReplyWithLongLong(ctx, (long long)*(const uint64_t *)(const void *)at);
        break;
    case COUNT32:
        server.ReplyWithLongLong(ctx, *(const uint32_t *)(const void *)at);
        break;
    case REAL:
        server.ReplyWithDouble(ctx, *(const double *)(const void *)at);
        break;
    case TEXT:
        server.ReplyWithCString(ctx, at);
        break;
    default:
        server.ReplyWithCString(ctx, *(const char *const *)(const void *)at);
    }
}

static void reply_with_fields(server_context *ctx, const field *fields, size_t count, const void *from)
{
    server.ReplyWithMap(ctx, (long)count);
    for (size_t i = 0; i < count; i++)
        reply_with_field(ctx, &fields[i], from);
}

/* ---- VIDI.INFO ---- */

/* Room for the names of everything that a kind can do. */
#define ABILITIES_ROOM 64

/* What INFO tells: the set's statistics, and what the module knows beside them. */
typedef struct facts {
    vidi_stats set;
    double expected_lost; /* with the claims that are outstanding */
    const char *fp_meaning, *hash_trust, *role, *invalid;
    char id[TOKEN_DIGITS + 1], can[ABILITIES_ROOM];
    uint64_t max_memory, memory_bytes;
    uint64_t has_previous, previous_until;
    uint64_t claims, expired_claims;
    uint64_t next_piece;
} facts;

#define SET_FIELD(name_, type_)                                                                                        \
    {                                                                                                                  \
#name_, type_, offsetof(facts, set.name_)                                                                      \
    }

static const field info_fields[] = {
    FIELD(facts, expected_lost, REAL),
    SET_FIELD(fp_now, REAL),
    FIELD(facts, fp_meaning, WORD),
    SET_FIELD(count, COUNT64),
    SET_FIELD(capacity, COUNT64),
    SET_FIELD(fill, REAL),
    SET_FIELD(kind, TEXT),
    SET_FIELD(params, TEXT),
    SET_FIELD(canon, TEXT),
    FIELD(facts, invalid, WORD),
    SET_FIELD(hash, TEXT),
    FIELD(facts, hash_trust, WORD),
    FIELD(facts, can, TEXT),
    FIELD(facts, role, WORD),
    FIELD(facts, id, TEXT),
    SET_FIELD(epoch, COUNT64),
    SET_FIELD(past_epochs, COUNT64),
    FIELD(facts, has_previous, COUNT64),
    FIELD(facts, previous_until, COUNT64),
    SET_FIELD(bytes, COUNT64),
    FIELD(facts, memory_bytes, COUNT64),
    FIELD(facts, max_memory, COUNT64),
    SET_FIELD(stages, COUNT32),
    SET_FIELD(lines_touched, COUNT64),
    SET_FIELD(answered_new, COUNT64),
    SET_FIELD(answered_seen, COUNT64),
    SET_FIELD(answered_invalid, COUNT64),
    SET_FIELD(asked, COUNT64),
    SET_FIELD(removed, COUNT64),
    SET_FIELD(ambiguous, COUNT64),
    FIELD(facts, claims, COUNT64),
    FIELD(facts, expired_claims, COUNT64),
    FIELD(facts, next_piece, COUNT64),
};

static const char *const meanings[] = {"exact", "at most", "estimate"};
static const char *const policies[] = {"keep", "drop", "fail"};

static const char *word_of(const char *const words[3], uint32_t which)
{
    return which < 3 ? words[which] : "unknown";
}

/* "delete count merge", say */
static void list_abilities(uint32_t can, char text[ABILITIES_ROOM])
{
    static const char *const words[] = {"delete", "count", "merge", "iterate", "grow", "concurrent"};
    size_t length = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (can & (UINT32_C(1) << i)) {
            if (length)
                text[length++] = ' ';
            memcpy(text + length, words[i], strlen(words[i]));
            length += strlen(words[i]);
        }
    text[length] = 0;
}

static int gather(const value *value, facts *facts)
{
    *facts = (struct facts){.set.size = sizeof facts->set};
    int code = vidi_stat(value->set, &facts->set);
    if (code < 0)
        return code;
    facts->expected_lost = facts->set.expected_lost + claims_loss(value->claims);
    facts->fp_meaning = word_of(meanings, facts->set.fp_meaning);
    facts->hash_trust = facts->set.hash_trust == VIDI_HASH_KEYED ? "keyed" : "trusting";
    facts->role = value->settings.role == ROLE_URLS ? "urls" : value->settings.role == ROLE_BF ? "bf" : "cf";
    facts->invalid = word_of(policies, value->settings.invalid);
    token_print(value->settings.id, facts->id);
    list_abilities(facts->set.can, facts->can);
    facts->memory_bytes = value_bytes(value);
    facts->max_memory = value->settings.max_memory;
    facts->has_previous = expiry_has_previous(value);
    facts->previous_until = (uint64_t)value->previous_until;
    facts->claims = claims_count(value->claims);
    facts->expired_claims = claims_expired(value->claims, value_now(value));
    facts->next_piece = value->position;
    return VIDI_OK;
}

/* VIDI.INFO key [guard] */
static int info(server_context *ctx, server_string **argv, int argc)
{
    facts facts;
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc != 2)
        return server.WrongArity(ctx);
    const value *value = value_needed(ctx, argv[1], FOR_READ);
    if (!value)
        return SERVER_OK;
    int code = gather(value, &facts);
    if (code < 0)
        return reply_failure(ctx, value, code);
    reply_with_fields(ctx, FIELDS(info_fields), &facts);
    return SERVER_OK;
}

/* ---- VIDI.STATS ---- */

static const field epoch_fields[] = {
    FIELD(vidi_epoch_stats, epoch, COUNT64),        FIELD(vidi_epoch_stats, expected_lost, REAL),
    FIELD(vidi_epoch_stats, fp_end, REAL),          FIELD(vidi_epoch_stats, count, COUNT64),
    FIELD(vidi_epoch_stats, capacity, COUNT64),     FIELD(vidi_epoch_stats, bytes, COUNT64),
    FIELD(vidi_epoch_stats, answered_new, COUNT64), FIELD(vidi_epoch_stats, answered_seen, COUNT64),
};

static const field stage_fields[] = {
    FIELD(vidi_stage_stats, capacity, COUNT64), FIELD(vidi_stage_stats, count, COUNT64),
    FIELD(vidi_stage_stats, error, REAL),       FIELD(vidi_stage_stats, bytes, COUNT64),
    FIELD(vidi_stage_stats, k, COUNT32),
};

/* The epoch that is not over yet, in the form of a finished one. */
static vidi_epoch_stats current_epoch(const vidi_stats *stats)
{
    return (vidi_epoch_stats){
        .size = sizeof(vidi_epoch_stats),
        .epoch = stats->epoch,
        .capacity = stats->capacity,
        .count = stats->count,
        .bytes = stats->bytes,
        .answered_new = stats->answered_new,
        .answered_seen = stats->answered_seen,
        .fp_end = stats->fp_now,
        .expected_lost = stats->expected_lost,
    };
}

/* Past epochs, the oldest first, and then the current one. */
static void reply_with_epochs(server_context *ctx, const vidi_set *set, const vidi_stats *stats)
{
    server.ReplyWithCString(ctx, "epochs");
    server.ReplyWithArray(ctx, (long)stats->past_epochs + 1);
    for (uint64_t i = 0; i < stats->past_epochs; i++) {
        vidi_epoch_stats past = {.size = sizeof past};
        vidi_epoch_stat(set, i, &past); /* is there: the server runs one command at a time */
        reply_with_fields(ctx, FIELDS(epoch_fields), &past);
    }
    vidi_epoch_stats now = current_epoch(stats);
    reply_with_fields(ctx, FIELDS(epoch_fields), &now);
}

static void reply_with_stages(server_context *ctx, const vidi_set *set, const vidi_stats *stats)
{
    server.ReplyWithCString(ctx, "stages");
    server.ReplyWithArray(ctx, stats->stages);
    for (uint64_t i = 0; i < stats->stages; i++) {
        vidi_stage_stats stage = {.size = sizeof stage};
        vidi_stage_stat(set, i, &stage);
        reply_with_fields(ctx, FIELDS(stage_fields), &stage);
    }
}

/* VIDI.STATS key [guard] */
static int stats(server_context *ctx, server_string **argv, int argc)
{
    vidi_stats stats = {.size = sizeof stats};
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc != 2)
        return server.WrongArity(ctx);
    const value *value = value_needed(ctx, argv[1], FOR_READ);
    if (!value)
        return SERVER_OK;
    int code = vidi_stat(value->set, &stats);
    if (code < 0)
        return reply_failure(ctx, value, code);
    server.ReplyWithMap(ctx, 2);
    reply_with_epochs(ctx, value->set, &stats);
    reply_with_stages(ctx, value->set, &stats);
    return SERVER_OK;
}

/* ---- the table ---- */

static const server_argument key_argument[] = {ARG_KEY, ARG_GUARD, ARG_END};

const command_entry info_commands[] = {
    {"vidi.info", info, "readonly fast", -2, keys_read,
     "Tells everything about a set, the expected number of lost pages first.", "O(1)", key_argument},
    {"vidi.stats", stats, "readonly", -2, keys_read, "Lists the epochs of a set and the stages of the current one.",
     "O(N) where N is the number of epochs and stages", key_argument},
    {.name = NULL},
};
