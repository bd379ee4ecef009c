"""Counts the runs of a cell again, from the URLs and the salts that `vidi lab` prints and from nothing else of vidi.

usage: recount.py URLS RAW incremental|full

A Bloom filter as the thesis defines it: m = n k M bits, and k positions for each URL, which are the hash values of a
salt and the URL, modulo m. A URL is falsely seen if all positions were set before, in every filter of every crawl. The
hash function is Jenkins's lookup2, as he published it.
"""
import csv
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


def seen_by(salts: list[bytes], bits: int, inserted: list[bytes], asked: list[bytes]) -> list[bool]:
    """Which URLs one filter falsely sees: those that are asked, or while they are inserted if none are."""
    filled = bytearray(bits)
    seen = []
    for url in inserted:
        positions = [lookup2(salt + url) % bits for salt in salts]
        seen.append(all(filled[position] for position in positions))
        for position in positions:
            filled[position] = 1
    if not asked:
        return seen
    return [all(filled[lookup2(salt + url) % bits] for salt in salts) for url in asked]


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
        params = dict(param.split('=') for param in row['params'].split(','))
        k, bits = int(params['k']), round(half * int(params['k']) * float(params['M']))
        filters = [[bytes.fromhex(salt) for salt in one.split('/')] for one in row['salts'].split('+')]
        assert all(len(one) == k for one in filters), row['salts']
        each = [seen_by(one, bits, inserted, asked) for one in filters]
        count = sum(all(seen) for seen in zip(*each))
        if count != int(row['count']) or count == 0:
            print(f"{row['row']}: {row['count']} of the lab, {count} counted again")
            wrong += 1
    return 1 if wrong or not rows else 0


if __name__ == '__main__':
    sys.exit(main())
