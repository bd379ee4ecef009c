#!/usr/bin/python3
"""Every command of the module with random words, wrong ones more often than right ones: no crash, no endless work, no
huge allocation, and a replica holds the same in the end.

Variables:
  VIDI_TEST_SEED   of the words (1); a failure prints it
"""
import os
import random

from support import server as servers
from support import tap, values
from support.resp import Error
from support.server import Server, await_replica, await_that, digest, used_memory
from support.tap import Failed, case, check

servers.require()

SEED = os.environ.get("VIDI_TEST_SEED", "1")
COMMANDS = 200000 if tap.is_long() else 8000
KEYS = [*[f"k{i}" for i in range(8)], "text"]
NUMBERS = ["0", "1", "-1", "2", "3", "10", "100", "1000", "65536", "4294967296", "9223372036854775807",
           "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e3", "0.5", "0.001", "1e-9", "1e-300",
           "nan", "inf", "-inf", "0x10", " 1", "1 ", "", "+1", "01", "4102444800", "1e18"]
WORDS = ["KIND", "CAPACITY", "ERROR", "LOST", "CANON", "MAXMEMORY", "PARAM", "LIKE", "KEY", "INVALID", "ROLE", "EXPANSION",
         "NONSCALING", "NOCREATE", "ITEMS", "BUCKETSIZE", "MAXITERATIONS", "UNTIL", "DELETED", "REPLACE", "MOST", "COUNT",
         "CURSOR", "OWNER", "DROP", "EXPIREAT", "AGAIN", "ALL", "IF", "ID", "keep", "drop", "fail", "BF", "CF", "URLS", "none", "whatwg", "crawl",
         "multiset", "on", "off", "inner", "bits", "growth", "ends", "count", "rate", "size", "items", "filters",
         "00112233445566778899aabbccddeeff", "*", *values.KINDS, *[k.upper() for k in KEYS]]
ITEMS = [*values.urls(12, "w"), "", "x", "not a url", "http://", "a\0b", "\xff\xfe", "x" * 5000, "http://é.example/ö"]
# Options that mean something, as the server takes them.
OPTIONS = ([["KIND", kind] for kind in values.KINDS] + [["CAPACITY", n] for n in ("10", "300", "5000", "2000000")] +
           [["ERROR", e] for e in ("0.5", "0.01", "1e-9", "1e-300")] + [["MAXMEMORY", n] for n in ("2000", "100000")] +
           [["PARAM", "multiset", "on"], ["PARAM", "inner", "classic"], ["PARAM", "ends", "count"], ["PARAM", "growth", "4"],
            ["INVALID", "drop"], ["INVALID", "fail"], ["CANON", "none"], ["CANON", "crawl"], ["LIKE", "k1"], ["LOST", "1"],
            ["KEY", "00112233445566778899aabbccddeeff"], ["ROLE", "BF"], ["ROLE", "CF"], ["EXPANSION", "2"],
            ["EXPANSION", "0"], ["BUCKETSIZE", "4"], ["DELETED", "7"], ["UNTIL", "4102444800000"], ["REPLACE"],
            ["EXPIREAT", "4102444800"], ["ID", "00000000000000aa"]])
# What stands before URLs, and before other words, to say which set is meant. Some keys have this id.
ID = "00000000000000aa"
BEFORE_URLS = [[], [], ["NOCREATE", "URLS"], ["IF", ID, "URLS"], ["URLS"], ["IF", ID, "NOCREATE", "URLS"], ["IF", "x"], ["IF"]]
BEFORE_CLAIMS = [*BEFORE_URLS, ["AGAIN", "URLS"], ["IF", ID, "AGAIN", "URLS"], ["AGAIN"]]
BEFORE_WORDS = [[], [], [], ["NOCREATE"], ["IF", ID], ["NOCREATE", "IF", ID], ["IF", "0" * 16], ["URLS"]]
# Claims by tokens, by URLs and all of an owner; "t" and "i" stand for these.
NAMED = [["t", "t"], ["t", "t"], ["URLS", "i", "i"]]
GIVEN_UP = [["t"], ["t", "DROP"], ["URLS", "i", "i"], ["DROP", "URLS", "i"], ["ALL"]]
FEW = ["1", "5", "100", "1000", "3600000"]  # numbers that most commands take
CALLS = {
    "BF.RESERVE": "k r f", "BF.ADD": "k i", "BF.MADD": "k i i i", "BF.INSERT": "k O I i i", "BF.EXISTS": "k i",
    "BF.MEXISTS": "k i i", "BF.INFO": "k", "BF.CARD": "k", "BF.SCANDUMP": "k z", "BF.LOADCHUNK": "k n p", "BF.DEBUG": "k",
    "CF.RESERVE": "k f O", "CF.ADD": "k i", "CF.ADDNX": "k i", "CF.INSERT": "k I i i i i i", "CF.INSERTNX": "k I i i",
    "CF.EXISTS": "k i", "CF.MEXISTS": "k i i", "CF.DEL": "k i", "CF.COUNT": "k i", "CF.INFO": "k", "CF.SCANDUMP": "k z",
    "CF.LOADCHUNK": "k n p", "CF.COMPACT": "k", "CF.DEBUG": "k", "VIDI.RESERVE": "k O O O", "VIDI.ADD": "k g i",
    "VIDI.HAS": "k g i", "VIDI.MADD": "k g i i i i i i", "VIDI.MHAS": "k g i i", "VIDI.DEL": "k g i", "VIDI.COUNT": "k g i",
    "VIDI.ROTATE": "k h O", "VIDI.HASPREVIOUS": "k g i", "VIDI.EXPIREAT": "k n h", "VIDI.MERGE": "k k k", "VIDI.INFO": "k h",
    "VIDI.STATS": "k h", "VIDI.DUMP": "k z h", "VIDI.LOAD": "k z p O", "VIDI.CLAIM": "k o f a i i i i",
    "VIDI.RECLAIM": "k o f h C f", "VIDI.RENEW": "k o h f", "VIDI.COMMIT": "k o h b", "VIDI.RELEASE": "k o h l",
    "VIDI.CLAIMS": "k h C f w n", "VIDI.HOLD": "k o d f t i i", "COPY": "k k R", "DEL": "k", "RENAME": "k k",
}
OFTEN = ["VIDI.RESERVE"] * 8 + ["VIDI.DUMP", "VIDI.LOAD", "BF.SCANDUMP", "BF.LOADCHUNK", "CF.SCANDUMP", "CF.LOADCHUNK",
                                 "VIDI.MERGE", "VIDI.DEL", "CF.DEL", "CF.INSERT"] * 3 + ["VIDI.MADD", "BF.MADD"] * 8


class Speaker:
    """Random commands. It remembers tokens and pieces that the server gave, so that some of them are right."""

    def __init__(self, seed):
        self.rng = random.Random(f"words/{seed}")
        self.tokens = ["0123456789abcdef", "0", "", "g" * 16, "f" * 17]
        self.pieces = [b"", b"rubbish", b"vidi\r\n\x1a\n" + bytes(100)]
        self.cursors = []

    def words(self, sort):
        """Words of this sort, now and then of another."""
        rng = self.rng
        if rng.random() < 0.03:
            sort = rng.choice("kniwotp")
        if sort in "Ogha":
            return rng.choice({"O": OPTIONS, "g": BEFORE_URLS, "h": BEFORE_WORDS, "a": BEFORE_CLAIMS}[sort])
        if sort in "bl":
            return [rng.choice({"t": self.tokens, "i": ITEMS}.get(word, [word]))
                    for word in rng.choice(NAMED if sort == "b" else GIVEN_UP)]
        return [rng.choice({
            "k": KEYS, "n": NUMBERS, "i": ITEMS, "w": WORDS, "o": ["ann", "bob", ""], "t": self.tokens, "p": self.pieces,
            "f": FEW, "r": ["0.01", "0.3", "1e-6"], "I": ["ITEMS"], "C": ["COUNT"], "R": ["REPLACE"],
            "d": ["4102444800000", "1"], "z": ["0", "0", *self.cursors]}[sort])]

    def command(self):
        rng = self.rng
        name = rng.choice([*CALLS, *OFTEN])
        sorts = CALLS[name].split()
        if rng.random() < 0.2:
            sorts = sorts[:rng.randint(0, len(sorts))]
        elif rng.random() < 0.2:
            sorts += rng.choices("knwiO", k=rng.randint(1, 6))
        return [name, *[word for s in sorts for word in self.words(s)]]

    def learn(self, command, reply):
        """Keeps what later commands can use."""
        if isinstance(reply, Error) or not isinstance(reply, list):
            return
        if command[0] in ("VIDI.CLAIM", "VIDI.RECLAIM"):
            self.tokens = self.tokens[-40:] + [r[-1] for r in reply if isinstance(r, list) and r]
        if command[0].endswith("DUMP") and len(reply) == 2:
            self.pieces = [*self.pieces[:3], *self.pieces[3:][-20:], reply[1]] if reply[1] else self.pieces
            self.cursors = [*self.cursors[-10:], str(reply[0] if isinstance(reply[0], int) else reply[0].decode())]


def differing(client, other):
    return [k for k in sorted({*client("KEYS", "*"), *other("KEYS", "*")}) if digest(client, k) != digest(other, k)]


def same(client, other, what):
    """Both servers hold the same, sooner or later: a claim may expire between the two questions."""
    await_replica(client, other)
    try:
        await_that(lambda: not differing(client, other), "the servers hold the same")
    except Failed:
        raise Failed(f"seed {SEED}: {what}: {differing(client, other)}") from None


@case("random words neither end the server nor make replicas differ")
def words():
    speaker = Speaker(SEED)
    with Server() as primary, Server() as replica:
        replica.follow(primary)
        client = primary.client()
        client("SET", "text", "1")
        for number in range(COMMANDS):
            command = speaker.command()
            if command[0] in ("DEL", "RENAME", "COPY") and "text" in command:
                continue
            try:
                speaker.learn(command, client.call(*command))
            except OSError:
                primary.process.wait()
                raise Failed(f"seed {SEED}: command {number} {command!r:.500} ended the server:\n{primary.log_end()}") \
                    from None
            if number % 500 == 499:
                same(client, replica.client(), f"the replica differs after command {number}")
                check(used_memory(client) < 1 << 30, f"seed {SEED}: {used_memory(client)} bytes after {command!r:.300}")
        client("DEBUG", "RELOAD")
        same(client, replica.client(), "a reload changed something")


tap.run()
