/*
 * Records and states as text: what is written can be read, and nothing else.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "fleet/set/record.h"
#include "fleet/set/state.h"
#include "support/check.h"
#include "support/random.h"

static const record full = {
    .shards = 1024,
    .id = 0x0123456789abcdef,
    .route = {1, 2, 3, 0xff},
    .key = {9, 8, 7},
    .kind = "classic",
    .params = "k=7,hash=xxh3",
    .capacity = 123456789012,
    .error = 1.5e-7,
    .headroom = 1.3,
    .canon = "crawl/1,-sort",
    .flags = VIDI_KEEP_PREVIOUS,
};
static const record least = {.shards = 1, .id = 1, .kind = "list", .canon = "none/1"};

static bool reads(record *record, const char *text, size_t len)
{
    const char *wrong = "nothing";
    bool good = set_record_read(record, (vidi_str){text, len}, &wrong);
    check(good == !wrong, "an error has a sentence");
    return good;
}

static void what_is_written_can_be_read(void **context)
{
    const record *samples[] = {&full, &least};
    (void)context;
    for (size_t i = 0; i < 2; i++) {
        char text[RECORD_ROOM];
        record again;
        size_t len = set_record_write(samples[i], text);
        assert_int_equal(strlen(text), len);
        assert_true(reads(&again, text, len));
        assert_memory_equal(&again, samples[i], sizeof again);
        assert_null(set_record_difference(&again, samples[i]));
    }
}

/* The text is part of the interface between versions. */
static void the_text_is_this(void **context)
{
    char text[RECORD_ROOM];
    (void)context;
    set_record_write(&full, text);
    assert_string_equal(text, "format 1\nshards 1024\nid 0123456789abcdef\nroute 010203ff000000000000000000000000\n"
                              "key 09080700000000000000000000000000\nkind classic\nparams k=7,hash=xxh3\n"
                              "capacity 123456789012\nerror 1.5e-07\nheadroom 1.3\ncanon crawl/1,-sort\nflags 1\n");
}

static void any_other_text_is_refused(void **context)
{
    static const char *const wrong[] = {
        "", "format 1\n", "format 1", "format 2\nshards 1\n", "shards 1\n", "\n",
    };
    static const char *const changes[][2] = {
        {"shards 1024", "shards 0"},
        {"shards 1024", "shards 16385"},
        {"shards 1024", "shards -1"},
        {"shards 1024", "shards 1e3"},
        {"shards 1024", "shards 1024\nshards 1024"},
        {"shards 1024", "shards 99999999999999999999999"},
        {"shards 1024\n", ""},
        {"id 0123456789abcdef", "id 0000000000000000"},
        {"id 0123456789abcdef", "id 0123456789ABCDEF"},
        {"id 0123456789abcdef", "id 0123456789abcde"},
        {"id 0123456789abcdef\n", ""},
        {"route 0102", "route 010"},
        {"key 09", "key zz"},
        {"key 0908", "key 09080"},
        {"kind classic", "kind "},
        {"kind classic", "kind abcdefghijklmnopqrstuvwxyz"},
        {"kind classic", "kind cl\tassic"},
        {"kind classic", "kind"},
        {"kind classic\n", ""},
        {"canon crawl/1,-sort\n", ""},
        {"capacity 123456789012", "capacity 12x"},
        {"error 1.5e-07", "error nan"},
        {"error 1.5e-07", "error 1.5"},
        {"error 1.5e-07", "error 0"},
        {"error 1.5e-07", "error -1"},
        {"error 1.5e-07", "error 1,5e-07"},
        {"headroom 1.3", "headroom 0.5"},
        {"headroom 1.3", "headroom inf"},
        {"flags 1", "flags 2"},
        {"flags 1\n", "flags 1"},
        {"flags 1\n", "flags 1\nmore 1\n"},
        {"flags 1\n", "flags 1\n\n"},
    };
    char text[RECORD_ROOM], changed[RECORD_ROOM + 100];
    record read;
    (void)context;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check(!reads(&read, wrong[i], strlen(wrong[i])), "'%s' was read", wrong[i]);
    set_record_write(&full, text);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *at = strstr(text, changes[i][0]);
        assert_non_null(at);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, changes[i][1],
                 at + strlen(changes[i][0]));
        check(!reads(&read, changed, strlen(changed)), "'%s' for '%s' was read", changes[i][1], changes[i][0]);
    }
}

/* Every prefix, and each byte changed in every way: what is read anyway is a record that can be written. */
static void no_damage_makes_a_record_that_cannot_be_written(void **context)
{
    char text[RECORD_ROOM], again[RECORD_ROOM];
    record read;
    (void)context;
    size_t len = set_record_write(&full, text);
    for (size_t i = 0; i < len; i++)
        check(i == len || !reads(&read, text, i) || text[i - 1] == '\n', "%zu bytes were read", i);
    for (size_t i = 0; i < len; i++)
        for (unsigned byte = 0; byte < 256; byte++) {
            char before = text[i];
            text[i] = (char)byte;
            if (reads(&read, text, len)) {
                size_t written = set_record_write(&read, again);
                check(written < RECORD_ROOM && reads(&read, again, written), "byte %zu became %u", i, byte);
                check(read.shards >= 1 && read.shards <= RECORD_SHARDS && read.id, "byte %zu became %u", i, byte);
            }
            text[i] = before;
        }
}

static void differences_are_named_and_secrets_are_not_compared(void **context)
{
    record other = full;
    (void)context;
    other.id++;
    other.key[0]++;
    other.route[0]++;
    assert_null(set_record_difference(&full, &other));
    other.error *= 2;
    assert_string_equal(set_record_difference(&full, &other), "error");
    other.capacity = 0;
    assert_string_equal(set_record_difference(&full, &other), "capacity");
    other.shards++;
    assert_string_equal(set_record_difference(&full, &other), "shards");
}

static void numbers_are_the_same_in_all_locales(void **context)
{
    char text[RECORD_NUMBER];
    double number;
    (void)context;
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        (void)setlocale(LC_ALL, ""); /* the machine may have no other */
    test_random random = {3};
    for (int i = 0; i < 10000; i++) {
        double sample = (double)test_next(&random) / (double)(test_next(&random) | 1);
        set_print_real(sample, text);
        check(!strchr(text, ','), "%s", text);
        assert_true(set_parse_real((vidi_str){text, strlen(text)}, &number));
        assert_true(number == sample);
    }
    (void)setlocale(LC_ALL, "C");
}

/* ---- states ---- */

static bool reads_state(state *state, const char *text)
{
    return state_read(state, (vidi_str){text, strlen(text)});
}

static void states_can_be_read_again(void **context)
{
    static const state samples[] = {
        {.phase = STATE_READY},
        {.phase = STATE_READY, .epoch = UINT64_MAX},
        {.phase = STATE_DROPPING},
        {.phase = STATE_ROTATING, .epoch = 7, .nonce = "0123456789abcdef", .capacity = 99, .error = 1e-9, .keep = true},
        {.phase = STATE_ROTATING, .epoch = UINT64_MAX, .nonce = "ffffffffffffffff", .capacity = UINT64_MAX},
    };
    char text[STATE_ROOM];
    state again;
    (void)context;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        state_write(&samples[i], text);
        assert_true(reads_state(&again, text));
        assert_memory_equal(&again, &samples[i], sizeof again);
    }
}

static void no_other_state_can_be_read(void **context)
{
    static const char *const wrong[] = {
        "",
        " ",
        "ready",
        "ready ",
        "ready  1",
        "ready 1 ",
        "ready 1 2",
        "ready -1",
        "ready x",
        "Ready 1",
        "dropping ",
        "dropping 1",
        "rotating",
        "rotating 1",
        "rotating 1 0123456789abcdef 1 0",
        "rotating 1 0123456789abcdef 1 0 2",
        "rotating 1 0123456789abcdef 1 0 1 ",
        "rotating 1 0123456789abcde 1 0 1",
        "rotating 1 0123456789abcdef x 0 1",
        "rotating 1 0123456789abcdef 1 -1 1",
        "rotating 1 0123456789abcdef 1 1 1",
        "rotating 1 0123456789abcdef 1 0 1 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789a"
        "bcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    };
    state state;
    (void)context;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check(!reads_state(&state, wrong[i]), "'%s' was read", wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_can_be_read),
        cmocka_unit_test(the_text_is_this),
        cmocka_unit_test(any_other_text_is_refused),
        cmocka_unit_test(no_damage_makes_a_record_that_cannot_be_written),
        cmocka_unit_test(differences_are_named_and_secrets_are_not_compared),
        cmocka_unit_test(numbers_are_the_same_in_all_locales),
        cmocka_unit_test(states_can_be_read_again),
        cmocka_unit_test(no_other_state_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
