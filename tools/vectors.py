#!/usr/bin/env python3
"""Makes tests/hash/vectors.h: test vectors of the hash functions and schemes, from a second implementation.

Everything here is written from the published descriptions and from the comments in lib/hash, in the plainest way, and
shares nothing with the C code. Before it writes anything the script checks itself against values that others have
published.

    tools/vectors.py            writes tests/hash/vectors.h
    tools/vectors.py --check    says whether that file is what would be written
"""
import hashlib
import pathlib
import sys

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "hash" / "vectors.h"
M32 = 2**32 - 1
M64 = 2**64 - 1


def le(data):
    return int.from_bytes(data, "little")


# --- SipHash-c-d: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; 16 bytes as in their reference code


def siphash(key, data, c, d, size=16):
    def rotate(x, by):
        return (x << by | x >> (64 - by)) & M64

    def rounds(v, count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & M64
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & M64
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & M64
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & M64
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    start = b"somepseudorandomlygeneratedbytes"
    v = [int.from_bytes(start[8 * i : 8 * i + 8], "big") ^ le(key[8 * (i % 2) : 8 * (i % 2) + 8]) for i in range(4)]
    if size == 16:
        v[1] ^= 0xEE
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = le(padded[at : at + 8])
        v[3] ^= word
        rounds(v, c)
        v[0] ^= word
    v[2] ^= 0xEE if size == 16 else 0xFF
    rounds(v, d)
    out = (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")
    if size == 16:
        v[1] ^= 0xDD
        rounds(v, d)
        out += (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")
    return out


def sip13(key, data):
    return siphash(key, data, 1, 3)


# --- lookup2: Jenkins, "Algorithm alley: hash functions", Dr. Dobb's Journal, September 1997


def lookup2(data, seed=0):
    shifts = ((-13, 8, -13), (-12, 16, -5), (-3, 10, -15))  # negative: to the right

    def mix(w):
        for line in shifts:
            for i, by in enumerate(line):
                other, last = w[(i + 1) % 3], w[(i + 2) % 3]
                shifted = last >> -by if by < 0 else last << by
                w[i] = ((w[i] - other - last) ^ shifted) & M32

    words = [0x9E3779B9, 0x9E3779B9, seed]
    whole = len(data) // 12 * 12
    for at in range(0, whole, 12):
        for i in range(3):
            words[i] = (words[i] + le(data[at + 4 * i : at + 4 * i + 4])) & M32
        mix(words)
    rest = data[whole:]
    last = rest[:8] + bytes(8 - len(rest[:8])) + bytes(1) + rest[8:]  # the third word's lowest byte is kept free …
    for i in range(3):
        words[i] = (words[i] + le(last[4 * i : 4 * i + 4])) & M32
    words[2] = (words[2] + len(data)) & M32  # … for the length
    mix(words)
    return words[2]


# --- one-at-a-time: the same author; the listing of the eigenvalue paper with key[i]


def one_at_a_time(data, seed=0):
    h = seed
    for byte in data:
        h = (h + byte) & M32
        h = (h + (h << 10)) & M32
        h ^= h >> 6
    h = (h + (h << 3)) & M32
    h ^= h >> 11
    return (h + (h << 15)) & M32


# --- MurmurHash2, 32 bits: Appleby, 2008


def murmur2(data, seed=0):
    m, r = 0x5BD1E995, 24
    h = seed ^ (len(data) & M32)
    while len(data) >= 4:
        k = le(data[:4]) * m & M32
        k ^= k >> r
        k = k * m & M32
        h = (h * m & M32) ^ k
        data = data[4:]
    if data:
        h = (h ^ le(data)) * m & M32
    h ^= h >> 13
    h = h * m & M32
    return h ^ h >> 15


# --- MurmurHash3, x86, 32 bits: Appleby, 2011


def murmur3(data, seed=0):
    def scramble(word):
        word = word * 0xCC9E2D51 & M32
        return (word << 15 | word >> 17) * 0x1B873593 & M32

    h, whole = seed, len(data) // 4 * 4
    for at in range(0, whole, 4):
        h ^= scramble(le(data[at : at + 4]))
        h = ((h << 13 | h >> 19) * 5 + 0xE6546B64) & M32
    h ^= scramble(le(data[whole:])) ^ (len(data) & M32)
    h = (h ^ h >> 16) * 0x85EBCA6B & M32
    h = (h ^ h >> 13) * 0xC2B2AE35 & M32
    return h ^ h >> 16


# --- XXH3 with 128 bits, a secret of 192 bytes and seed 0: Collet, the specification in the xxHash project

PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
XXH3_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def le64(data, at=0):
    return le(data[at : at + 8])


def swap(x, size):
    return int.from_bytes(x.to_bytes(size, "little"), "big")


def fold(a, b):
    return (a * b & M64) ^ a * b >> 64


def xxh64_avalanche(x):
    x = (x ^ x >> 33) * PRIME64[1] & M64
    x = (x ^ x >> 29) * PRIME64[2] & M64
    return x ^ x >> 32


def xxh3_avalanche(x):
    x = (x ^ x >> 37) * 0x165667919E3779F9 & M64
    return x ^ x >> 32


def xxh3_up_to_16(data, secret):
    n = len(data)
    if n == 0:
        return [xxh64_avalanche(le64(secret, at) ^ le64(secret, at + 8)) for at in (64, 80)]
    if n <= 3:
        low = data[n - 1] | n << 8 | data[0] << 16 | data[n // 2] << 24
        high = swap(low, 4)
        high = (high << 13 | high >> 19) & M32
        words = [le(secret[at : at + 4]) for at in (0, 4, 8, 12)]
        return [xxh64_avalanche(words[0] ^ words[1] ^ low), xxh64_avalanche(words[2] ^ words[3] ^ high)]
    if n <= 8:
        word = le(data[:4]) | le(data[-4:]) << 32
        product = (le64(secret, 16) ^ le64(secret, 24) ^ word) * (PRIME64[0] + 4 * n)
        high = ((product >> 64) + (product << 1)) & M64
        low = product & M64 ^ high >> 3
        low = (low ^ low >> 35) * 0x9FB21C651E98DF25 & M64
        return [low ^ low >> 28, xxh3_avalanche(high)]
    first, last = le64(data), le64(data, n - 8)
    product = (le64(secret, 32) ^ le64(secret, 40) ^ first ^ last) * PRIME64[0]
    low = (product + ((n - 1) << 54)) & M64
    last ^= le64(secret, 48) ^ le64(secret, 56)
    high = ((product >> 64) + last + (last & M32) * (PRIME32[1] - 1)) & M64
    product = (low ^ swap(high, 8)) * PRIME64[1]
    return [xxh3_avalanche(product & M64), xxh3_avalanche(((product >> 64) + high * PRIME64[1]) & M64)]


def xxh3_up_to_240(data, secret):
    n = len(data)
    acc = [n * PRIME64[0] & M64, 0]

    def mix(one, two, at):
        for side, (mine, other) in enumerate(((one, two), (two, one))):
            s = at + 16 * side
            acc[side] += fold(le64(data, mine) ^ le64(secret, s), le64(data, mine + 8) ^ le64(secret, s + 8))
            acc[side] = (acc[side] & M64) ^ (le64(data, other) + le64(data, other + 8) & M64)

    if n <= 128:
        for i in reversed(range((n - 1) // 32 + 1)):
            mix(16 * i, n - 16 * (i + 1), 32 * i)
    else:
        for i in range(n // 32):
            if i == 4:
                acc[:] = map(xxh3_avalanche, acc)
            mix(32 * i, 32 * i + 16, 32 * i if i < 4 else 3 + 32 * (i - 4))
        if n // 32 == 4:
            acc[:] = map(xxh3_avalanche, acc)
        mix(n - 16, n - 32, 103)
    low = (acc[0] + acc[1]) & M64
    high = (acc[0] * PRIME64[0] + acc[1] * PRIME64[3] + n * PRIME64[1]) & M64
    return [xxh3_avalanche(low), -xxh3_avalanche(high) & M64]


def xxh3_long(data, secret):
    n = len(data)
    acc = [PRIME32[2], *PRIME64[:4], PRIME32[1], PRIME64[4], PRIME32[0]]

    def stripe(at, s):
        for i in range(8):
            value = le64(data, at + 8 * i)
            key = value ^ le64(secret, s + 8 * i)
            acc[i ^ 1] = (acc[i ^ 1] + value) & M64
            acc[i] = (acc[i] + (key & M32) * (key >> 32)) & M64

    def merge(s, start):
        for i in range(4):
            start += fold(acc[2 * i] ^ le64(secret, s + 16 * i), acc[2 * i + 1] ^ le64(secret, s + 16 * i + 8))
        return xxh3_avalanche(start & M64)

    for number in range((n - 1) // 64):
        stripe(64 * number, 8 * (number % 16))
        if number % 16 == 15:
            for i in range(8):
                acc[i] = (acc[i] ^ acc[i] >> 47 ^ le64(secret, 128 + 8 * i)) * PRIME32[0] & M64
    stripe(n - 64, 121)
    return [merge(11, n * PRIME64[0] & M64), merge(117, ~(n * PRIME64[1]) & M64)]


def xxh3(data, secret=XXH3_SECRET):
    part = xxh3_up_to_16 if len(data) <= 16 else xxh3_up_to_240 if len(data) <= 240 else xxh3_long
    return b"".join(x.to_bytes(8, "little") for x in part(data, secret))


def xxh3_test_input(length):
    """The bytes that the xxHash project's self-test hashes."""
    generator, out = 2654435761, bytearray()
    for _ in range(length):
        out.append(generator >> 56)
        generator = generator * 11400714785074694797 & M64
    return bytes(out)


# --- lib/hash/hash.h and lib/hash/positions.h


def derive_key(key, purpose, number):
    return sip13(key, purpose + b"\0" + number.to_bytes(8, "little"))


def xxh3_keyed(key, data):
    return xxh3(data, b"".join(derive_key(key, b"secret", i) for i in range(12)))


def mix64(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def derived(seed_key, item, k):
    tweak = derive_key(seed_key, b"tweak", 0)
    start = le(item[:8]) ^ le(tweak[:8])
    step = (le(item[8:]) ^ le(tweak[8:])) | 1
    return [mix64((start + i * step) & M64) for i in range(k)]


def salts(seed_key, k):
    return [
        derive_key(seed_key, b"salt", 2 * j) + derive_key(seed_key, b"salt", 2 * j + 1)[:8] for j in range(k)
    ]


# --- values that others have published


def smhasher_verification(function):
    """SMHasher's VerificationTest: {0..i-1} with seed 256 - i for i in 0..255, then all the results with seed 0."""
    results = b"".join(function(bytes(range(i)), 256 - i).to_bytes(4, "little") for i in range(256))
    return function(results, 0)


XXH3_PUBLISHED = (  # the xxHash project's self-test, the number's upper half first
    (0, "99aa06d3014798d86001c324468d497f"),
    (1, "a6cd5e9392000f6ac44bdff4074eecdb"),
    (6, "082afe0b8162d12a3e7039bdda43cfc6"),
    (12, "6e3efd8fc7802b18061a192713f69ad9"),
    (48, "a002ac4e5478227ef942219aed80f67b"),
    (222, "337e09641b948717f1aebd597cec6b3a"),
    (403, "1b6de21e332dd73dcdeb804d65c6dea4"),
    (2367, "e89c0f6ff369b427cb37aeb9e5d361ed"),
)


def check_self():
    key = bytes(range(16))
    checks = [
        ("SipHash-2-4, appendix A", le(siphash(key, bytes(range(15)), 2, 4, 8)), 0xA129CA6149BE45E5),
        ("SipHash-2-4-128, empty", siphash(key, b"", 2, 4).hex(), "a3817f04ba25a8e66df67214c7550293"),
        ("SipHash-2-4-128, 1 byte", siphash(key, b"\0", 2, 4).hex(), "da87c1d86b99af44347659119b22fc45"),
        ("lookup2, empty", lookup2(b""), 0xBD49D10D),
        ("lookup2, a", lookup2(b"a"), 0x29EEC818),
        ("lookup2, >12", lookup2(b"this is >12ch"), 0x8A6411AD),
        ("lookup2, seed", lookup2(b"this is 12ch", 0x12AAB4DF), 0x63A47577),
        ("one-at-a-time, a", one_at_a_time(b"a"), 0xCA2E9442),
        ("one-at-a-time, fox", one_at_a_time(b"The quick brown fox jumps over the lazy dog"), 0x519E91F5),
        ("one-at-a-time, SMHasher", smhasher_verification(one_at_a_time), 0xEE05869B),
        ("MurmurHash2, Kafka", murmur2(b"foobar", 0x9747B28C), 0xD0E47BBE),
        ("MurmurHash2, SMHasher", smhasher_verification(murmur2), 0x27864C1E),
        ("MurmurHash3, empty with seed 1", murmur3(b"", 1), 0x514E28B7),
        ("MurmurHash3, SMHasher", smhasher_verification(murmur3), 0xB0F57EE3),
        *((f"XXH3 of {n} bytes", xxh3(xxh3_test_input(n))[::-1].hex(), want) for n, want in XXH3_PUBLISHED),
        ("MD5, RFC 1321", hashlib.md5(b"message digest").hexdigest(), "f96b697d7cb7938d525a2f31aaf161d0"),
        ("SHA-1, RFC 3174", hashlib.sha1(b"abc").hexdigest(), "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ]
    wrong = [name for name, got, want in checks if got != want]
    if wrong:
        sys.exit("vectors.py: wrong result for " + ", ".join(wrong))


# --- the header

KEY = bytes(range(16))
SEED_KEY = bytes(range(0x80, 0x90))
URL = b"https://www.example.org/a/path/of/some/length.html?with=a&query=string"
LONG = (100, 127, 128, 129, 239, 240, 241, 255, 256, 257, 511, 512, 513, 1000, 1024, 1025, 4096, 10007)


def pattern(length):
    """Byte i is i + i/256, so that blocks of 256 bytes differ."""
    return bytes((i + i // 256) % 256 for i in range(length))


def table(name, comment, rows):
    return [f"/* {comment} */", f"static const vector {name}[] = {{", *(f"    {{{row}}}," for row in rows), "};", ""]


def row128(length, value):
    return f"{length}, 0, 0x{le(value[:8]):016x}, 0x{le(value[8:16]):016x}"


def rows32(function, lengths):
    return [f"{n}, 0x{seed:08x}, 0x{function(pattern(n), seed):08x}, 0" for n in lengths for seed in (0, 0x9747B28C)]


def array64(name, comment, values):
    lines = [f"/* {comment} */", f"static const uint64_t {name}[] = {{"]
    lines += ["    " + ", ".join(f"0x{v:016x}" for v in values[i : i + 4]) + "," for i in range(0, len(values), 4)]
    return lines + ["};", ""]


def c_bytes(data):
    return ", ".join(f"0x{b:02x}" for b in data)


def header():
    short = range(65)
    few = [*range(0, 41), *LONG]
    salt = salts(SEED_KEY, 5)
    words = [le(derive_key(KEY, purpose, number)[at : at + 8]) for purpose, number in
             ((b"secret", 0), (b"secret", 11), (b"", 0), (b"tweak", 2**64 - 1)) for at in (0, 8)]
    lines = [
        "/*",
        " * Made by tools/vectors.py from a second implementation of the functions: do not edit, run it again.",
        " *",
        " * The input of length n is the bytes i + i / 256 for i from 0 to n - 1; the key is 00 01 02 … 0f. Values are",
        " * the first output bytes as little-endian numbers.",
        " */",
        "/* clang-format off */",
        "#ifndef TESTS_HASH_VECTORS_H",
        "#define TESTS_HASH_VECTORS_H",
        "",
        "#include <stdint.h>",
        "",
        "typedef struct vector {",
        "    unsigned length;",
        "    uint32_t seed;",
        "    uint64_t lo, hi;",
        "} vector;",
        "",
    ]
    long = [*short, *LONG]
    lines += table("sip13_vectors", "SipHash-1-3, 128 bits", [row128(n, sip13(KEY, pattern(n))) for n in long])
    lines += table("sip24_vectors", "SipHash-2-4, 128 bits", [row128(n, siphash(KEY, pattern(n), 2, 4)) for n in short])
    lines += table("jenkins_vectors", "lookup2", rows32(lookup2, few))
    lines += table("oaat_vectors", "one-at-a-time", rows32(one_at_a_time, few))
    lines += table("murmur2_vectors", "MurmurHash2", rows32(murmur2, few))
    lines += table("murmur3_vectors", "MurmurHash3, x86_32", rows32(murmur3, few))
    lines += table("md5_vectors", "MD5", [row128(n, hashlib.md5(pattern(n)).digest()) for n in few])
    lines += table("sha1_vectors", "SHA-1", [row128(n, hashlib.sha1(pattern(n)).digest()) for n in few])
    lines += table("xxh3_vectors", "XXH3", [row128(n, xxh3_keyed(KEY, pattern(n))) for n in [*range(0, 41), 64, *LONG]])
    lines += array64("derived_keys", "of (\"secret\", 0), (\"secret\", 11), (\"\", 0) and (\"tweak\", 2^64 - 1)", words)
    lines += [
        "/* Schemes: a set's key as above, a filter's seed, a URL, and its values in the modes. */",
        "static const unsigned char scheme_seed[16] = {",
        f"    {c_bytes(SEED_KEY)},",
        "};",
        f'static const char scheme_url[] = "{URL.decode()}";',
        "",
    ]
    lines += array64("derived_sip13", "hash=sip13,mode=derived", derived(SEED_KEY, sip13(KEY, URL), 7))
    lines += array64("salted_sip13", "hash=sip13,mode=salted,salt=prefix",
                     [le(sip13(SEED_KEY, s + URL)[:8]) for s in salt])
    lines += array64("salted_jenkins", "hash=jenkins,mode=salted,salt=prefix", [lookup2(s + URL) for s in salt])
    lines += array64("suffix_jenkins", "hash=jenkins,mode=salted,salt=suffix", [lookup2(URL + s) for s in salt])
    lines += array64("different_three", "functions=murmur2+sip13+oaat",
                     [murmur2(URL), le(sip13(SEED_KEY, URL)[:8]), one_at_a_time(URL)])
    child, item = derive_key(SEED_KEY, b"member", 3), sip13(KEY, URL)
    lines += array64("child_sip13", "mode=derived for child 3 in the role of a member", derived(child, item, 7))
    return "\n".join(lines + ["#endif"]) + "\n"


def main():
    check_self()
    text = header()
    if sys.argv[1:] == ["--check"]:
        if not OUTPUT.exists() or OUTPUT.read_text() != text:
            sys.exit(f"vectors.py: {OUTPUT} is not what this script makes")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        OUTPUT.write_text(text)


if __name__ == "__main__":
    main()
