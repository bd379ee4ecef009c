/*
 * See guard.h.
 */
#include "guard.h"

#include <stdio.h>
#include <string.h>

#include "redis/claims/claims.h"
#include "redis/value/reply.h"
#include "redis/value/value.h"

enum { NOCREATE, IF, URLS, AGAIN };
static const char *const names[] = {"NOCREATE", "IF", "URLS", "AGAIN", NULL};

/* How many of these are options, by place. */
static const int options_at[] = {
    [GUARD_BEFORE_WORDS] = IF + 1, [GUARD_BEFORE_URLS] = URLS + 1, [GUARD_BEFORE_CLAIMS] = AGAIN + 1};

typedef struct guard {
    uint32_t given; /* for option_of */
    uint64_t id;    /* 0: any set will do */
} guard;

static bool is_given(const guard *guard, unsigned option)
{
    return guard->given & UINT32_C(1) << option;
}

/*
 * Takes the options from argv[at] on, and moves *end past them. NULL, or what is wrong. A word that is none of them is
 * the command's own.
 */
static const char *parse(guard *guard, server_string **argv, int argc, int at, guard_place place, int *end)
{
    for (*end = at; *end < argc && !is_given(guard, URLS); ++*end) {
        int option = option_of(text_of(argv[*end]), names, &guard->given);
        if (option == OPTION_TWICE)
            return GIVEN_TWICE;
        if (option >= options_at[place] || option == OPTION_UNKNOWN)
            break;
        if (option == IF && (++*end == argc || !parse_token(text_of(argv[*end]), &guard->id) || !guard->id))
            return "IF needs the id of a set, 16 hexadecimal digits, as VIDI.INFO shows it";
    }
    bool ended = place == GUARD_BEFORE_WORDS || *end == at || is_given(guard, URLS);
    return ended ? NULL : "URLS must stand between the options and the URLs";
}

/* Replies an error that names the set that was wanted, and the one that is there if it is not 0. */
static void refuse(server_context *ctx, uint64_t wanted, uint64_t there)
{
    char sentence[100] = "there is no set at this key", wanted_text[TOKEN_DIGITS + 1], there_text[TOKEN_DIGITS + 1];
    token_print(wanted, wanted_text);
    token_print(there, there_text);
    if (there)
        snprintf(sentence, sizeof sentence, "the key holds set %s, not %s", there_text, wanted_text);
    else if (wanted)
        snprintf(sentence, sizeof sentence, "there is no set at this key; %s was expected", wanted_text);
    totals_count_misplaced();
    reply_error_after(ctx, there ? "WRONGSET " : "NOSET ", sentence);
}

static bool check(server_context *ctx, server_string *name, uint64_t wanted)
{
    bool absent;
    const value *found = value_open(ctx, name, FOR_READ, ANY_ROLE, &absent);
    bool good = found && (!wanted || found->settings.id == wanted);
    if (!good && (found || absent))
        refuse(ctx, wanted, found ? found->settings.id : 0);
    return good;
}

static bool pass(server_context *ctx, server_string ***argv, int *argc, int at, guard_place place, bool *again)
{
    guard guard = {0};
    int end;
    *again = false;
    if (*argc <= at + (place != GUARD_BEFORE_WORDS))
        return true;
    const char *wrong = parse(&guard, *argv, *argc, at, place, &end);
    if (wrong) {
        reply_error(ctx, wrong);
        return false;
    }
    if (end == at)
        return true;
    if ((is_given(&guard, NOCREATE) || guard.id) && !check(ctx, (*argv)[1], guard.id))
        return false;
    size_t front = (size_t)at * sizeof **argv, rest = (size_t)(*argc - end) * sizeof **argv;
    server_string **left = server.PoolAlloc(ctx, front + rest);
    memcpy(left, *argv, front);
    memcpy(left + at, *argv + end, rest);
    *argv = left;
    *argc -= end - at;
    *again = is_given(&guard, AGAIN);
    return true;
}

bool guard_pass(server_context *ctx, server_string ***argv, int *argc, int at, guard_place place)
{
    bool again;
    return pass(ctx, argv, argc, at, place, &again);
}

bool guard_pass_claims(server_context *ctx, server_string ***argv, int *argc, int at, bool *again)
{
    return pass(ctx, argv, argc, at, GUARD_BEFORE_CLAIMS, again);
}
