/*
 * Hashes what the lines of its input ask for, so that a script can compare with published vectors. A line is
 *
 *   FUNCTION SEED INPUT
 *
 * FUNCTION by its name in the vectors; SEED a decimal number, or the key in hexadecimal for SipHash; INPUT one of
 *
 *   hex:616263   these bytes
 *   count:N      the bytes 0, 1, 2, … modulo 256, N of them
 *   xxh:N        N bytes of the generator that the xxHash project's self-test uses
 *   smhasher     SMHasher's verification: the bytes 0 .. i-1 with seed 256 - i for i from 0 to 255, then all those
 *                results with seed 0
 *
 * The answer is a line with the value's bytes in hexadecimal, lowest first; "absent" for functions that this build
 * lacks; a line that begins with "error" for anything else. Every input is hashed whole and in three pieces, which must
 * give the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hash/functions.h"
#include "hash/sip.h"

enum { INPUT_MAX = 1 << 16, LINE_MAX_BYTES = 2 * INPUT_MAX + 256 };

typedef struct question {
    const char *function;
    const char *seed_text;
    uint64_t seed;
} question;

/* What came of it; more than 16 bytes there are not. */
typedef struct answer {
    const char *error; /* "absent" or a complaint; NULL if there is a value */
    unsigned bytes;
    vidi__u128 value;
} answer;

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* How many bytes; -1 if it is not hexadecimal. */
static long read_hex(const char *text, unsigned char *bytes, long room)
{
    long count = 0;
    for (; text[0]; text += 2) {
        int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);
        if (low < 0 || count == room)
            return -1;
        bytes[count++] = (unsigned char)(high << 4 | low);
    }
    return count;
}

static long read_input(const char *text, unsigned char *bytes)
{
    if (strncmp(text, "hex:", 4) == 0)
        return read_hex(text + 4, bytes, INPUT_MAX);
    bool counted = strncmp(text, "count:", 6) == 0;
    if (!counted && strncmp(text, "xxh:", 4) != 0)
        return -1;
    long length = strtol(text + (counted ? 6 : 4), NULL, 10);
    uint64_t generator = 2654435761;
    if (length < 0 || length > INPUT_MAX)
        return -1;
    for (long i = 0; i < length; i++, generator *= UINT64_C(11400714785074694797))
        bytes[i] = (unsigned char)(counted ? (uint64_t)i : generator >> 56);
    return length;
}

static answer hash_siphash(const question *asked, const vidi_str *pieces, size_t count)
{
    unsigned char bytes[VIDI_KEY_BYTES];
    if (read_hex(asked->seed_text, bytes, sizeof bytes) != sizeof bytes)
        return (answer){.error = "error: a key of 16 bytes in hexadecimal is needed"};
    const uint64_t key[2] = {vidi__load64(bytes), vidi__load64(bytes + 8)};
    return (answer){.bytes = 16, .value = vidi__siphash(key, pieces, count, 2, 4)};
}

/* XXH3's own secret, which plain XXH3 uses. */
static const char xxh3_secret[] =
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e";

/*
 * XXH3 with a seed is, beyond 240 bytes, XXH3 with its own secret changed by the seed: added to one word, subtracted
 * from the next. Ours always takes a secret and never a seed.
 */
static answer hash_xxh3(const question *asked, const vidi_str *pieces, size_t count)
{
    const vidi__hash_fn *fn = vidi__hash_find((vidi_str){"xxh3", 4});
    vidi__hash_key key;
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += pieces[i].len;
    if (!fn)
        return (answer){.error = "absent"};
    if (asked->seed && length <= 240)
        return (answer){.error = "error: vidi's XXH3 has no seed"};
    read_hex(xxh3_secret, key.secret, sizeof key.secret);
    for (size_t at = 0; at < sizeof key.secret; at += 16) {
        vidi__store64(key.secret + at, vidi__load64(key.secret + at) + asked->seed);
        vidi__store64(key.secret + at + 8, vidi__load64(key.secret + at + 8) - asked->seed);
    }
    return (answer){.bytes = 16, .value = fn->hash(&key, pieces, count)};
}

static answer hash_by_name(const char *name, const vidi_str *pieces, size_t count)
{
    const vidi__hash_fn *fn = vidi__hash_find((vidi_str){name, strlen(name)});
    return fn ? (answer){.bytes = 16, .value = fn->hash(NULL, pieces, count)} : (answer){.error = "absent"};
}

static answer hash(const question *asked, const vidi_str *pieces, size_t count)
{
    const char *function = asked->function;
    uint32_t seed = (uint32_t)asked->seed;
    if (strcmp(function, "siphash_2_4_128") == 0)
        return hash_siphash(asked, pieces, count);
    if (strcmp(function, "jenkins_lookup2") == 0)
        return (answer){.bytes = 4, .value = {vidi__jenkins(pieces, count, seed), 0}};
    if (strcmp(function, "jenkins_one_at_a_time") == 0)
        return (answer){.bytes = 4, .value = {vidi__oaat(pieces, count, seed), 0}};
    if (strcmp(function, "murmurhash2_32") == 0)
        return (answer){.bytes = 4, .value = {vidi__murmur2(pieces, count, seed), 0}};
    if (strcmp(function, "murmurhash3_x86_32") == 0)
        return (answer){.bytes = 4, .value = {vidi__murmur3(pieces, count, seed), 0}};
    if (strcmp(function, "xxh3_128") == 0)
        return hash_xxh3(asked, pieces, count);
    if (strcmp(function, "md5") == 0 || strcmp(function, "sha1") == 0)
        return hash_by_name(function, pieces, count);
    return (answer){.error = "error: no such function"};
}

static answer hash_pieces(const question *asked, const unsigned char *bytes, size_t length)
{
    const char *at = (const char *)bytes;
    size_t a = length / 3, b = length - length / 5;
    const vidi_str whole = {at, length}, pieces[3] = {{at, a}, {at + a, b - a}, {at + b, length - b}};
    answer answered = hash(asked, &whole, 1), again = hash(asked, pieces, 3);
    if (!answered.error && (answered.value.lo != again.value.lo || answered.value.hi != again.value.hi))
        return (answer){.error = "error: pieces give another value"};
    return answered;
}

static answer verify(const question *asked)
{
    unsigned char bytes[256], results[256 * 16];
    size_t length = 0;
    for (unsigned i = 0; i < 256; i++) {
        question one = {asked->function, "", 256 - i};
        bytes[i] = (unsigned char)i;
        answer answered = hash_pieces(&one, bytes, i);
        if (answered.error)
            return answered;
        vidi__store64(results + length, answered.value.lo);
        if (answered.bytes > 8)
            vidi__store64(results + length + 8, answered.value.hi);
        length += answered.bytes;
    }
    question last = {asked->function, "", 0};
    answer answered = hash_pieces(&last, results, length);
    answered.bytes = 4;
    return answered;
}

static void print(const answer *answered)
{
    unsigned char bytes[16];
    vidi__store64(bytes, answered->value.lo);
    vidi__store64(bytes + 8, answered->value.hi);
    for (unsigned i = 0; i < answered->bytes; i++)
        printf("%02x", bytes[i]);
    puts(answered->error ? answered->error : "");
}

int main(void)
{
    static char line[LINE_MAX_BYTES];
    static unsigned char bytes[INPUT_MAX];
    while (fgets(line, sizeof line, stdin)) {
        char *rest = NULL;
        question asked = {strtok_r(line, " \n", &rest), strtok_r(NULL, " \n", &rest), 0};
        const char *input = strtok_r(NULL, " \n", &rest);
        answer answered = {.error = "error: not a line of FUNCTION SEED INPUT"};
        if (input) {
            asked.seed = strtoull(asked.seed_text, NULL, 10);
            long length = strcmp(input, "smhasher") == 0 ? 0 : read_input(input, bytes);
            if (strcmp(input, "smhasher") == 0)
                answered = verify(&asked);
            else if (length >= 0)
                answered = hash_pieces(&asked, bytes, (size_t)length);
        }
        print(&answered);
    }
    return ferror(stdin) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
