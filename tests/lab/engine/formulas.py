"""Computes the theory of some tables again, from the papers and from docs/KINDS.md, and from nothing else of vidi.

usage: formulas.py peers N CSV | revisits N CSV | program N CSV

N is what --urls was, CSV what `vidi lab run ... --csv` has printed. Figures must be equal, up to 1e-4. For several
lines per URL the lab takes the number of URLs in a partition of `blocked` for normal: half a per cent at 10,000 URLs.
"""
import csv
import math
import sys

BINARY_FUSE = {3: (3.33, 2.25, 1.125, 0.875, 0.25, 1e6), 4: (2.91, -0.5, 1.075, 0.77, 0.305, 6e5)}
ROCKSDB_PROBES = ((2080, 1), (3580, 2), (5100, 3), (6640, 4), (8300, 5), (10070, 6), (11720, 7), (14001, 8), (16050, 9),
                  (18300, 10), (22001, 11), (25501, 12))  # up to so many thousandths of a bit per key


def loss(k: int, before: float, m: float) -> float:
    """E f^k after so many URLs, f being the share of set bits, up to its variance."""
    zero, both = (1 - 1 / m)**(k * before), (1 - 2 / m)**(k * before)
    variance = zero / m + (1 - 1 / m) * both - zero * zero
    return (1 - zero)**k + k * (k - 1) / 2 * (1 - zero)**(k - 2) * variance if k > 1 else 1 - zero


def mean_binomial(n: float, p: float, of) -> float:
    """E of(X), X being binomial with that mean."""
    most = int(n * p + 12 * math.sqrt(n * p) + 40)
    chance, total = math.exp(n * math.log1p(-p)), 0.0
    for x in range(most):
        total += chance * of(x)
        chance *= max(0.0, n - x) / (x + 1) * p / (1 - p)
    return total


# ---- the filters people use now: per million new keys that the full filter falsely sees ----

def cuckoo(n: int, bits: int) -> float:
    """Keys of the same fingerprint in the same two buckets. Fingerprint 0 counts as 1, which is twice as likely."""
    buckets = math.ceil(n / 4 / 0.95) + 5  # the slack that ours adds, so that small filters do not fail
    values = 2**(bits * n // (4 * buckets))
    keys = 2 * n / buckets / values
    return 1e6 * ((1 - 2 / values) * -math.expm1(-keys) + 2 / values * -math.expm1(-2 * keys))


def fuse(n: int, bits: int, arity: int) -> float:
    base, shift, least, start, slope, scale = BINARY_FUSE[arity]
    segment = 2**math.floor(math.log(n) / math.log(base) + shift)
    room = round(n * max(least, start + slope * math.log(scale) / math.log(n)))
    segments = math.ceil(room / segment) - arity + 1
    return 1e6 / 2**(bits * n // ((segments + arity - 1) * segment))


def rocksdb(n: int, bits: int) -> float:
    """Lines of 512 bits, with a Poisson number of keys; two of them also agree if 32 bits of their hashes do."""
    probes = next((probes for most, probes in ROCKSDB_PROBES if 1000 * bits <= most), (1000 * bits - 1) // 2000 - 1)
    lines = bits * n // 512
    return 1e6 * mean_binomial(1e4 * n, 1e-4 / lines, lambda keys: loss(probes, keys, 512) + keys / 2**32)


def blocked(n: int, bits: int, lines: int) -> float:
    """64 partitions with equally many rows, or one more. A URL has a bit in each of 8 lanes of 64, in each line."""
    rows, more = divmod(bits * n // (512 * lines), 64)
    total = 0.0
    for own, partitions in ((rows, 64 - more), (rows + 1, more)):
        def seen(urls: int, own=own) -> float:
            return mean_binomial(urls, 1 / own, lambda others: (1 - (63 / 64)**others)**8)**lines

        total += partitions / 64 * mean_binomial(n, 1 / 64, seen)
    return 1e6 * total


def peers(urls: int) -> dict:
    n, wanted = urls // 10, {}
    for bits in (8, 10, 12, 16, 24):
        wanted['peers-lost', 'cuckoo', f'{bits} bits'] = cuckoo(n, bits)
        wanted['peers-lost', 'fuse 3-wise', f'{bits} bits'] = fuse(n, bits, 3)
        wanted['peers-lost', 'fuse 4-wise', f'{bits} bits'] = fuse(n, bits, 4)
        wanted['peers-lost', 'RocksDB', f'{bits} bits'] = rocksdb(n, bits)
    for bits in (10, 16):
        wanted['peers-lost', 'blocked', f'{bits} bits'] = blocked(n, bits, 1)
    wanted['peers-lost', 'blocked', '32 bits'] = blocked(n, 32, 2)
    return wanted


# ---- revisits: what each policy misses ----

def missed(n: int, bits: float, churn: float, crawls: int, every: int) -> float:
    """Page-crawls missed per million, if new salts begin every so many crawls. A lost page is lost while it exists."""
    total, m, k, replaced = 0.0, bits * n, max(1, round(bits * math.log(2))), round(churn * n)
    for first in range(0, crawls, every):
        lasts, before = min(every, crawls - first), 0
        for crawl in range(lasts):
            new = replaced if crawl else n
            lost = sum(loss(k, before + i, m) for i in range(new))
            before += new
            total += lost * sum((1 - replaced / n)**later for later in range(lasts - crawl))
    return 1e6 * total / n / crawls


def revisits(urls: int) -> dict:
    n, wanted = urls // 50, {}
    for table, bits in (('revisits-churn-10', 8), ('revisits-4-bits', 4)):
        column = '20 crawls' if bits == 8 else 'churn 10 %'
        for row, every in (('kept', 20), ('new salts every 5 crawls', 5), ('new salts every 2 crawls', 2),
                           ('new salts each crawl', 1)):
            wanted[table, row, column] = missed(n, bits, 0.1, 20, every)
        wanted[table, 'two epochs, half the memory each', column] = missed(n, bits / 2, 0.1, 20, 1)
    once = missed(n, 4, 0, 1, 1) / 1e6
    for crawls in (2, 5):
        wanted['revisits-never', 'new salts each crawl', f'{crawls} crawls'] = 1e6 * once**crawls
    return wanted


# ---- the multi-layer paper's program ----

def murmur3_of_nothing(seed: int) -> int:
    """MurmurHash3 x86_32 of the empty text: the finaliser alone; as a signed number, as the program has it."""
    value = seed
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        value = (value ^ value >> shift) * factor & 0xFFFFFFFF
    return value - (value >> 31 << 32)


def home_pages(n: int, m: int) -> float:
    """
    The probability that a new host's page is seen. Its second segment is empty, with the same addresses for all. An
    address x of the host becomes (x xor c) mod m in the last array, with a c for each function. If the same function
    has set x for another host, it has set that one, too; otherwise both were set by chance.
    """
    rate, constants = n / m, [murmur3_of_nothing(seed) % m for seed in range(4)]
    marks = [0] * m  # how many pairs of an address and a function come to each place of the last array
    for constant in constants:
        for address in range(m):
            marks[(address ^ constant) % m] += 1
    return math.prod(
        sum(-math.expm1(-rate) + math.exp(-rate) * math.expm1(-3 * rate) *
            math.expm1(-rate * (marks[(address ^ constant) % m] - 1)) for address in range(m)) / m
        for constant in constants)


def program(urls: int) -> dict:
    rows, wanted = 1562978, {}
    n = round(rows * urls / 1e6) // 2
    m = int(n * -math.log(0.05) / math.log(2)**2)
    wanted['multilayer-program', f'{rows} rows', 'classic'] = rows / 2 * loss(4, n, m)
    wanted['multilayer-program', f'{rows} rows', 'multilayer, home pages'] = rows / 2 * home_pages(n, m)
    return wanted


def main() -> int:
    wanted = {'peers': peers, 'revisits': revisits, 'program': program}[sys.argv[1]](int(sys.argv[2]))
    with open(sys.argv[3], newline='', encoding='utf-8') as file:
        given = {(row['experiment'], row['row'], row['column']): row['theory'] for row in csv.DictReader(file)}
    wrong = 0
    for cell, value in wanted.items():
        tolerance = 1e-2 if cell[1:] == ('blocked', '32 bits') else 1e-4
        if not given[cell] or not math.isclose(value, float(given[cell]), rel_tol=tolerance):
            print(f'{" ".join(cell)}: {given[cell] or "nothing"} of the lab, {value:.9g} computed again')
            wrong += 1
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
