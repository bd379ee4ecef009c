/*
 * Settings as words. See settings.h.
 *
 * Each word that takes one value is a row in a table of parsers. Printing gives the words in the same order, and leaves
 * out what has its default, so that an older version can read what a newer one wrote about a value that uses nothing
 * new.
 */
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "redis/server/memory.h"

static const char *const invalid_names[] = {"KEEP", "DROP", "FAIL"};

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

static const char *take_kind(settings *settings, vidi_str text)
{
    return keep_text(settings->kind, sizeof settings->kind, text) ? NULL : complain("no such KIND", text);
}

static const char *take_canon(settings *settings, vidi_str text)
{
    return keep_text(settings->canon, sizeof settings->canon, text) ? NULL : complain("no such CANON", text);
}

static const char *take_capacity(settings *settings, vidi_str text)
{
    return parse_count(text, &settings->capacity) ? NULL : complain("CAPACITY must be a whole number", text);
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
    for (uint32_t i = 0; i < sizeof invalid_names / sizeof *invalid_names; i++) {
        if (word_is(text, invalid_names[i])) {
            settings->invalid = i;
            return NULL;
        }
    }
    return complain("INVALID must be KEEP, DROP or FAIL", text);
}

static const char *take_max_memory(settings *settings, vidi_str text)
{
    return parse_bytes(text, &settings->max_memory)
               ? NULL
               : complain("MAXMEMORY must be a number of bytes, such as 100mb", text);
}

static const char *take_role(settings *settings, vidi_str text)
{
    if (word_is(text, "URLS"))
        settings->role = ROLE_URLS;
    else if (word_is(text, "BF"))
        settings->role = ROLE_BF;
    else if (word_is(text, "CF"))
        settings->role = ROLE_CF;
    else
        return complain("ROLE must be URLS, BF or CF", text);
    return NULL;
}

static const char *take_expansion(settings *settings, vidi_str text)
{
    return parse_u32(text, &settings->expansion) ? NULL : complain("EXPANSION must be a whole number", text);
}

static const char *take_bucket_size(settings *settings, vidi_str text)
{
    return parse_u32(text, &settings->bucket_size) ? NULL : complain("BUCKETSIZE must be a whole number", text);
}

static const char *take_max_iterations(settings *settings, vidi_str text)
{
    return parse_u32(text, &settings->max_iterations) ? NULL : complain("MAXITERATIONS must be a whole number", text);
}

static const char *take_deleted(settings *settings, vidi_str text)
{
    return parse_count(text, &settings->deleted) ? NULL : complain("DELETED must be a whole number", text);
}

static const char *take_merged(settings *settings, vidi_str text)
{
    return parse_count(text, &settings->merged) ? NULL : complain("MERGED must be a whole number", text);
}

/* Six numbers that settings_print has written, with colons between them. */
static const char *take_awaits(settings *settings, vidi_str text)
{
    uint64_t numbers[6];
    size_t count = 0;
    vidi_str left = text;
    while (count < 6 && left.len > 0) {
        const char *colon = memchr(left.ptr, ':', left.len);
        size_t len = colon ? (size_t)(colon - left.ptr) : left.len;
        if (!parse_count((vidi_str){left.ptr, len}, &numbers[count++]))
            break;
        len += colon != NULL;
        left = (vidi_str){left.ptr + len, left.len - len};
    }
    if (count != 6 || left.len > 0)
        return complain("AWAITS must be six numbers", text);
    settings->position = numbers[0];
    settings->arrival =
        (vidi_arrival){sizeof(vidi_arrival), numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
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

static const struct {
    const char *word;
    const char *(*take)(settings *settings, vidi_str text);
} words_with_value[] = {
    {"KIND", take_kind},
    {"CAPACITY", take_capacity},
    {"ERROR", take_error},
    {"LOST", take_lost},
    {"CANON", take_canon},
    {"INVALID", take_invalid},
    {"MAXMEMORY", take_max_memory},
    {"ROLE", take_role},
    {"EXPANSION", take_expansion},
    {"BUCKETSIZE", take_bucket_size},
    {"KEY", take_key},
    {"MAXITERATIONS", take_max_iterations},
    {"DELETED", take_deleted},
    {"MERGED", take_merged},
    {"UNTIL", take_until},
    {"AWAITS", take_awaits},
};

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
enum { WORDS_WITH_VALUE = sizeof words_with_value / sizeof *words_with_value, NUMBER_OF_LIKE = WORDS_WITH_VALUE };
_Static_assert(NUMBER_OF_LIKE < 32, "give_once can tell them apart");

int settings_width(vidi_str option)
{
    return word_is(option, "PARAM") ? 3 : 2;
}

static const char *given_twice(vidi_str word)
{
    return complain("this option is given twice", word);
}

/* Takes the words from number *at on that belong together, and moves *at behind them. */
static const char *take_word(settings *settings, const vidi_str *words, size_t count, size_t *at)
{
    vidi_str word = words[*at];
    if (word_is(word, "PARAM")) {
        if (count - *at < 3)
            return "PARAM needs a name and a value";
        *at += 3;
        return take_param(settings, words[*at - 2], words[*at - 1]);
    }
    for (unsigned i = 0; i < WORDS_WITH_VALUE; i++) {
        if (!word_is(word, words_with_value[i].word))
            continue;
        if (!give_once(&settings->given, i))
            return given_twice(word);
        if (count - *at < 2)
            return complain("a value must follow this option", word);
        *at += 2;
        return words_with_value[i].take(settings, words[*at - 1]);
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
        return "no set loses so few pages";
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

static void add_number(settings_words *words, const char *name, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    add_pair(words, name, text);
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

static void add_key(settings_words *words, const unsigned char *key)
{
    char text[2 * VIDI_KEY_BYTES + 1];
    for (size_t i = 0; i < VIDI_KEY_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", key[i]);
    add_pair(words, "KEY", text);
}

static void add_awaits(settings_words *words, uint64_t position, const vidi_arrival *arrival)
{
    char text[6 * 21 + 1];
    snprintf(text, sizeof text, "%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64, position,
             arrival->generation, arrival->next, arrival->epoch, arrival->done, arrival->sum);
    add_pair(words, "AWAITS", text);
}

void settings_print(const settings *settings, settings_words *words)
{
    words->count = words->used = 0;
    if (settings->role != ROLE_URLS)
        add_pair(words, "ROLE", settings->role == ROLE_BF ? "BF" : "CF");
    if (settings->kind[0])
        add_pair(words, "KIND", settings->kind);
    if (settings->capacity)
        add_number(words, "CAPACITY", settings->capacity);
    if (settings->error > 0) {
        char text[40];
        snprintf(text, sizeof text, "%.17g", settings->error);
        add_pair(words, "ERROR", text);
    }
    if (settings->canon[0])
        add_pair(words, "CANON", settings->canon);
    if (settings->invalid)
        add_pair(words, "INVALID", invalid_names[settings->invalid]);
    if (settings->max_memory)
        add_number(words, "MAXMEMORY", settings->max_memory);
    if (settings->expansion)
        add_number(words, "EXPANSION", settings->expansion);
    if (settings->bucket_size)
        add_number(words, "BUCKETSIZE", settings->bucket_size);
    if (settings->max_iterations)
        add_number(words, "MAXITERATIONS", settings->max_iterations);
    if (settings->deleted)
        add_number(words, "DELETED", settings->deleted);
    if (settings->merged)
        add_number(words, "MERGED", settings->merged);
    if (settings->previous_until > 0)
        add_number(words, "UNTIL", (uint64_t)settings->previous_until);
    if (settings->arrival.size)
        add_awaits(words, settings->position, &settings->arrival);
    add_params(words, settings->params);
    if (settings->has_key)
        add_key(words, settings->key);
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
