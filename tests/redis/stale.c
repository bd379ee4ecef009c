/*
 * The module with a fault, for tests/redis/fleet.py: VIDI.COMMIT takes every token that a claim has ever had. The linker
 * puts these functions in the place of the module's own (--wrap).
 */
#include <stdlib.h>
#include <string.h>

#include "redis/commands/claim_commands.h"
#include "redis/value/claim_key.h"
#include "redis/claims/claims.h"

typedef struct memory_of_token {
    uint64_t token;
    char *key;
    size_t key_len;
} memory_of_token;

static memory_of_token *remembered;
static size_t count, room;

int __real_claims_put(claims *claims, const claim_terms *terms);
int __wrap_claims_put(claims *claims, const claim_terms *terms);
int __real_claims_add(claims *claims, tree_place *place, const claim_terms *terms);
int __wrap_claims_add(claims *claims, tree_place *place, const claim_terms *terms);
int __real_claims_pass(claims *claims, claim *claim, vidi_str owner, uint64_t token, int64_t deadline, int64_t lease);
int __wrap_claims_pass(claims *claims, claim *claim, vidi_str owner, uint64_t token, int64_t deadline, int64_t lease);
int __real_command_commit(server_context *ctx, server_string **argv, int argc);
int __wrap_command_commit(server_context *ctx, server_string **argv, int argc);

static void remember(uint64_t token, vidi_str key)
{
    if (count == room) {
        room = room ? 2 * room : 1024;
        remembered = realloc(remembered, room * sizeof *remembered);
    }
    char *copy = malloc(key.len + 1);
    memcpy(copy, key.ptr, key.len);
    remembered[count++] = (memory_of_token){token, copy, key.len};
}

int __wrap_claims_put(claims *claims, const claim_terms *terms)
{
    remember(terms->token, terms->key);
    return __real_claims_put(claims, terms);
}

int __wrap_claims_add(claims *claims, tree_place *place, const claim_terms *terms)
{
    remember(terms->token, terms->key);
    return __real_claims_add(claims, place, terms);
}

int __wrap_claims_pass(claims *claims, claim *claim, vidi_str owner, uint64_t token, int64_t deadline, int64_t lease)
{
    remember(token, claim_read(claims, claim).key);
    return __real_claims_pass(claims, claim, owner, token, deadline, lease);
}

/* Makes a stale token current again. */
static void revive(claims *claims, vidi_str owner, uint64_t token)
{
    for (size_t i = count; i-- > 0 && !claims_of_token(claims, owner, token);) {
        claim *claim = claims_of_url(claims, (vidi_str){remembered[i].key, remembered[i].key_len});
        if (remembered[i].token == token && claim) {
            claims_give_up(claims, claim, 1); /* an old token may still be in its tree */
            __real_claims_pass(claims, claim, owner, token, 1, 1);
        }
    }
}

int __wrap_command_commit(server_context *ctx, server_string **argv, int argc)
{
    bool absent;
    value *value = value_open(ctx, argv[1], FOR_WRITE, ANY_ROLE, &absent);
    uint64_t token;
    for (int i = 3; i < argc; i++)
        if (value && value->claims && parse_token(text_of(argv[i]), &token))
            revive(value->claims, text_of(argv[2]), token);
    return __real_command_commit(ctx, argv, argc);
}
