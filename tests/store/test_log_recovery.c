/* Logs that were cut, damaged, mixed up or forged: whatever is whole is handed out, and nothing else. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "hash/sip.h"
#include "store/log_cases.h"
#include "support/runner.h"

enum { RECORDS = 12 };

static test_scratch folder;
static log_seen seen;

/* A log as bytes: with the records 1 to count, and where each begins; ends[0] is the head's. */
typedef struct image {
    unsigned char *data;
    size_t size;
    uint64_t generation;
    uint64_t ends[1 + RECORDS];
} image;

static image make_image(uint32_t count)
{
    image made;
    test_scratch_empty(&folder);
    log_make(&folder, count);
    made.data = test_file_load(&folder, LOG_NAME, &made.size);
    made.generation = vidi__load64(made.data + 16);
    made.ends[0] = VIDI__LOG_HEAD;
    for (uint32_t i = 1; i <= count; i++)
        made.ends[i] = made.ends[i - 1] + log_bytes(i);
    assert_int_equal(made.ends[count], made.size);
    return made;
}

static int read_image(const unsigned char *data, size_t size, vidi__log_found *found)
{
    test_file_save(&folder, LOG_NAME, data, size);
    return log_read(&folder, &seen, found);
}

/* The head of a record as it must be at this place, without regard to what follows. */
static void forge_head(const image *in, uint64_t offset, uint32_t type, uint64_t payload)
{
    vidi__store32(in->data + offset, vidi__log_check_value(in->generation, offset, type, payload));
    vidi__store32(in->data + offset + 4, type);
    vidi__store64(in->data + offset + 8, payload);
}

static void a_cut_loses_only_what_was_cut(void **state)
{
    (void)state;
    image whole = make_image(RECORDS);
    for (size_t size = whole.size + 1; size-- > 0;) { /* downwards: memory may still hold what the file does not */
        vidi__log_found found;
        size_t expected = 0;
        while (expected < RECORDS && whole.ends[expected + 1] <= size)
            expected++;
        assert_int_equal(read_image(whole.data, size, &found), VIDI_OK);
        assert_int_equal(found.headless, size < VIDI__LOG_HEAD);
        check(seen.count == expected && found.records == expected, "%zu bytes: %zu records of %zu", size, seen.count,
              expected);
        assert_int_equal(found.damaged + found.stretches, 0);
        assert_int_equal(found.bytes, found.headless ? 0 : whole.ends[expected]);
        assert_int_equal(found.unfinished, found.headless ? 0 : size - whole.ends[expected]);
    }
    free(whole.data);
}

static size_t record_of(const image *whole, size_t at)
{
    size_t number = 1;
    while (whole->ends[number] <= at)
        number++;
    return number;
}

static void a_changed_bit_loses_at_most_one_record(void **state)
{
    (void)state;
    image whole = make_image(RECORDS);
    for (size_t bit = 0; bit < 8 * whole.size; bit++) {
        vidi__log_found found;
        size_t at = bit / 8;
        whole.data[at] ^= (unsigned char)(1 << bit % 8);
        int code = read_image(whole.data, whole.size, &found);
        whole.data[at] ^= (unsigned char)(1 << bit % 8);
        if (at < VIDI__LOG_HEAD) {
            check(code == VIDI_OK && seen.count == RECORDS && found.damaged == VIDI__LOG_HEAD && found.damaged_at == 0,
                  "bit %zu of the head: %d", bit, code);
            continue;
        }
        size_t number = record_of(&whole, at), lost = whole.ends[number] - whole.ends[number - 1];
        assert_int_equal(code, VIDI_OK);
        check(seen.count == RECORDS - 1 && !log_saw(&seen, (uint32_t)number), "bit %zu: %zu records", bit, seen.count);
        assert_int_equal(found.damaged, number == RECORDS ? 0 : lost);
        assert_int_equal(found.stretches, number != RECORDS);
        assert_int_equal(found.unfinished, number == RECORDS ? lost : 0);
    }
    free(whole.data);
}

static void a_changed_head_without_records_is_a_leftover(void **state)
{
    (void)state;
    image whole = make_image(0);
    for (size_t bit = 0; bit < 8 * whole.size; bit++) {
        vidi__log_found found;
        whole.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(read_image(whole.data, whole.size, &found), VIDI_OK);
        assert_true(found.headless && found.bytes == 0);
        whole.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(whole.data);
    whole = make_image(1); /* with the first byte of a record it is damage */
    for (size_t bit = 0; bit < (size_t)8 * VIDI__LOG_HEAD; bit++) {
        vidi__log_found found;
        whole.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(read_image(whole.data, VIDI__LOG_HEAD + 1, &found), VIDI_OK);
        assert_true(!found.headless && found.damaged == VIDI__LOG_HEAD && found.unfinished == 1);
        whole.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(whole.data);
}

/* What is invalid below the length that was on disk is damage, and above it what a crash has left. */
static void damage_is_what_was_on_disk(void **state)
{
    (void)state;
    image whole = make_image(RECORDS);
    vidi__memory memory = log_memory();
    vidi__log_found found;
    size_t from = whole.ends[3], to = whole.ends[4];
    whole.data[from + 20] ^= 1;
    test_file_save(&folder, LOG_NAME, whole.data, whole.size);
    for (size_t i = 0; i <= RECORDS; i++) {
        seen.count = 0;
        assert_int_equal(vidi__log_read(&memory, folder.handle, &log_id, whole.ends[i], log_see, &seen, &found),
                         VIDI_OK);
        assert_int_equal(seen.count, RECORDS - 1); /* no valid record is left out in either case */
        assert_int_equal(found.damaged, whole.ends[i] > from ? to - from : 0);
        assert_int_equal(found.damaged_at, found.damaged ? from : 0);
        assert_int_equal(found.unfinished, found.damaged ? 0 : to - from);
        assert_int_equal(found.intact, from);
    }
    whole.data[from + 20] ^= 1; /* a file that ends before that length */
    for (size_t i = 0; i < RECORDS; i++) {
        seen.count = 0;
        test_file_save(&folder, LOG_NAME, whole.data, whole.ends[i]);
        assert_int_equal(vidi__log_read(&memory, folder.handle, &log_id, whole.size, log_see, &seen, &found), VIDI_OK);
        assert_int_equal(found.damaged, whole.size - whole.ends[i]);
        assert_int_equal(found.damaged_at, whole.ends[i]);
        assert_int_equal(found.unfinished, 0);
    }
    free(whole.data);
}

static void what_follows_the_last_record_is_unfinished(void **state)
{
    (void)state;
    image whole = make_image(RECORDS);
    enum { MOST = 5000 };
    unsigned char *longer = malloc(whole.size + MOST);
    test_random random = {1};
    for (int kind = 0; kind < 3; kind++) {
        memcpy(longer, whole.data, whole.size);
        for (size_t i = 0; i < MOST; i++)
            longer[whole.size + i] = kind == 0 ? 0 : kind == 1 ? 0xff : (unsigned char)test_next(&random);
        for (size_t tail = 1; tail <= MOST; tail += tail < 100 ? 1 : 97) {
            vidi__log_found found;
            assert_int_equal(read_image(longer, whole.size + tail, &found), VIDI_OK);
            assert_int_equal(seen.count, RECORDS);
            assert_int_equal(found.bytes, whole.size);
            assert_int_equal(found.unfinished, tail);
            assert_int_equal(found.damaged + found.stretches, 0);
        }
    }
    free(longer);
    free(whole.data);
}

static void records_behind_damage_are_found(void **state)
{
    (void)state;
    image whole = make_image(RECORDS);
    unsigned char *copy = malloc(whole.size);
    test_random random = {2};
    for (int turn = 0; turn < 2000; turn++) {
        vidi__log_found found;
        bool hit[RECORDS + 2] = {0};
        uint64_t expected = 0, damaged = 0, stretches = 0;
        memcpy(copy, whole.data, whole.size);
        for (int i = 0; i < 3; i++) {
            size_t at = VIDI__LOG_HEAD + test_below(&random, whole.size - VIDI__LOG_HEAD);
            size_t length = 1 + test_below(&random, 100), kind = test_below(&random, 3);
            for (size_t k = at; k < at + length && k < whole.size; k++)
                copy[k] = (unsigned char)(kind == 0 ? 0u : kind == 1 ? copy[k] ^ 0xffu : test_next(&random));
        }
        for (size_t k = VIDI__LOG_HEAD; k < whole.size; k++)
            hit[record_of(&whole, k)] |= copy[k] != whole.data[k];
        size_t last = RECORDS;
        while (last && hit[last])
            last--;
        for (size_t i = 1; i <= RECORDS; i++)
            expected += !hit[i];
        for (size_t i = 1; i <= last; i++) {
            damaged += hit[i] ? whole.ends[i] - whole.ends[i - 1] : 0;
            stretches += hit[i] && !hit[i - 1];
        }
        assert_int_equal(read_image(copy, whole.size, &found), VIDI_OK);
        check(seen.count == expected, "turn %d: %zu records of %d", turn, seen.count, (int)expected);
        assert_int_equal(found.damaged, damaged);
        assert_int_equal(found.stretches, stretches);
        assert_int_equal(found.unfinished, whole.size - whole.ends[last]);
    }
    free(copy);
    free(whole.data);
}

static void records_of_another_log_do_not_fit(void **state)
{
    (void)state;
    vidi__log_found found;
    image one = make_image(RECORDS), two = make_image(RECORDS);
    size_t from = one.ends[3], length = one.ends[4] - from;
    memcpy(one.data + from, two.data + from, length);
    assert_int_equal(read_image(one.data, one.size, &found), VIDI_OK);
    assert_int_equal(seen.count, RECORDS - 1);
    assert_int_equal(found.damaged, length);
    free(one.data);
    free(two.data);
}

static void records_do_not_fit_elsewhere(void **state)
{
    (void)state;
    vidi__log_found found;
    image whole = make_image(RECORDS);
    for (size_t number = 1; number <= RECORDS; number++) {
        size_t length = whole.ends[number] - whole.ends[number - 1];
        unsigned char *longer = malloc(whole.size + length);
        memcpy(longer, whole.data, whole.size);
        memcpy(longer + whole.size, whole.data + whole.ends[number - 1], length);
        assert_int_equal(read_image(longer, whole.size + length, &found), VIDI_OK);
        assert_int_equal(seen.count, RECORDS);
        assert_int_equal(found.unfinished, length);
        free(longer);
    }
    free(whole.data);
}

static void logs_of_others_are_refused(void **state)
{
    (void)state;
    image whole = make_image(3);
    vidi__memory memory = log_memory();
    vidi__log_found found;
    for (int field = 0; field < 3; field++) {
        vidi__log_id other = log_id;
        other.epoch += field == 0;
        other.identity += field == 1;
        other.number += field == 2;
        if (field == 2)
            test_file_save(&folder, "log.000000000000002b", whole.data, whole.size);
        seen.count = 0;
        int code = vidi__log_read(&memory, folder.handle, &other, VIDI__LOG_UNKNOWN, log_see, &seen, &found);
        assert_int_equal(code, VIDI_EDIFFERS);
        assert_int_equal(seen.count, 0);
    }
    vidi__log_id absent = log_id;
    absent.number = 99;
    assert_int_equal(vidi__log_read(&memory, folder.handle, &absent, VIDI__LOG_UNKNOWN, log_see, &seen, &found),
                     VIDI_EABSENT);
    free(whole.data);
}

static void other_versions_are_refused_by_name(void **state)
{
    (void)state;
    static const uint64_t no_key[2] = {0, 0};
    image whole = make_image(3);
    vidi__log_found found;
    vidi_str head = {(const char *)whole.data, 56};
    whole.data[8] = 3;
    vidi__store64(whole.data + 56, vidi__siphash(no_key, &head, 1, 1, 3).lo);
    assert_int_equal(read_image(whole.data, whole.size, &found), VIDI_EFORMAT);
    assert_non_null(strstr(vidi_message(), "version 3"));
    free(whole.data);
}

static int see_old(void *context, uint32_t type, vidi_str payload)
{
    static const char *const starts[] = {"", "http://example.com/", "\0\1\2\3", "xxxxxxx", "0123456789abcdef012"};
    static const size_t lengths[] = {0, 19, 64, 7, 128};
    uint32_t *count = context;
    assert_int_equal(type, ++*count);
    assert_true(type <= VIDI__COUNT(lengths) && payload.len == lengths[type - 1]);
    assert_memory_equal(payload.ptr, starts[type - 1], payload.len < 20 ? payload.len : type == 3 ? 4 : 19);
    return VIDI_OK;
}

/* This file was written by another program, after the drawing in log.h. */
static void the_format_is_what_it_was(void **state)
{
    (void)state;
    const char *source = getenv("VIDI_SOURCE");
    static const vidi__log_id old_id = {.number = 1, .epoch = 2, .identity = 3};
    test_scratch corpus = {.handle = -1};
    vidi__memory memory = log_memory();
    vidi__log_found found;
    size_t size;
    uint32_t count = 0;
    if (!source)
        skip();
    snprintf(corpus.path, sizeof corpus.path, "%s/fuzz/corpus/log", source);
    corpus.handle = open(corpus.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unsigned char *old = test_file_load(&corpus, "whole", &size);
    test_file_save(&folder, "log.0000000000000001", old, size);
    assert_int_equal(vidi__log_read(&memory, folder.handle, &old_id, VIDI__LOG_UNKNOWN, see_old, &count, &found),
                     VIDI_OK);
    assert_int_equal(found.records, 5);
    assert_int_equal(found.bytes, size);
    close(corpus.handle);
    free(old);
}

static int stop_at_third(void *context, uint32_t number, vidi_str payload)
{
    (void)payload;
    *(uint32_t *)context = number;
    return number == 3 ? VIDI_ELIMIT : VIDI_OK;
}

static void a_visitor_ends_the_reading(void **state)
{
    (void)state;
    image whole = make_image(RECORDS);
    vidi__memory memory = log_memory();
    vidi__log_found found;
    uint32_t last = 0;
    int code = vidi__log_read(&memory, folder.handle, &log_id, VIDI__LOG_UNKNOWN, stop_at_third, &last, &found);
    assert_int_equal(code, VIDI_ELIMIT);
    assert_int_equal(last, 3);
    assert_int_equal(vidi__memory_used(&memory), 0);
    free(whole.data);
}

/* ---- enemies ---- */

static image forged(size_t size)
{
    image made = {.data = calloc(1, size), .size = size, .generation = 12345};
    assert_non_null(made.data);
    vidi__log_head_write(made.data, &log_id, made.generation);
    return made;
}

/* Every second word begins a record that reaches to the end, and none of them is right. */
static void a_file_that_is_made_to_be_slow_is_refused(void **state)
{
    (void)state;
    vidi__log_found found;
    image slow = forged((size_t)8 << 20);
    for (uint64_t offset = VIDI__LOG_HEAD; offset + 24 <= slow.size; offset += 16)
        forge_head(&slow, offset, 1, slow.size - offset - 24);
    assert_int_equal(read_image(slow.data, slow.size, &found), VIDI_EFORMAT);
    assert_non_null(strstr(vidi_message(), "slow"));
    free(slow.data);
}

/* As many small ones as there is room for cost no more than twice the file. */
static void many_small_forged_heads_are_put_up_with(void **state)
{
    (void)state;
    vidi__log_found found;
    image many = forged((size_t)1 << 20);
    uint64_t offset = VIDI__LOG_HEAD;
    for (; offset + 24 <= many.size - 24; offset += 16)
        forge_head(&many, offset, 1, 8);
    offset = many.size - 24;
    forge_head(&many, offset, 51, 0); /* number 51 is empty */
    vidi__store64(many.data + offset + 16, vidi__log_checksum(many.generation, offset, many.data + offset, 16));
    assert_int_equal(log_size(51), 0);
    assert_int_equal(read_image(many.data, many.size, &found), VIDI_OK);
    assert_int_equal(seen.count, 1);
    assert_int_equal(found.damaged, many.size - 24 - VIDI__LOG_HEAD);
    free(many.data);
}

/* The last byte of a record is missing, and is the one that memory holds where the file has ended. */
static void what_is_behind_the_end_is_not_believed(void **state)
{
    (void)state;
    vidi__log_found found;
    enum { PAYLOAD = 400, BODY = VIDI__LOG_RECORD_HEAD + PAYLOAD };
    image cut = forged(VIDI__LOG_HEAD + BODY + VIDI__LOG_CHECK);
    unsigned char *record = cut.data + VIDI__LOG_HEAD;
    memset(record + VIDI__LOG_RECORD_HEAD, 0x5a, PAYLOAD);
    for (uint32_t type = 0; record[BODY + 7] != 0x5a; type++) {
        forge_head(&cut, VIDI__LOG_HEAD, type, PAYLOAD);
        vidi__store64(record + BODY, vidi__log_checksum(cut.generation, VIDI__LOG_HEAD, record, BODY));
    }
    assert_int_equal(read_image(cut.data, cut.size - 1, &found), VIDI_OK);
    assert_int_equal(found.records, 0);
    assert_int_equal(found.unfinished, BODY + 7);
    free(cut.data);
}

static int ignore(void *context, uint32_t type, vidi_str payload)
{
    (void)type;
    *(uint64_t *)context += payload.len;
    return VIDI_OK;
}

/* Peak of memory while the file in the folder is read. */
static uint64_t peak(size_t *largest)
{
    test_allocator allocator;
    vidi__memory memory;
    vidi__log_found found;
    uint64_t sum = 0;
    test_allocator_init(&allocator);
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    assert_int_equal(vidi__log_read(&memory, folder.handle, &log_id, VIDI__LOG_UNKNOWN, ignore, &sum, &found), VIDI_OK);
    uint64_t bytes = test_allocator_peak(&allocator);
    *largest = (size_t)allocator.largest;
    test_allocator_finish(&allocator);
    return bytes;
}

static void memory_is_bounded_by_the_file(void **state)
{
    (void)state;
    size_t largest;
    static const uint64_t announced[] = {UINT64_MAX,           UINT64_MAX - 23, UINT64_MAX / 2,
                                         VIDI__LOG_RECORD_MAX, 1 << 20,         977};
    for (size_t i = 0; i < VIDI__COUNT(announced); i++) {
        image liar = forged(1000);
        forge_head(&liar, VIDI__LOG_HEAD, 1, announced[i]);
        test_file_save(&folder, LOG_NAME, liar.data, liar.size);
        uint64_t bytes = peak(&largest);
        check(bytes <= 1000, "%llu bytes", (unsigned long long)bytes);
        free(liar.data);
    }
    /* Records of growing sizes: each needs a larger window. */
    vidi__memory memory = log_memory();
    vidi__log *log;
    char *data = calloc(1, (size_t)3 << 20);
    test_scratch_empty(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    for (size_t size = 1000; size <= (size_t)3 << 20; size += size / 3) {
        uint64_t position;
        vidi_str piece = {data, size};
        assert_int_equal(vidi__log_reserve(log, size), VIDI_OK);
        vidi__log_append(log, 1, &piece, 1, size, &position);
    }
    uint64_t end = vidi__log_end(log);
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    check(peak(&largest) <= end, "%zu bytes at once", largest);
    check(largest < (size_t)7 << 20, "%zu bytes at once", largest);
    free(data);
}

static void memory_that_is_not_there_is_no_crash(void **state)
{
    (void)state;
    image whole = make_image(RECORDS);
    vidi__log_found found;
    test_allocator allocator;
    vidi__memory memory;
    test_allocator_init(&allocator);
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    test_allocator_fail(&allocator, 1, true);
    seen.count = 0;
    assert_int_equal(vidi__log_read(&memory, folder.handle, &log_id, VIDI__LOG_UNKNOWN, log_see, &seen, &found),
                     VIDI_EMEMORY);
    test_allocator_finish(&allocator);
    free(whole.data);
}

/* docs/FORMAT.md: generation, offset and length as u64, the type as u32, in the order of the record. */
static void a_check_value_is_as_the_format_says(void **state)
{
    (void)state;
    static const uint64_t no_key[2] = {0, 0};
    static const unsigned char bytes[] = {1, 2, 3, 4,    5,    6,    7,    8,    0x40, 0, 0, 0, 0, 0,
                                          0, 0, 5, 0x30, 0x20, 0x10, 0xe8, 0x03, 0,    0, 0, 0, 0, 0};
    vidi_str text = {(const char *)bytes, sizeof bytes};
    assert_int_equal(vidi__log_check_value(UINT64_C(0x0807060504030201), 64, UINT32_C(0x10203005), 1000),
                     (uint32_t)vidi__siphash(no_key, &text, 1, 1, 3).lo);
}

int main(int argc, char **argv)
{
    test_scratch_make(&folder);
    test_add("a cut loses only what was cut", a_cut_loses_only_what_was_cut, NULL);
    test_add("a changed bit loses at most one record", a_changed_bit_loses_at_most_one_record, NULL);
    test_add("a changed head without records is a leftover", a_changed_head_without_records_is_a_leftover, NULL);
    test_add("damage is what was on disk", damage_is_what_was_on_disk, NULL);
    test_add("what follows the last record is unfinished", what_follows_the_last_record_is_unfinished, NULL);
    test_add("records behind damage are found", records_behind_damage_are_found, NULL);
    test_add("records of another log do not fit", records_of_another_log_do_not_fit, NULL);
    test_add("records do not fit elsewhere", records_do_not_fit_elsewhere, NULL);
    test_add("logs of others are refused", logs_of_others_are_refused, NULL);
    test_add("other versions are refused by name", other_versions_are_refused_by_name, NULL);
    test_add("the format is what it was", the_format_is_what_it_was, NULL);
    test_add("a visitor ends the reading", a_visitor_ends_the_reading, NULL);
    test_add("a file that is made to be slow is refused", a_file_that_is_made_to_be_slow_is_refused, NULL);
    test_add("many small forged heads are put up with", many_small_forged_heads_are_put_up_with, NULL);
    test_add("what is behind the end is not believed", what_is_behind_the_end_is_not_believed, NULL);
    test_add("memory is bounded by the file", memory_is_bounded_by_the_file, NULL);
    test_add("memory that is not there is no crash", memory_that_is_not_there_is_no_crash, NULL);
    test_add("a check value is as the format says", a_check_value_is_as_the_format_says, NULL);
    int result = test_run("store/log_recovery", argc, argv);
    test_scratch_remove(&folder);
    return result;
}
