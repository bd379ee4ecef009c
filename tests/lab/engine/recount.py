"""Counts the runs of a cell again, from the URLs and the salts that `vidi lab` prints and from nothing else of vidi.

usage: recount.py URLS RAW incremental|full

A Bloom filter as the thesis defines it: m = n k M bits, and k positions for each URL, which are the hash values of a
salt and the URL, modulo m; or of k different functions without salts. If all functions have 64 bits or more, the
position is the value times m, divided by 2^64. A URL is falsely seen if all positions were set before, in every filter
of every crawl. The hash functions are as their authors published them: Jenkins's lookup2 and one-at-a-time, MurmurHash2
with the seed 0, and the first 64 bits of MD5 and SHA-1.
"""
import csv
import hashlib
import sys

MASK = 0xFFFFFFFF


def mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    for down, up, last in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
        a = ((a - b - c) ^ (c >> down)) & MASK
        b = ((b - c - a) ^ (a << up)) & MASK
        c = ((c - a - b) ^ (b >> last)) & MASK
    return a, b, c


def lookup2(text: bytes) -> int:
    a = b = 0x9E3779B9
    c, at = 0, 0
    while len(text) - at >= 12:
        words = [int.from_bytes(text[at + i:at + i + 4], 'little') for i in (0, 4, 8)]
        a, b, c = mix((a + words[0]) & MASK, (b + words[1]) & MASK, (c + words[2]) & MASK)
        at += 12
    rest = text[at:].ljust(12, b'\0')
    a = (a + int.from_bytes(rest[0:4], 'little')) & MASK
    b = (b + int.from_bytes(rest[4:8], 'little')) & MASK
    c = (c + len(text) + (int.from_bytes(rest[8:11], 'little') << 8)) & MASK
    return mix(a, b, c)[2]


def murmur2(text: bytes) -> int:
    factor, value, whole = 0x5BD1E995, len(text), len(text) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(text[at:at + 4], 'little') * factor & MASK
        value = value * factor & MASK ^ (word ^ word >> 24) * factor & MASK
    if text[whole:]:
        value = (value ^ int.from_bytes(text[whole:], 'little')) * factor & MASK
    value = (value ^ value >> 13) * factor & MASK
    return value ^ value >> 15


def one_at_a_time(text: bytes) -> int:
    value = 0
    for byte in text:
        value = (value + byte) * 1025 & MASK
        value ^= value >> 6
    value = value * 9 & MASK
    value ^= value >> 11
    return value * 32769 & MASK


def md5(text: bytes) -> int:
    return int.from_bytes(hashlib.md5(text).digest()[:8], 'little')


def sha1(text: bytes) -> int:
    return int.from_bytes(hashlib.sha1(text).digest()[:8], 'little')


NARROW = {'jenkins': lookup2, 'murmur2': murmur2, 'oaat': one_at_a_time}
FUNCTIONS = {**NARROW, 'md5': md5, 'sha1': sha1}


class Filter:
    """Its functions with their salts, by the column "params" and the salts, for n URLs."""

    def __init__(self, params: str, salts: str, n: int):
        named = dict(param.split('=') for param in params.split(','))
        k = int(named['k'])
        names = named['functions'].split('+') if 'functions' in named else [named['hash']] * k
        texts = [bytes.fromhex(salt) for salt in salts.split('/')] if salts else [b''] * k
        assert len(names) == len(texts) == k, (params, salts)
        self.hashes = [(FUNCTIONS[name], salt) for name, salt in zip(names, texts)]
        self.narrow = any(name in NARROW for name in names)
        self.bits = round(n * k * float(named['M']))

    def positions(self, url: bytes) -> list[int]:
        values = [function(salt + url) for function, salt in self.hashes]
        return [value % self.bits if self.narrow else value * self.bits >> 64 for value in values]

    def seen(self, inserted: list[bytes], asked: list[bytes]) -> list[bool]:
        """Which URLs it falsely sees: those that are asked, or while they are inserted if none are."""
        filled = bytearray(self.bits)
        seen = []
        for url in inserted:
            positions = self.positions(url)
            seen.append(all(filled[position] for position in positions))
            for position in positions:
                filled[position] = 1
        return [all(filled[position] for position in self.positions(url)) for url in asked] if asked else seen


def main() -> int:
    with open(sys.argv[1], 'rb') as file:
        urls = file.read().splitlines()
    with open(sys.argv[2], newline='') as file:
        rows = list(csv.DictReader(file))
    half = len(urls) // 2
    inserted, asked = urls[:half], urls[half:]
    if sys.argv[3] == 'incremental':
        asked = []
    wrong = 0
    for row in rows:
        salts, params = row['salts'].split('+'), row['params'].split('|')
        if len(params) == 1:
            params *= len(salts)
        each = [Filter(one, own, half).seen(inserted, asked) for one, own in zip(params, salts, strict=True)]
        count = sum(all(seen) for seen in zip(*each))
        if count != int(row['count']) or count == 0:
            print(f"{row['row']}: {row['count']} of the lab, {count} counted again")
            wrong += 1
    return 1 if wrong or not rows else 0


if __name__ == '__main__':
    sys.exit(main())
