/*
 * Streams with correct checksums that lie about the layers of the kind blocked: their number, rows, lines, URLs and
 * marks.
 */
#include <math.h>
#include <string.h>

#include "set/forged/forged_cases.h"
#include "support/runner.h"

/* A layer in a payload. */
typedef struct layer {
    size_t at; /* four numbers, and the marks of each partition */
    uint64_t rows, lines, urls, count;
    size_t words, end;
    uint64_t marked;
} layer;

enum { ROWS = 0, LINES = 8, URLS = 16, COUNT = 24, MARKED = 32, WORDS = 32 + 64 * 8 };

static layer layer_at(const test_forge *forge, size_t at)
{
    layer found = {.at = at,
                   .rows = test_forge_get(forge, at + ROWS),
                   .lines = test_forge_get(forge, at + LINES),
                   .urls = test_forge_get(forge, at + URLS),
                   .count = test_forge_get(forge, at + COUNT),
                   .words = at + WORDS};
    found.end = found.words + 64 * found.rows * found.lines;
    for (size_t word = found.words; word < found.end; word += 8) {
        found.marked += (uint64_t)__builtin_popcountll(test_forge_get(forge, word));
    }
    return found;
}

/* Two layers of two lines; the second one has few URLs. */
static test_forge two_layers(layer found[2])
{
    test_forge forge = forge_of("blocked", "lines=2", 1000, 0.01, 1200);
    size_t at = test_forge_find(&forge).filter.contents;
    assert_int_equal(test_forge_get(&forge, at), 2);
    found[0] = layer_at(&forge, at + 8);
    found[1] = layer_at(&forge, found[0].end);
    assert_int_equal(found[1].end, forge.size);
    assert_int_equal(found[0].count, 1001);
    return forge;
}

static void the_truth_is_accepted(void **state)
{
    layer found[2];
    test_forge forge = two_layers(found);
    (void)state;
    must_be_accepted(&forge, "two layers");
    test_forge_free(&forge);
    forge = forge_of("blocked", NULL, 0, 0, 0);
    must_be_accepted(&forge, "an empty set");
    test_forge_free(&forge);
}

static void the_number_of_layers_is_not_believed(void **state)
{
    static const uint64_t lies[] = {0, 1, 3, 26, 27, 1000, (uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX};
    layer found[2];
    test_forge forge = two_layers(found);
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        refuse_number(&forge, test_forge_find(&forge).filter.contents, lies[i], "layers");
    }
    test_forge_free(&forge);
}

/* What no memory holds may also be refused as that, if the stream's length is not known. */
static void refuse_size(test_forge *forge, size_t at, uint64_t value)
{
    uint64_t kept = test_forge_get(forge, at), largest;
    test_forge_put(forge, at, value);
    int known = read_with(forge, true, 0, &largest);
    check(known == VIDI_EFORMAT && largest <= MOST_AT_ONCE, "size %llu: %d", (unsigned long long)value, known);
    int unknown = read_with(forge, false, 0, &largest);
    check((unknown == VIDI_EFORMAT || unknown == VIDI_ELIMIT) && largest <= MOST_AT_ONCE, "size %llu, unknown: %d, %s",
          (unsigned long long)value, unknown, vidi_message());
    test_forge_put(forge, at, kept);
}

static void rows_and_lines_are_not_believed(void **state)
{
    layer found[2];
    test_forge forge = two_layers(found);
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t rows[] = {0, 1, 63, found[i].rows - 1, found[i].rows + 1, 2 * found[i].rows, 100000};
        const uint64_t sizes[] = {(uint64_t)1 << 36, (uint64_t)1 << 50, ((uint64_t)1 << 50) + 1,
                                  (uint64_t)1 << 57, (uint64_t)1 << 58, (uint64_t)1 << 63,
                                  UINT64_MAX};
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
            if (rows[j] != found[i].rows) {
                refuse_number(&forge, found[i].at + ROWS, rows[j], "rows");
            }
        }
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            refuse_size(&forge, found[i].at + ROWS, sizes[j]);
        }
        for (uint64_t lines = 0; lines < 70; lines++) {
            if (lines != 2) {
                refuse_number(&forge, found[i].at + LINES, lines, "lines");
            }
        }
        refuse_number(&forge, found[i].at + LINES, UINT64_MAX, "lines");
        refuse_number(&forge, found[i].at + LINES, ((uint64_t)1 << 32) + 2, "lines");
    }
    test_forge_free(&forge);
}

/* A layer with as many lines as another number of rows would have, in a set that leaves the lines to each layer. */
static void lines_must_be_those_that_the_parameters_name(void **state)
{
    layer found[2];
    test_forge forge = two_layers(found);
    size_t filter = test_forge_find(&forge).filter.kind;
    (void)state;
    test_forge_param(&forge, filter, "lines", "1");
    must_be_refused(&forge, "lines=1", 0);
    test_forge_param(&forge, filter, "lines", "4");
    must_be_refused(&forge, "lines=4", 0);
    test_forge_param(&forge, filter, "lines", "9");
    must_be_refused(&forge, "lines=9", 0);
    test_forge_param(&forge, filter, "lines", "auto");
    must_be_accepted(&forge, "lines=auto"); /* any lines may be what their shares once asked for */
    test_forge_param(&forge, filter, "hash", "jenkins");
    must_be_refused(&forge, "hash=jenkins", 0);
    test_forge_free(&forge);
}

static void the_number_of_urls_must_fit_the_marks(void **state)
{
    layer found[2];
    test_forge forge = two_layers(found);
    size_t total = test_forge_find(&forge).filter.count;
    (void)state;
    assert_int_equal(test_forge_get(&forge, total), found[0].count + found[1].count);
    refuse_number(&forge, total, 0, "all URLs");
    refuse_number(&forge, total, found[0].count, "all URLs");
    refuse_number(&forge, total, UINT64_MAX, "all URLs");
    for (unsigned i = 0; i < 2; i++) {
        uint64_t least = (found[i].marked + 15) / 16, others = found[1 - i].count;
        const uint64_t lies[] = {0, least - 1, found[i].marked + 1, (uint64_t)1 << 40, UINT64_MAX};
        for (size_t j = 0; j < sizeof lies / sizeof *lies; j++) { /* also where the sum is forged with it */
            refuse_number(&forge, found[i].at + COUNT, lies[j], "URLs");
            test_forge_put(&forge, total, lies[j] + others);
            refuse_number(&forge, found[i].at + COUNT, lies[j], "URLs and their sum");
            test_forge_put(&forge, total, found[0].count + found[1].count);
        }
        test_forge_put(&forge, found[i].at + COUNT, least);
        test_forge_put(&forge, total, least + others);
        must_be_accepted(&forge, "as few URLs as could have made the marks");
        test_forge_put(&forge, found[i].at + COUNT, found[i].count);
        test_forge_put(&forge, total, found[0].count + found[1].count);
        refuse_number(&forge, found[i].at + URLS, 0, "room");
        refuse_number(&forge, found[i].at + URLS, ((uint64_t)1 << 62) + 1, "room");
        refuse_number(&forge, found[i].at + URLS, UINT64_MAX, "room");
    }
    must_be_accepted(&forge, "two layers");
    test_forge_free(&forge);
}

static void marks_must_fit_the_number_of_urls(void **state)
{
    layer found[2];
    test_forge forge = two_layers(found), copy;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        test_forge_copy(&copy, &forge);
        memset(copy.bytes + found[i].words, 0, found[i].end - found[i].words);
        must_be_refused(&copy, "no marks", i);
        memset(copy.bytes + found[i].words, 0xff, found[i].end - found[i].words);
        must_be_refused(&copy, "all marks", i);
        test_forge_free(&copy);
    }
    test_forge_free(&forge);
}

/* Of each partition, and of all together. */
static void the_number_of_marks_is_not_believed(void **state)
{
    layer found[2];
    test_forge forge = two_layers(found);
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned partition = 0; partition < 64; partition += 21) {
            size_t first = found[i].at + MARKED, at = first + 8 * partition, next = partition ? first : first + 8;
            uint64_t marked = test_forge_get(&forge, at), other = test_forge_get(&forge, next);
            refuse_number(&forge, at, marked + 1, "marks");
            refuse_number(&forge, at, UINT64_MAX, "marks");
            test_forge_put(&forge, next, other + 1); /* the sum is right */
            refuse_number(&forge, at, marked - 1, "marks of two partitions");
            test_forge_put(&forge, next, other);
        }
    }
    must_be_accepted(&forge, "two layers");
    test_forge_free(&forge);
}

/* Room and capacity that were never those of this set are its owner's loss, but they do no harm. */
static void odd_sizes_do_no_harm(void **state)
{
    static const uint64_t odd[] = {1, 2, 1000, 1002, (uint64_t)1 << 40, (uint64_t)1 << 62};
    layer found[2];
    test_forge forge = two_layers(found);
    size_t capacity = test_forge_find(&forge).filter.capacity, error = capacity + 8;
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        test_forge_put(&forge, found[0].at + URLS, odd[i]);
        must_be_accepted(&forge, "room in the first layer");
        test_forge_put(&forge, found[0].at + URLS, found[0].urls);
        test_forge_put(&forge, capacity, odd[i]);
        must_be_accepted(&forge, "capacity");
        test_forge_put(&forge, capacity, 1000);
        test_forge_put(&forge, found[1].at + URLS, odd[i]);
        uint64_t largest; /* the next add may find no memory for what comes then */
        assert_int_equal(read_with(&forge, true, 0, &largest), VIDI_OK);
        test_forge_put(&forge, found[1].at + URLS, found[1].urls);
    }
    refuse_number(&forge, capacity, ((uint64_t)1 << 62) + 1, "capacity");
    refuse_number(&forge, capacity, UINT64_MAX, "capacity");
    uint64_t kept = test_forge_get(&forge, error);
    const double rates[] = {NAN, INFINITY, -1, 1, 2};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        test_forge_put_double(&forge, error, rates[i]);
        must_be_refused(&forge, "error", i);
    }
    test_forge_put(&forge, error, kept);
    must_be_accepted(&forge, "two layers");
    test_forge_free(&forge);
}

/* It ends early, at any place. */
static void nothing_may_be_missing(void **state)
{
    layer found[2];
    test_forge forge = two_layers(found);
    size_t contents = test_forge_find(&forge).filter.contents;
    (void)state;
    for (size_t size = contents; size < forge.size; size += size < contents + 60 ? 4 : 1000) {
        test_forge copy;
        test_forge_copy(&copy, &forge);
        copy.size = size;
        must_be_refused(&copy, "a stream cut off at", size);
        test_forge_free(&copy);
    }
    test_forge_append_u64(&forge, 0);
    must_be_refused(&forge, "a stream that goes on", 0);
    test_forge_free(&forge);
}

int main(int argc, char **argv)
{
    test_add("the truth is accepted", the_truth_is_accepted, NULL);
    test_add("the number of layers is not believed", the_number_of_layers_is_not_believed, NULL);
    test_add("rows and lines are not believed", rows_and_lines_are_not_believed, NULL);
    test_add("lines must be those that the parameters name", lines_must_be_those_that_the_parameters_name, NULL);
    test_add("the number of URLs must fit the marks", the_number_of_urls_must_fit_the_marks, NULL);
    test_add("marks must fit the number of URLs", marks_must_fit_the_number_of_urls, NULL);
    test_add("the number of marks is not believed", the_number_of_marks_is_not_believed, NULL);
    test_add("odd sizes do no harm", odd_sizes_do_no_harm, NULL);
    test_add("nothing may be missing", nothing_may_be_missing, NULL);
    return test_run("forged blocked", argc, argv);
}
