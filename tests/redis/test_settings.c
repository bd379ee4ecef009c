/*
 * Settings: words that are printed give the same settings again, and every wrong word is named.
 */
#include <stdio.h>
#include <string.h>

#include "support/check.h"

#include "redis/value/settings.h"

/* Splits at spaces. */
static size_t split(char *line, vidi_str *words)
{
    size_t count = 0;
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        words[count++] = (vidi_str){word, strlen(word)};
    return count;
}

static const char *parse(settings *settings, const char *text)
{
    static char line[4096];
    vidi_str words[SETTINGS_WORDS];
    snprintf(line, sizeof line, "%s", text);
    settings_init(settings, ROLE_URLS);
    return settings_parse(settings, words, split(line, words));
}

static void must_survive(const char *text)
{
    settings before, after;
    settings_words words;
    const char *wrong = parse(&before, text);
    check(!wrong, "%s: %s", text, wrong ? wrong : "");
    settings_print(&before, &words);
    settings_init(&after, ROLE_URLS);
    assert_null(settings_parse(&after, words.words, words.count));
    assert_memory_equal(&before, &after, sizeof before);
}

static void printed_words_give_the_same_settings(void **state)
{
    static const char *const texts[] = {
        "",
        "KIND classic CAPACITY 100 ERROR 0.1",
        "kind scalable capacity 18446744073709551615 error 1e-300 canon crawl,-sort invalid drop maxmemory 100gb",
        "PARAM a b PARAM c d PARAM e f INVALID FAIL",
        "ROLE BF EXPANSION 2 KEY 000102030405060708090a0b0c0d0e0f",
        "ROLE CF BUCKETSIZE 4 MAXITERATIONS 20 EXPANSION 1 DELETED 17 UNTIL 1700000000000",
        "ERROR 0.30000000000000004",
        "ID 00000000000000aa CLOCK 1700000000000",
    };
    char long_one[VIDI_PARAMS_ROOM * 4] = "KIND list";
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        must_survive(texts[i]);
    for (int i = 0; i < 127; i++) /* as many as fit, and each as short as can be */
        strcat(long_one, " PARAM a b");
    must_survive(long_one);
}

static void the_state_of_an_incomplete_set_may_have_any_bytes(void **state)
{
    settings before, after;
    settings_words words;
    (void)state;
    for (uint64_t position = 1; position < UINT64_MAX / 10; position *= 10) {
        settings_init(&before, ROLE_URLS);
        before.awaits = true;
        before.position = position;
        for (size_t i = 0; i < sizeof before.piece_state; i++)
            before.piece_state[i] = (unsigned char)(i % 3 ? 256 - i : i % 2 * ':');
        settings_print(&before, &words);
        settings_init(&after, ROLE_URLS);
        assert_null(settings_parse(&after, words.words, words.count));
        assert_true(after.awaits && after.position == position);
        assert_memory_equal(before.piece_state, after.piece_state, sizeof before.piece_state);
        vidi_str *last = &words.words[words.count - 1];
        for (last->len--; last->len > 0; last->len--) {
            settings_init(&after, ROLE_URLS);
            const char *wrong = settings_parse(&after, words.words, words.count);
            assert_true(wrong && strstr(wrong, "AWAITS must be"));
        }
    }
}

static void every_wrong_word_is_named(void **state)
{
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {"FOO", "PARAM or LIKE): 'FOO'"},
        {"KIND", "a value must follow this option: 'KIND'"},
        {"KIND a-kind-with-far-too-long-a-name", "no such KIND"},
        {"CAPACITY -1", "CAPACITY must be a whole number: '-1'"},
        {"CAPACITY 18446744073709551616", "CAPACITY must be"},
        {"ERROR 0", "ERROR must be between 0 and 1: '0'"},
        {"ERROR 1", "ERROR must be"},
        {"ERROR nan", "ERROR must be"},
        {"ERROR 0.1x", "ERROR must be"},
        {"LOST 0", "LOST must be"},
        {"LOST 1 ERROR 0.1", "not both"},
        {"INVALID maybe", "INVALID must be KEEP, DROP or FAIL"},
        {"MAXMEMORY 1tb", "MAXMEMORY must be a number of bytes"},
        {"MAXMEMORY 99999999999gb", "MAXMEMORY must be"},
        {"ROLE X", "ROLE must be"},
        {"EXPANSION 4294967296", "EXPANSION must be"},
        {"PARAM a", "PARAM needs a name and a value"},
        {"PARAM a=b c", "no such PARAM"},
        {"PARAM a b,c", "no such PARAM"},
        {"UNTIL 9223372036854775808", "UNTIL must be"},
        {"KIND list CAPACITY 1 kind list", "this option is given twice: 'kind'"},
    };
    settings settings;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *sentence = parse(&settings, wrong[i].text);
        check(sentence && strstr(sentence, wrong[i].sentence), "%s: %s", wrong[i].text, sentence ? sentence : "taken");
    }
}

/* What is nearly a key stays out of replies and logs. */
static void a_wrong_key_is_not_shown(void **state)
{
    static const char *const keys[] = {"KEY 0123", "KEY 000102030405060708090a0b0c0d0e0g",
                                       "KEY 000102030405060708090a0b0c0d0e0f00"};
    settings settings;
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_string_equal(parse(&settings, keys[i]), "KEY must be 32 hexadecimal digits");
        assert_false(settings.has_key);
    }
}

static void too_many_parameters_are_refused(void **state)
{
    char text[2000] = "";
    settings settings;
    (void)state;
    for (int i = 0; i < 48; i++)
        strcat(text, "PARAM longer_name longer_value ");
    assert_string_equal(parse(&settings, text), "too many parameters");
}

static void bytes_are_read_as_the_server_reads_them(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"0", 0},        {"7b", 7},        {"1k", 1000},        {"1KB", 1024},
                 {"3m", 3000000}, {"3mb", 3 << 20}, {"2g", 2000000000u}, {"2Gb", UINT64_C(2) << 30}};
    uint64_t bytes;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_true(parse_bytes((vidi_str){sizes[i].text, strlen(sizes[i].text)}, &bytes));
        assert_int_equal(bytes, sizes[i].bytes);
    }
    assert_false(parse_bytes((vidi_str){"kb", 2}, &bytes));
    assert_false(parse_bytes((vidi_str){"", 0}, &bytes));
}

/* LOST becomes an error rate with which no more pages are lost than that. */
static void a_number_of_lost_pages_becomes_an_error_rate(void **state)
{
    settings settings;
    (void)state;
    assert_null(parse(&settings, "CAPACITY 1000000 LOST 1"));
    assert_null(settings_resolve(&settings));
    check(settings.error > 0 && settings.error < 1e-5, "%g", settings.error);
    assert_true(settings.has_key);
    assert_null(parse(&settings, "LOST 1"));
    assert_string_equal(settings_resolve(&settings), "LOST needs a CAPACITY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_words_give_the_same_settings),
        cmocka_unit_test(the_state_of_an_incomplete_set_may_have_any_bytes),
        cmocka_unit_test(every_wrong_word_is_named),
        cmocka_unit_test(a_wrong_key_is_not_shown),
        cmocka_unit_test(too_many_parameters_are_refused),
        cmocka_unit_test(bytes_are_read_as_the_server_reads_them),
        cmocka_unit_test(a_number_of_lost_pages_becomes_an_error_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
