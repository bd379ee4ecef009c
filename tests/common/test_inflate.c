/*
 * Inflating, step by step.
 */
#include <string.h>

#include "common/inflate.h"
#include "support/check.h"

#if VIDI_HAVE_ZLIB
#include <zlib.h>

enum { PLAIN = 20000, PACKED = 40000 };

static char plain[PLAIN];

/* Packs the text once, in zlib's numbers for the formats. */
static size_t pack(char packed[PACKED], int window)
{
    z_stream stream = {0};
    for (size_t i = 0; i < PLAIN; i++)
        plain[i] = (char)(i * i >> 7);
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)plain;
    stream.avail_in = PLAIN;
    stream.next_out = (unsigned char *)packed;
    stream.avail_out = PACKED;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return PACKED - stream.avail_out;
}

/* Inflates one member, with so many bytes of input and room a step. Returns what the last step said. */
static inflate_result unpack(inflater *self, inflate_window *window, size_t step, char *to)
{
    size_t done = 0, left = window->from_left;
    inflate_result result = INFLATE_GOES_ON;
    for (size_t idle = 0; idle < 3 && (result == INFLATE_GOES_ON || result == INFLATE_WAITS);) {
        size_t input = left < step ? left : step, room = PLAIN - done < step ? PLAIN - done : step;
        window->from_left = input;
        window->to = to + done;
        window->to_left = room;
        result = inflater_step(self, window);
        idle = input == window->from_left && room == window->to_left ? idle + 1 : 0;
        left -= input - window->from_left;
        done += room - window->to_left;
    }
    window->from_left = left;
    return result;
}

static void every_format_unpacks_in_steps_of_any_size(void **state)
{
    static const int windows[] = {[INFLATE_GZIP] = 15 + 16, [INFLATE_ZLIB] = 15, [INFLATE_RAW] = -15};
    static const size_t steps[] = {1, 7, 4096, PLAIN};
    char packed[PACKED], to[PLAIN];
    (void)state;
    assert_true(inflate_is_built());
    for (inflate_format format = INFLATE_GZIP; format <= INFLATE_RAW; format++)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            inflate_window window = {.from = packed, .from_left = pack(packed, windows[format])};
            inflater *self = inflater_open(format);
            assert_non_null(self);
            assert_int_equal(unpack(self, &window, steps[i], to), INFLATE_ENDS);
            assert_int_equal(window.from_left, 0);
            assert_memory_equal(to, plain, PLAIN);
            inflater_close(self);
        }
    inflater_close(NULL);
}

static void a_member_ends_before_what_follows_it(void **state)
{
    char packed[PACKED], to[PLAIN];
    size_t n = pack(packed, 15 + 16);
    inflate_window window = {.from = packed, .from_left = 2 * n + 1};
    inflater *self = inflater_open(INFLATE_GZIP);
    (void)state;
    memcpy(packed + n, packed, n);
    packed[2 * n] = packed[0];
    assert_int_equal(unpack(self, &window, PLAIN, to), INFLATE_ENDS);
    assert_ptr_equal(window.from, packed + n);
    assert_int_equal(window.from_left, n + 1);
    inflater_reset(self);
    assert_int_equal(unpack(self, &window, PLAIN, to), INFLATE_ENDS);
    assert_int_equal(window.from_left, 1);
    inflater_close(self);
}

static void damage_is_told_from_an_early_end(void **state)
{
    char packed[PACKED], to[PLAIN];
    size_t n = pack(packed, 15 + 16);
    inflate_window window = {.from = packed, .from_left = n - 1};
    inflater *self = inflater_open(INFLATE_GZIP);
    (void)state;
    assert_int_equal(unpack(self, &window, PLAIN, to), INFLATE_WAITS);
    inflater_reset(self);
    packed[n - 8] ^= 1; /* the checksum */
    window = (inflate_window){.from = packed, .from_left = n};
    assert_int_equal(unpack(self, &window, PLAIN, to), INFLATE_DAMAGED);
    assert_non_null(window.why);
    inflater_close(self);
}
#else
static void without_zlib_it_says_so(void **state)
{
    (void)state;
    assert_false(inflate_is_built());
    assert_null(inflater_open(INFLATE_GZIP));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if VIDI_HAVE_ZLIB
        cmocka_unit_test(every_format_unpacks_in_steps_of_any_size),
        cmocka_unit_test(a_member_ends_before_what_follows_it),
        cmocka_unit_test(damage_is_told_from_an_early_end),
#else
        cmocka_unit_test(without_zlib_it_says_so),
#endif
    };
    return cmocka_run_group_tests_name("inflate", tests, NULL, NULL);
}
