"""vidi.Set and Python's own set, with strings that are new each time, so that Python has not hashed them before.

    sets.py URLS ROUNDS ROWS

"set of fingerprints" has strings of 40 hexadecimal digits, which is what Scrapy's dupe filter keeps. Its time is that
of the set alone; making the fingerprints is measured by filters.py. Bytes are what the set holds on to: of Python's set
its table and its strings (sys.getsizeof), of vidi's all of its memory.
"""
import itertools
import random
import sys

import vidi
from rounds import Subject, measure, report, urls

BATCH = 1000


def fingerprints(n):
    chance = random.Random(1)
    return [f"{chance.getrandbits(160):040x}" for _ in range(n)]


def fill_singly(seen, strings):
    add = seen.add
    for string in strings:
        add(string)
    return seen


def fill_set(strings):
    return fill_singly(set(), strings)


def fill_vidi(strings):
    return fill_singly(vidi.Set(), strings)


def fill_vidi_in_batches(strings):
    seen = vidi.Set()
    for i in range(0, len(strings), BATCH):
        seen.add_many(strings[i:i + BATCH])
    return seen


def bytes_of_set(seen, strings):
    some = list(itertools.islice(strings, 0, None, max(1, len(strings) // 1000)))
    return sys.getsizeof(seen) + len(seen) * sum(map(sys.getsizeof, some)) / len(some)


def bytes_of_vidi(seen, _):
    return seen.stats.memory_bytes


def main():
    sizes, rounds = [int(float(n)) for n in sys.argv[1].split(",")], int(sys.argv[2])
    with open(sys.argv[3], "a", encoding="utf-8") as rows:
        for n in sizes:
            turns = max(rounds, min(50, 10**6 // n))  # small sizes are over quickly
            subjects = [Subject("set of URLs", urls, fill_set, bytes_of_set),
                        Subject("set of fingerprints", fingerprints, fill_set, bytes_of_set),
                        Subject("vidi.Set.add", urls, fill_vidi, bytes_of_vidi),
                        Subject(f"vidi.Set.add_many of {BATCH}", urls, fill_vidi_in_batches, bytes_of_vidi)]
            print(f"{n} URLs, {turns} rounds in turn; nanoseconds of processor time a URL, bytes a URL")
            measure(subjects, n, turns)
            report(subjects, "set of URLs", n, turns, rows)


main()
