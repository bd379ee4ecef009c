/* The search for hash functions: programs mean what genetic.h says, and what is found is counted right. */
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/thesis/genetic.h"
#include "support/runner.h"

enum { URLS = 300, K = 3, LENGTHS = 70 };

typedef struct some_urls {
    char text[URLS][LAB_URL_ROOM];
    vidi_str urls[URLS];
} some_urls;

static some_urls *make_urls(void)
{
    some_urls *some = calloc(1, sizeof *some);
    assert_non_null(some);
    for (size_t i = 0; i < URLS; i++)
        some->urls[i] = (vidi_str){some->text[i], lab_made_url(some->text[i], 5, 0, i)};
    return some;
}

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

static lab_program any_program(uint64_t *state)
{
    lab_program program = {.count = 1 + (unsigned)(next(state) % LAB_STEPS_MAX)};
    for (unsigned i = 0; i < program.count; i++)
        program.steps[i] = (lab_step){(enum lab_operation)(next(state) % LAB_OPERATIONS),
                                      1 + (unsigned)(next(state) % 63), next(state) << 20 ^ next(state)};
    return program;
}

static void a_program_takes_its_steps_for_each_word_and_for_the_length(void **state)
{
    lab_program program = {4,
                           {{LAB_XOR_WORD, 1, 0}, {LAB_MULTIPLY, 1, 6}, {LAB_ROTATE, 8, 0}, {LAB_ADD_SHIFTED, 4, 0}}};
    uint64_t h = 5;
    (void)state;
    const uint64_t words[] = {UINT64_C(0x6867666564636261), UINT64_C(0x6a69), 10}; /* "abcdefgh", "ij", 10 bytes */
    for (size_t i = 0; i < 3; i++) {
        h = (h ^ words[i]) * 7; /* a constant is made odd */
        h = h << 8 | h >> 56;
        h *= 17;
    }
    assert_true(lab_program_value(&program, 5, (vidi_str){"abcdefghij", 10}) == h);
}

static void many_at_once_are_as_one_by_one(void **state)
{
    LAB_BLOCK;
    static const char text[LENGTHS + 1] = "http://www.example.org/a/long/path/that/is/longer/than/all/the/urls/of";
    vidi_str urls[LENGTHS];
    uint64_t values[LENGTHS], random = 1;
    lab_words words;
    (void)state;
    for (size_t i = 0; i < LENGTHS; i++)
        urls[i] = (vidi_str){text, i * 37 % LENGTHS}; /* lengths in no order, 0 among them */
    assert_int_equal(lab_words_make(&words, urls, LENGTHS), 0);
    for (int i = 0; i < 200; i++) {
        lab_program program = any_program(&random);
        lab_program_values(&program, random, &words, values);
        for (size_t j = 0; j < LENGTHS; j++)
            check(values[j] == lab_program_value(&program, random, urls[j]), "program %d, URL of %zu bytes", i,
                  urls[j].len);
    }
}

/* Counted again with a byte for each place. */
static uint64_t count_lost(const lab_program *program, const uint64_t *salts, const vidi_str *urls, uint64_t m)
{
    unsigned char *marked = calloc(m, 1);
    uint64_t lost = 0;
    assert_non_null(marked);
    for (size_t i = 0; i < URLS; i++) {
        unsigned fresh = 0;
        for (unsigned j = 0; j < K; j++) {
            unsigned __int128 value = lab_program_value(program, salts[j], urls[i]);
            size_t place = (size_t)(value * m >> 64);
            fresh += !marked[place];
            marked[place] = 1;
        }
        lost += fresh == 0;
    }
    free(marked);
    return lost;
}

static void what_is_found_loses_what_is_said_and_no_more_than_the_first(void **state)
{
    LAB_BLOCK;
    const uint64_t m = URLS * K * 2;
    lab_breeding breeding = {20, 10, K, {11, 22, 33}, 99};
    some_urls *some = make_urls();
    lab_bred bred, again;
    lab_words words;
    (void)state;
    assert_int_equal(lab_words_make(&words, some->urls, URLS), 0);
    assert_int_equal(lab_breed(&bred, &breeding, &words, m), 0);
    assert_int_equal(lab_breed(&again, &breeding, &words, m), 0);
    assert_int_equal(bred.first_lost, count_lost(&bred.first, breeding.salts, some->urls, m));
    assert_int_equal(bred.last_lost, count_lost(&bred.last, breeding.salts, some->urls, m));
    check(bred.last_lost < bred.first_lost, "%llu pages lost after %u generations, %llu after the first",
          (unsigned long long)bred.last_lost, breeding.generations, (unsigned long long)bred.first_lost);
    assert_int_equal(again.last_lost, bred.last_lost);
    assert_int_equal(again.last.count, bred.last.count);
    for (unsigned i = 0; i < bred.last.count; i++)
        assert_true(again.last.steps[i].operation == bred.last.steps[i].operation &&
                    again.last.steps[i].shift == bred.last.steps[i].shift &&
                    again.last.steps[i].constant == bred.last.steps[i].constant);
    breeding.start++;
    assert_int_equal(lab_breed(&again, &breeding, &words, m), 0);
    check(again.first.steps[0].constant != bred.first.steps[0].constant, "another start gives the same programs");
    free(some);
}

static void a_value_that_is_always_the_same_loses_all_but_one(void **state)
{
    uint64_t values[K * URLS] = {0};
    (void)state;
    assert_int_equal(lab_lost(values, URLS, K, 1000), URLS - 1);
    for (size_t i = 0; i < URLS; i++) /* as even as can be: no two share a place */
        values[i] = values[URLS + i] = values[2 * URLS + i] = UINT64_MAX / (2 * URLS) * (2 * i + 1);
    assert_int_equal(lab_lost(values, URLS, K, URLS), 0);
}

/* ---- an attacker ---- */

static bool takes_word(const lab_step *step)
{
    return step->operation == LAB_XOR_WORD || step->operation == LAB_ADD_WORD;
}

static unsigned word_steps(const lab_program *program)
{
    unsigned count = 0;
    for (unsigned i = 0; i < program->count; i++)
        count += takes_word(&program->steps[i]);
    return count;
}

/* The state just before the program takes the second word of a URL. Steps are done by a program of one step. */
static uint64_t before_second_word(const lab_program *program, uint64_t salt, const char *first_word)
{
    uint64_t state = salt, word;
    memcpy(&word, first_word, sizeof word);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < program->count; i++) {
            lab_program one = {1, {program->steps[i]}};
            if (takes_word(&program->steps[i]) && round == 1)
                return state;
            if (takes_word(&program->steps[i]))
                state = program->steps[i].operation == LAB_XOR_WORD ? state ^ word : state + word;
            else /* of an empty string only the length is taken, which this step does not look at */
                state = lab_program_value(&one, state, (vidi_str){"", 0});
        }
    return state;
}

/* A program that takes each word in one step: the second word makes up for any change of the first. */
static void who_knows_a_program_and_its_salt_makes_urls_that_collide(void **state)
{
    LAB_BLOCK;
    lab_breeding breeding = {20, 10, K, {11, 22, 33}, 0};
    char one[] = "/article/review1", other[] = "/gallery/........";
    some_urls *some = make_urls();
    lab_words words;
    lab_bred bred = {.first_lost = 0};
    (void)state;
    assert_int_equal(lab_words_make(&words, some->urls, URLS), 0);
    while (word_steps(&bred.last) != 1 && ++breeding.start < 1000)
        assert_int_equal(lab_breed(&bred, &breeding, &words, URLS * K * 2), 0);
    assert_int_equal(word_steps(&bred.last), 1);
    unsigned at = 0;
    while (!takes_word(&bred.last.steps[at]))
        at++;
    uint64_t a = before_second_word(&bred.last, 11, one), b = before_second_word(&bred.last, 11, other), word;
    memcpy(&word, one + 8, sizeof word);
    word = bred.last.steps[at].operation == LAB_XOR_WORD ? a ^ word ^ b : a + word - b;
    memcpy(other + 8, &word, sizeof word);
    assert_memory_not_equal(one, other, 16);
    assert_true(lab_program_value(&bred.last, 11, (vidi_str){one, 16}) ==
                lab_program_value(&bred.last, 11, (vidi_str){other, 16}));
    assert_true(lab_program_value(&bred.last, 12, (vidi_str){one, 16}) !=
                lab_program_value(&bred.last, 12, (vidi_str){other, 16}));
    free(some);
}

int main(int argc, char **argv)
{
    test_add("a program takes its steps for each word and for the length",
             a_program_takes_its_steps_for_each_word_and_for_the_length, NULL);
    test_add("many at once are as one by one", many_at_once_are_as_one_by_one, NULL);
    test_add("what is found loses what is said and no more than the first",
             what_is_found_loses_what_is_said_and_no_more_than_the_first, NULL);
    test_add("a value that is always the same loses all but one", a_value_that_is_always_the_same_loses_all_but_one,
             NULL);
    test_add("who knows a program and its salt makes URLs that collide",
             who_knows_a_program_and_its_salt_makes_urls_that_collide, NULL);
    return test_run("lab/genetic", argc, argv);
}
