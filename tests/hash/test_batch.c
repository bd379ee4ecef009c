/* Batches give the hashes that the strings have one by one, at every level of the processor, and read nothing else. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/check.h"

#include "hash/functions.h"
#include "hash/sip.h"

#define MOST 1100 /* strings in a batch here: several chunks of every kernel, and a rest */
#define PATTERN 70000

static unsigned char *pattern; /* random bytes, in memory of their own size */
static vidi_str strs[MOST];
static vidi__u128 out[MOST + 1];

static uint64_t next_random(void)
{
    static uint64_t state = 20;
    return vidi__mix(state += UINT64_C(0x9e3779b97f4a7c15));
}

static size_t up_to(size_t most)
{
    return (size_t)vidi__scale(next_random(), most + 1);
}

static int make_pattern(void **state)
{
    (void)state;
    pattern = malloc(PATTERN);
    for (size_t i = 0; pattern && i < PATTERN; i++)
        pattern[i] = (unsigned char)next_random();
    return pattern ? 0 : -1;
}

static int free_pattern(void **state)
{
    (void)state;
    free(pattern);
    return 0;
}

static vidi__hash_key random_key(void)
{
    unsigned char bytes[VIDI_KEY_BYTES];
    vidi__hash_key key;
    vidi__store64(bytes, next_random());
    vidi__store64(bytes + 8, next_random());
    vidi__hash_key_init(&key, bytes);
    return key;
}

/* The first n of strs, by one kernel, against one by one; nothing is written behind the last hash. */
static void check_kernel(vidi__hash_batch_fn *batch, const char *name, const vidi__hash_key *key, size_t n)
{
    memset(out, 0x5a, sizeof out);
    batch(key, strs, n, out);
    for (size_t i = 0; i < n; i++) {
        vidi__u128 alone = vidi__siphash(key->key, &strs[i], 1, 1, 3);
        check(out[i].lo == alone.lo && out[i].hi == alone.hi, "%s: string %zu of %zu, %zu bytes", name, i, n,
              strs[i].len);
    }
    check(out[n].lo == UINT64_C(0x5a5a5a5a5a5a5a5a), "%s: more than %zu hashes written", name, n);
}

/* By every kernel that this machine can run. */
static void check_batch(size_t n)
{
    vidi__hash_key key = random_key();
    for (unsigned level = 0; level < VIDI__CPU_LEVELS; level++)
        if (vidi__cpu_has((vidi__cpu_level)level))
            check_kernel(vidi__sip13_batch((vidi__cpu_level)level), vidi__cpu_name((vidi__cpu_level)level), &key, n);
    check_kernel(vidi__hash_sip13.batch, "the chosen one", &key, n);
}

static void random_strings(size_t n, size_t longest)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = up_to(longest);
        strs[i] = (vidi_str){(const char *)pattern + up_to(PATTERN - len), len};
    }
}

static void all_lengths_mixed(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        for (size_t i = 0; i <= 300; i++)
            strs[i] = (vidi_str){(const char *)pattern + up_to(PATTERN - i), i};
        for (size_t i = 300; i > 0; i--) {
            size_t j = up_to(i);
            vidi_str swap = strs[i];
            strs[i] = strs[j];
            strs[j] = swap;
        }
        check_batch(301);
    }
}

static void all_lengths_alike(void **state)
{
    (void)state;
    for (size_t len = 0; len <= 600; len++) {
        size_t n = len % 10 ? 33 : 600; /* so many that a whole chunk falls into one bucket */
        for (size_t i = 0; i < n; i++)
            strs[i] = (vidi_str){(const char *)pattern + up_to(PATTERN - len), len};
        check_batch(n);
    }
}

static void all_sizes_of_batches(void **state)
{
    (void)state;
    static const size_t longest[] = {0, 7, 40, 120, 300, 700};
    for (size_t n = 0; n <= 70; n++)
        for (size_t i = 0; i < VIDI__COUNT(longest); i++) {
            random_strings(n, longest[i]);
            check_batch(n);
        }
    for (size_t n = 120; n <= MOST; n += 1 + up_to(20)) {
        random_strings(n, 200);
        check_batch(n);
    }
}

/* Strings around the borders where the kernels hash one by one: much longer than the others, or than all lanes take. */
static void a_few_long_strings(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        size_t n = 1 + up_to(300);
        random_strings(n, 100);
        for (size_t some = up_to(20); some > 0; some--) {
            size_t len = round % 2 ? 480 + up_to(60) : up_to(PATTERN);
            strs[up_to(n - 1)] = (vidi_str){(const char *)pattern + up_to(PATTERN - len), len};
        }
        check_batch(n);
    }
}

static void strings_of_megabytes(void **state)
{
    (void)state;
    size_t size = 3 << 20;
    char *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)pattern[i % 65521];
    random_strings(20, 90);
    strs[3] = (vidi_str){bytes, size};
    strs[11] = (vidi_str){bytes + 1, (1 << 20) + 5};
    strs[12] = (vidi_str){bytes + 3, 1 << 20};
    check_batch(20);
    for (size_t i = 0; i < 9; i++)
        strs[i] = (vidi_str){bytes + i, size - 2 * i};
    check_batch(9);
    free(bytes);
}

static void any_alignment(void **state)
{
    (void)state;
    for (size_t offset = 0; offset < 64; offset++) {
        for (size_t i = 0; i < 130; i++)
            strs[i] = (vidi_str){(const char *)pattern + offset + 64 * up_to(900), up_to(150)};
        check_batch(130);
    }
}

/* A page of random bytes between two that cannot be read. */
static char *lonely_page(size_t page)
{
    char *base = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(base != MAP_FAILED);
    memcpy(base + page, pattern, page);
    assert_int_equal(mprotect(base, page, PROT_NONE), 0);
    assert_int_equal(mprotect(base + 2 * page, page, PROT_NONE), 0);
    return base + page;
}

static void nothing_is_read_outside_a_string(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *bytes = lonely_page(page);
    for (size_t len = 0; len <= 600;
         len++) { /* all end where the page ends; neighbours in lanes are shorter or longer */
        for (size_t i = 0; i < 32; i++) {
            size_t its = i % 2 ? len : up_to(len + 40);
            strs[i] = (vidi_str){i % 8 == 7 ? bytes : bytes + page - its, its};
        }
        check_batch(32);
        for (size_t i = 0; i < 32; i++)
            strs[i] = (vidi_str){bytes + page - len, len};
        check_batch(32);
    }
    assert_int_equal(munmap(bytes - page, 3 * page), 0);
}

static void empty_strings_may_be_nowhere(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 70; n++) {
        random_strings(n, 80);
        for (size_t i = 0; i < n; i++)
            if (n % 3 == 0 || i % 3 == 0)
                strs[i] = (vidi_str){NULL, 0};
        check_batch(n);
    }
}

static void every_function_has_a_batch(void **state)
{
    (void)state;
    vidi__hash_key key = random_key();
    const vidi__hash_fn *fn;
    random_strings(100, 200);
    for (size_t f = 0; (fn = vidi__hash_at(f)); f++) {
        assert_non_null(fn->batch);
        vidi__hash_batch(fn, &key, strs, 100, out);
        for (size_t i = 0; i < 100; i++) {
            vidi__u128 alone = vidi__hash(fn, &key, strs[i]);
            check(out[i].lo == alone.lo && out[i].hi == alone.hi, "%s: string %zu", fn->name, i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lengths_mixed),
        cmocka_unit_test(all_lengths_alike),
        cmocka_unit_test(all_sizes_of_batches),
        cmocka_unit_test(a_few_long_strings),
        cmocka_unit_test(strings_of_megabytes),
        cmocka_unit_test(any_alignment),
        cmocka_unit_test(nothing_is_read_outside_a_string),
        cmocka_unit_test(empty_strings_may_be_nowhere),
        cmocka_unit_test(every_function_has_a_batch),
    };
    return cmocka_run_group_tests(tests, make_pattern, free_pattern);
}
