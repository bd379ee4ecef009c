/*
 * Settings as words. See settings.h.
 *
 * Each option with one value is a row in a table, in the order in which options are printed. Printing leaves out what
 * has its default, so that an older version can read what a newer one wrote about a value that uses nothing new.
 */
#include "settings.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "redis/claims/claims.h"
#include "redis/server/memory.h"

static const char *const invalid_names[] = {"KEEP", "DROP", "FAIL", NULL};
static const char *const role_names[] = {"URLS", "BF", "CF", NULL}; /* in the order of their bits */

/* ---- parsing ---- */

/* A sentence about a wrong word. Commands run one at a time, so one buffer serves. */
static const char *complain(const char *what, vidi_str text)
{
    static char sentence[160];
    char shown[48];
    size_t len = text.len < sizeof shown - 1 ? text.len : sizeof shown - 1;
    for (size_t i = 0; i < len; i++) {
        char c = text.ptr[i];
        if (c < ' ' || c > '~')
            c = '?';
        shown[i] = c;
    }
    shown[len] = 0;
    snprintf(sentence, sizeof sentence, "%s: '%s%s'", what, shown, len < text.len ? "…" : "");
    return sentence;
}

/* Keeps a text that must fit with its zero byte and has no zero byte of its own. */
static bool keep_text(char *room, size_t size, vidi_str text)
{
    if (text.len >= size || memchr(text.ptr, 0, text.len))
        return false;
    memcpy(room, text.ptr, text.len);
    room[text.len] = 0;
    return true;
}

static const char *take_error(settings *settings, vidi_str text)
{
    bool good = parse_double(text, &settings->error) && settings->error > 0 && settings->error < 1;
    return good ? NULL : complain("ERROR must be between 0 and 1", text);
}

static const char *take_lost(settings *settings, vidi_str text)
{
    bool good = parse_double(text, &settings->lost) && settings->lost > 0;
    return good ? NULL : complain("LOST must be a number of pages greater than 0", text);
}

static const char *take_invalid(settings *settings, vidi_str text)
{
    int policy = option_of(text, invalid_names, &(uint32_t){0});
    settings->invalid = policy < 0 ? 0 : (uint32_t)policy;
    return policy < 0 ? complain("INVALID must be KEEP, DROP or FAIL", text) : NULL;
}

static const char *take_max_memory(settings *settings, vidi_str text)
{
    return parse_bytes(text, &settings->max_memory)
               ? NULL
               : complain("MAXMEMORY must be a number of bytes, such as 100mb", text);
}

static const char *take_role(settings *settings, vidi_str text)
{
    int role = option_of(text, role_names, &(uint32_t){0});
    settings->role = role < 0 ? ROLE_URLS : (value_role)(1 << role);
    return role < 0 ? complain("ROLE must be URLS, BF or CF", text) : NULL;
}

/* The position and the bytes of vidi_piece_state, with a colon between them, as print_awaits has written them. */
static const char *take_awaits(settings *settings, vidi_str text)
{
    size_t state = sizeof settings->piece_state, digits = text.len > state ? text.len - state - 1 : 0;
    if (!digits || text.ptr[digits] != ':' || !parse_count((vidi_str){text.ptr, digits}, &settings->position))
        return "AWAITS must be a number, a colon and the state of a set";
    memcpy(settings->piece_state, text.ptr + digits + 1, state);
    settings->awaits = true;
    return NULL;
}

static const char *take_until(settings *settings, vidi_str text)
{
    uint64_t time;
    if (!parse_count(text, &time) || time > INT64_MAX)
        return complain("UNTIL must be a Unix time in milliseconds", text);
    settings->previous_until = (int64_t)time;
    return NULL;
}

/* An id looks like a token of a claim. */
static const char *take_id(settings *settings, vidi_str text)
{
    bool good = parse_token(text, &settings->id) && settings->id;
    return good ? NULL : complain("ID must be 16 hexadecimal digits in lower case, not all 0", text);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The complaint does not show the text: it may be nearly a key. */
static const char *take_key(settings *settings, vidi_str text)
{
    bool good = text.len == 2 * sizeof settings->key;
    for (size_t i = 0; good && i < sizeof settings->key; i++) {
        int high = hex_digit(text.ptr[2 * i]), low = hex_digit(text.ptr[2 * i + 1]);
        good = high >= 0 && low >= 0;
        settings->key[i] = (unsigned char)(high * 16 + low);
    }
    settings->has_key = good;
    return good ? NULL : "KEY must be 32 hexadecimal digits";
}

/* ---- printing ---- */

/* Each parameter takes at least three characters of its list ("a=,") and three words; the rest has fewer than 40. */
_Static_assert(VIDI_PARAMS_ROOM + 40 <= SETTINGS_WORDS, "there are enough words for any settings");
_Static_assert(VIDI_PARAMS_ROOM / 3 * 8 + 1000 <= SETTINGS_ROOM, "there is enough room for any settings");

static void add_word(settings_words *words, const char *text, size_t len)
{
    memcpy(words->texts + words->used, text, len);
    words->words[words->count++] = (vidi_str){words->texts + words->used, len};
    words->used += len;
}

static void add_pair(settings_words *words, const char *name, const char *text)
{
    add_word(words, name, strlen(name));
    add_word(words, text, strlen(text));
}

static void add_params(settings_words *words, const char *params)
{
    while (*params) {
        size_t len = strcspn(params, ","), name = strcspn(params, "=");
        add_word(words, "PARAM", 5);
        add_word(words, params, name < len ? name : len);
        add_word(words, params + name + 1, name < len ? len - name - 1 : 0);
        params += len + (params[len] == ',');
    }
}

static void print_key(const settings *settings, settings_words *words)
{
    if (!settings->has_key)
        return;
    char text[2 * VIDI_KEY_BYTES + 1];
    for (size_t i = 0; i < VIDI_KEY_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", settings->key[i]);
    add_pair(words, "KEY", text);
}

static void print_id(const settings *settings, settings_words *words)
{
    char text[TOKEN_DIGITS + 1];
    token_print(settings->id, text);
    if (settings->id)
        add_pair(words, "ID", text);
}

static void print_awaits(const settings *settings, settings_words *words)
{
    if (!settings->awaits)
        return;
    char text[24 + sizeof settings->piece_state];
    int digits = snprintf(text, sizeof text, "%" PRIu64 ":", settings->position);
    memcpy(text + digits, settings->piece_state, sizeof settings->piece_state);
    add_word(words, "AWAITS", 6);
    add_word(words, text, (size_t)digits + sizeof settings->piece_state);
}

static void print_role(const settings *settings, settings_words *words)
{
    if (settings->role != ROLE_URLS)
        add_pair(words, "ROLE", settings->role == ROLE_BF ? "BF" : "CF");
}

static void print_invalid(const settings *settings, settings_words *words)
{
    if (settings->invalid)
        add_pair(words, "INVALID", invalid_names[settings->invalid]);
}

/* ---- the table ---- */

/* How an option is printed, and parsed if it has no function of its own. */
typedef enum option_type {
    COUNT, /* a whole number of 32 or 64 bits; 0: not printed */
    REAL,  /* a double above 0 */
    TEXT,  /* characters in the struct itself */
    OTHER  /* by functions of its own */
} option_type;

typedef struct option {
    const char *word;
    option_type type;
    size_t at, room; /* of its field */
    const char *(*take)(settings *settings, vidi_str text);
    void (*print)(const settings *settings, settings_words *words); /* OTHER; NULL: not printed */
} option;

#define FIELD(name_) .at = offsetof(settings, name_), .room = sizeof((settings *)NULL)->name_

/* In the order in which they are printed; parameters and the key come last. */
static const option options[] = {
    {.word = "ROLE", .type = OTHER, .take = take_role, .print = print_role},
    {.word = "ID", .type = OTHER, .take = take_id, .print = print_id},
    {.word = "KIND", .type = TEXT, FIELD(kind)},
    {.word = "CAPACITY", .type = COUNT, FIELD(capacity)},
    {.word = "ERROR", .type = REAL, FIELD(error), .take = take_error},
    {.word = "LOST", .type = OTHER, .take = take_lost},
    {.word = "CANON", .type = TEXT, FIELD(canon)},
    {.word = "INVALID", .type = OTHER, .take = take_invalid, .print = print_invalid},
    {.word = "MAXMEMORY", .type = COUNT, FIELD(max_memory), .take = take_max_memory},
    {.word = "EXPANSION", .type = COUNT, FIELD(expansion)},
    {.word = "BUCKETSIZE", .type = COUNT, FIELD(bucket_size)},
    {.word = "MAXITERATIONS", .type = COUNT, FIELD(max_iterations)},
    {.word = "DELETED", .type = COUNT, FIELD(deleted)},
    {.word = "MERGED", .type = COUNT, FIELD(merged)},
    {.word = "UNTIL", .type = COUNT, FIELD(previous_until), .take = take_until},
    {.word = "CLOCK", .type = COUNT, FIELD(clock)},
    {.word = "AWAITS", .type = OTHER, .take = take_awaits, .print = print_awaits},
    {.word = "KEY", .type = OTHER, .take = take_key},
};

static const char *take_value(settings *settings, const option *option, vidi_str text)
{
    char *at = (char *)settings + option->at, wrong[48];
    if (option->take)
        return option->take(settings, text);
    if (option->type == TEXT ? keep_text(at, option->room, text)
        : option->room == 4  ? parse_u32(text, (uint32_t *)(void *)at)
                             : parse_count(text, (uint64_t *)(void *)at))
        return NULL;
    snprintf(wrong, sizeof wrong, option->type == TEXT ? "no such %s" : "%s must be a whole number", option->word);
    return complain(wrong, text);
}

static void print_value(const settings *settings, const option *option, settings_words *words)
{
    const void *at = (const char *)settings + option->at;
    char text[40] = "";
    if (option->type == OTHER && option->print)
        option->print(settings, words);
    if (option->type == TEXT && *(const char *)at)
        add_pair(words, option->word, at);
    if (option->type == REAL && *(const double *)at > 0)
        snprintf(text, sizeof text, "%.17g", *(const double *)at);
    uint64_t count = option->type != COUNT ? 0 : option->room == 4 ? *(const uint32_t *)at : *(const uint64_t *)at;
    if (count)
        snprintf(text, sizeof text, "%" PRIu64, count);
    if (text[0])
        add_pair(words, option->word, text);
}

static bool has_delimiter(vidi_str text)
{
    return memchr(text.ptr, ',', text.len) || memchr(text.ptr, '=', text.len) || memchr(text.ptr, 0, text.len);
}

static const char *take_param(settings *settings, vidi_str name, vidi_str value)
{
    size_t used = strlen(settings->params), more = name.len + value.len + 2;
    if (name.len == 0 || has_delimiter(name) || has_delimiter(value))
        return complain("no such PARAM", name);
    if (name.len > sizeof settings->params || value.len > sizeof settings->params ||
        used + more + 1 > sizeof settings->params)
        return "too many parameters";
    snprintf(settings->params + used, sizeof settings->params - used, "%s%.*s=%.*s", used ? "," : "", (int)name.len,
             name.ptr, (int)value.len, value.ptr);
    return NULL;
}

/* LIKE has the number after those of the table. */
enum { OPTIONS = sizeof options / sizeof *options, NUMBER_OF_LIKE = OPTIONS };
_Static_assert(NUMBER_OF_LIKE < 32, "give_once can tell them apart");

int settings_width(vidi_str option)
{
    return word_is(option, "PARAM") ? 3 : 2;
}

static const char *given_twice(vidi_str word)
{
    return complain("this option is given twice", word);
}

/* Takes the words from number *at on that belong together, and moves *at past them. */
static const char *take_word(settings *settings, const vidi_str *words, size_t count, size_t *at)
{
    vidi_str word = words[*at];
    if (word_is(word, "PARAM")) {
        if (count - *at < 3)
            return "PARAM needs a name and a value";
        *at += 3;
        return take_param(settings, words[*at - 2], words[*at - 1]);
    }
    for (unsigned i = 0; i < OPTIONS; i++) {
        if (!word_is(word, options[i].word))
            continue;
        if (!give_once(&settings->given, i))
            return given_twice(word);
        if (count - *at < 2)
            return complain("a value must follow this option", word);
        *at += 2;
        return take_value(settings, &options[i], words[*at - 1]);
    }
    return complain("no such option (KIND, CAPACITY, ERROR, LOST, CANON, INVALID, MAXMEMORY, PARAM or LIKE)", word);
}

void settings_init(settings *settings, value_role role)
{
    memset(settings, 0, sizeof *settings);
    settings->role = role;
}

settings settings_from(const traits *traits)
{
    settings settings;
    settings_init(&settings, traits->role);
    settings.traits = *traits;
    return settings;
}

static const char *check_combination(const settings *settings)
{
    return settings->lost > 0 && settings->error > 0 ? "give ERROR or LOST, not both" : NULL;
}

const char *settings_parse(settings *settings, const vidi_str *words, size_t count)
{
    const char *wrong = NULL;
    for (size_t at = 0; at < count && !wrong;)
        wrong = take_word(settings, words, count, &at);
    return wrong ? wrong : check_combination(settings);
}

const char *settings_parse_arguments(settings *settings, server_string **argv, int argc)
{
    const char *wrong = NULL;
    for (int at = 0; at < argc && !wrong;) {
        vidi_str words[3] = {text_of(argv[at])};
        size_t count = 1, taken = 0;
        while (count < 3 && at + (int)count < argc) {
            words[count] = text_of(argv[at + (int)count]);
            count++;
        }
        if (word_is(words[0], "LIKE") && count >= 2) {
            if (!give_once(&settings->given, NUMBER_OF_LIKE))
                return given_twice(words[0]);
            settings->like = argv[at + 1];
            at += 2;
            continue;
        }
        wrong = take_word(settings, words, count, &taken);
        at += (int)taken;
    }
    return wrong ? wrong : check_combination(settings);
}

/* ---- completing ---- */

static const char *resolve_lost(settings *settings)
{
    if (settings->capacity == 0)
        return "LOST needs a CAPACITY";
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    vidi_plan_entry plan;
    size_t count = 1;
    want.kind = settings->kind[0] ? settings->kind : "fingerprint";
    want.params = settings->params[0] ? settings->params : NULL;
    want.urls = settings->capacity;
    want.lost = settings->lost;
    if (vidi_plan(&want, &plan, &count) != VIDI_OK)
        return vidi_message();
    if (count == 0)
        return "no set loses that few pages";
    snprintf(settings->params, sizeof settings->params, "%s", plan.params);
    settings->error = plan.error;
    settings->lost = 0;
    return NULL;
}

static const char *draw_key(settings *settings)
{
    ssize_t got = getrandom(settings->key, sizeof settings->key, 0);
    settings->has_key = got == (ssize_t)sizeof settings->key;
    return settings->has_key ? NULL : "the operating system gave no random numbers for the set's key";
}

const char *settings_resolve(settings *settings)
{
    const char *wrong = settings->lost > 0 ? resolve_lost(settings) : NULL;
    return wrong || settings->has_key || settings->like ? wrong : draw_key(settings);
}

void settings_print(const settings *settings, settings_words *words)
{
    words->count = words->used = 0;
    for (size_t i = 0; i < OPTIONS; i++)
        print_value(settings, &options[i], words);
    add_params(words, settings->params);
    print_key(settings, words);
}

size_t settings_strings(const settings *settings, server_string **strings)
{
    settings_words words;
    settings_print(settings, &words);
    for (size_t i = 0; i < words.count; i++)
        strings[i] = server.CreateString(NULL, words.words[i].ptr, words.words[i].len);
    return words.count;
}

void settings_free_strings(server_string **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        server.FreeString(NULL, strings[i]);
}

void settings_to_options(const settings *settings, vidi_options *options, vidi_access *access)
{
    *access = (vidi_access)VIDI_ACCESS_INIT;
    access->invalid = settings->invalid;
    access->flags = VIDI_TOUCH_LATER;
    access->memory_limit = memory_enforces() ? 0 : UINT64_MAX; /* what the primary has allowed is not refused here */
    *options = (vidi_options)VIDI_OPTIONS_INIT;
    options->kind = settings->kind[0] ? settings->kind : NULL;
    options->params = settings->params[0] ? settings->params : NULL;
    options->canon = settings->canon[0] ? settings->canon : NULL;
    options->capacity = settings->capacity;
    options->error = settings->error;
    options->key = settings->has_key ? settings->key : NULL;
    options->flags = VIDI_KEEP_PREVIOUS;
    options->access = access;
}
