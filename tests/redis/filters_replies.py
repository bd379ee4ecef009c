#!/usr/bin/python3
"""BF.* and CF.* answer as RedisBloom does, reply for reply, under both versions of the protocol.

Every example of the commands' documentation is here, and every error. Numbers of bytes are ours, and so are dumped
bytes: they are left open. Each block is played on an empty server, once in version 2 and once in version 3. Keys are
random, so filters that are asked for items that they do not hold are nearly empty, or have a tiny error rate.
"""
import shlex

from support import server as servers
from support import tap
from support.resp import NULL, NULL_BULK, Error, Map, Simple, same
from support.server import Server
from support.tap import Failed, case, show

servers.require()


class Bool:
    """An integer in version 2, a boolean in version 3."""

    def __init__(self, yes):
        self.yes = bool(yes)

    def of(self, protocol):
        return self.yes if protocol == 3 else int(self.yes)


class Fields:
    """Pairs of names and values: a flat array in version 2, a map in version 3."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def of(self, protocol):
        pairs = [(Simple(name), resolve(value, protocol)) for name, value in self.pairs]
        return Map(pairs) if protocol == 3 else [part for pair in pairs for part in pair]


class Either:
    """A reply that differs between the versions in another way."""

    def __init__(self, two, three):
        self.two, self.three = two, three

    def of(self, protocol):
        return resolve(self.three if protocol == 3 else self.two, protocol)


class Kind:
    """Any reply of a type."""

    def __init__(self, kind):
        self.kind = kind

    def of(self, _):
        return self


def resolve(wanted, protocol):
    if isinstance(wanted, list):
        return [resolve(one, protocol) for one in wanted]
    return wanted.of(protocol) if hasattr(wanted, "of") else wanted


def fits(actual, wanted):
    if isinstance(wanted, Kind):
        return type(actual) is wanted.kind  # pylint: disable=unidiomatic-typecheck
    if isinstance(wanted, (list, tuple)):
        return type(actual) is type(wanted) and len(actual) == len(wanted) and all(map(fits, actual, wanted))
    return same(actual, wanted)


YES, NO, OK, NIL = Bool(1), Bool(0), Simple("OK"), Either(NULL_BULK, NULL)
SIZE, DATA = Kind(int), Kind(bytes)
MISSING = Error("ERR not found")
WRONG = Error("WRONGTYPE Operation against a key holding the wrong kind of value")


def arity(name):
    return Error(f"ERR wrong number of arguments for '{name}' command")


def ranged(text, least, most):
    return Error(f"{text} [{least}, {most}]")


MOST = 2**63 - 1
FULL = Error("ERR non scaling filter is full")


def bf_info(capacity, filters, items, expansion):
    return Fields(("Capacity", capacity), ("Size", SIZE), ("Number of filters", filters),
                  ("Number of items inserted", items), ("Expansion rate", expansion))


def cf_info(buckets, filters, items, deleted, size=2, expansion=1, iterations=20):
    return Fields(("Size", SIZE), ("Number of buckets", buckets), ("Number of filters", filters),
                  ("Number of items inserted", items), ("Number of items deleted", deleted), ("Bucket size", size),
                  ("Expansion rate", expansion), ("Max iterations", iterations))


def one_field(name, value):
    return Either([value], Fields((name, value)))


BLOCKS = {
    # ---- the examples of the documentation ----
    "documented: BF.ADD": [("BF.ADD bf item1", YES), ("BF.ADD bf item1", NO)],
    "documented: BF.CARD": [("BF.ADD bf1 item_foo", YES), ("BF.CARD bf1", 1), ("BF.CARD bf_new", 0)],
    "documented: BF.EXISTS": [("BF.ADD bf item1", YES), ("BF.EXISTS bf item1", YES), ("BF.EXISTS bf item2", NO)],
    "documented: BF.INFO": [("BF.ADD bf1 observation1", YES), ("BF.INFO bf1", bf_info(100, 1, 1, 2)),
                            ("BF.INFO bf1 CAPACITY", one_field("Capacity", 100))],
    "documented: BF.INSERT": [("BF.INSERT filter ITEMS foo bar baz", [YES, YES, YES]),
                              ("BF.INSERT filter CAPACITY 10000 ITEMS hello", [YES]),
                              ("BF.INSERT filter NOCREATE ITEMS foo bar", [NO, NO]),
                              ("BF.INSERT other NOCREATE ITEMS foo bar", MISSING)],
    "documented: BF.MADD": [("BF.MADD bf item1 item2 item2", [YES, YES, NO])],
    "documented: BF.MEXISTS": [("BF.MADD bf item1 item2", [YES, YES]),
                               ("BF.MEXISTS bf item1 item2 item3", [YES, YES, NO])],
    "documented: BF.RESERVE": [("BF.RESERVE bf 0.01 1000", OK), ("BF.RESERVE bf 0.01 1000", Error("ERR item exists")),
                               ("BF.RESERVE bf_exp 0.01 1000 EXPANSION 2", OK),
                               ("BF.RESERVE bf_non 0.01 1000 NONSCALING", OK)],
    "documented: CF.ADD": [("CF.ADD cf item1", YES), ("CF.ADD cf item1", YES)],
    "documented: CF.ADDNX": [("CF.ADDNX cf item", YES), ("CF.ADDNX cf item", NO)],
    "documented: CF.COUNT": [("CF.INSERT cf ITEMS item1 item2 item2", [YES, YES, YES]), ("CF.COUNT cf item1", 1),
                             ("CF.COUNT cf item2", 2)],
    "documented: CF.DEL": [("CF.INSERT cf ITEMS item1 item2 item2", [YES, YES, YES]), ("CF.DEL cf item1", YES),
                           ("CF.DEL cf item1", NO), ("CF.DEL cf item2", YES), ("CF.DEL cf item2", YES),
                           ("CF.DEL cf item2", NO)],
    "documented: CF.EXISTS": [("CF.ADD cf item1", YES), ("CF.EXISTS cf item1", YES), ("CF.EXISTS cf item2", NO)],
    "documented: CF.INFO": [("CF.RESERVE cf 1000", OK), ("CF.INFO cf", cf_info(512, 1, 0, 0))],
    "documented: CF.INSERT": [("CF.INSERT cf CAPACITY 1000 ITEMS item1 item2", [YES, YES]),
                              ("CF.INSERT cf1 CAPACITY 1000 NOCREATE ITEMS item1 item2", MISSING),
                              ("CF.RESERVE cf2 2 BUCKETSIZE 1 EXPANSION 0", OK),
                              ("CF.INSERT cf2 ITEMS 1 1 1 1", Either([1, 1, -1, -1], [True, True, False, False]))],
    "documented: CF.INSERTNX": [("CF.INSERTNX cf CAPACITY 1000 ITEMS item1 item2", [1, 1]),
                                ("CF.INSERTNX cf CAPACITY 1000 ITEMS item1 item2 item3", [0, 0, 1]),
                                ("CF.INSERTNX cf_new CAPACITY 1000 NOCREATE ITEMS item1 item2", MISSING)],
    "documented: CF.MEXISTS": [("CF.INSERT cf ITEMS item1 item2", [YES, YES]),
                               ("CF.MEXISTS cf item1 item2 item3", [YES, YES, NO])],
    "documented: CF.RESERVE": [("CF.RESERVE cf 1000", OK), ("CF.RESERVE cf 1000", Error("ERR item exists")),
                               ("CF.RESERVE cf_params 1000 BUCKETSIZE 8 MAXITERATIONS 20 EXPANSION 2", OK)],

    # ---- every error of a Bloom filter ----
    "BF.RESERVE refuses": [
        ("BF.RESERVE", arity("bf.reserve")), ("BF.RESERVE bf", arity("bf.reserve")),
        ("BF.RESERVE bf 0.01", arity("bf.reserve")),
        ("BF.RESERVE bf 0.01 100 EXPANSION 2 NONSCALING more", arity("bf.reserve")),
        ("BF.RESERVE bf blah 100", Error("ERR bad error rate")), ("BF.RESERVE bf nan 100", Error("ERR bad error rate")),
        *[(f"BF.RESERVE bf {rate} 100", Error("ERR error rate must be in the range (0.000000, 1.000000)"))
          for rate in ("0", "1", "7.7", "-0.1", "1e-400")],
        ("BF.RESERVE bf 0.01 blah", Error("ERR bad capacity")), ("BF.RESERVE bf 0.01 1.5", Error("ERR bad capacity")),
        *[(f"BF.RESERVE bf 0.01 {n}", Error("ERR bad capacity"))
          for n in ("9223372036854775808", "-9223372036854775809", "18446744073709551616", "+5", "''")],
        *[(f"BF.RESERVE bf 0.01 {n}", ranged("ERR capacity must be in the range", 1, MOST)) for n in ("0", "-1")],
        ("BF.RESERVE bf 0.01 100 EXPANSION", Error("ERR no expansion")),
        ("BF.RESERVE bf 0.01 100 EXPANSION many", Error("ERR bad expansion")),
        *[(f"BF.RESERVE bf 0.01 100 EXPANSION {n}", ranged("ERR expansion must be in the range", 0, 32768))
          for n in ("-1", "32769")],
        ("BF.RESERVE bf 0.01 100 NONSCALING EXPANSION 2", Error("Nonscaling filters cannot expand")),
        ("BF.RESERVE bf 0.01 100 EXPANSION 2 NONSCALING", Error("Nonscaling filters cannot expand")),
        ("BF.RESERVE bf 0.01 100 NONSCALLING", Error("Unknown argument received")),
        ("EXISTS bf", 0), ("SET text a", OK), ("BF.RESERVE text 0.01 100", WRONG), ("CF.RESERVE cf 100", OK),
        ("BF.RESERVE cf 0.01 100", WRONG)],
    "BF.RESERVE takes": [
        ("bf.reserve a 0.01 100 expansion 32768", OK), ("BF.INFO a", bf_info(100, 1, 0, 32768)),
        ("BF.RESERVE b 0.01 100 nonscaling expansion 0", OK), ("BF.INFO b", bf_info(100, 1, 0, NIL)),
        ("BF.RESERVE c 0.01 100 EXPANSION 0", OK), ("BF.INFO c EXPANSION", one_field("Expansion rate", NIL)),
        ("BF.RESERVE d 0.99 3 NONSCALING", OK), ("BF.ADD d 1", YES),
        ("BF.DEBUG d", [b"size:1", b"bytes:64 bits:512 hashes:2 hashwidth:64 capacity:3 size:1 ratio:0.25"]),
        ("BF.RESERVE e 0.9999999999999999 100 NONSCALING", OK), ("BF.ADD e 1", YES),
        ("BF.RESERVE nonscaling 0.01 100", OK), ("BF.INFO nonscaling expansion", one_field("Expansion rate", 2)),
        ("BF.RESERVE f 1e-2 2000000000", OK), ("BF.INFO f CAPACITY", one_field("Capacity", 2000000000))],
    "BF.ADD, MADD and EXISTS": [
        ("BF.ADD", arity("bf.add")), ("BF.ADD bf", arity("bf.add")), ("BF.ADD bf a b", arity("bf.add")),
        ("BF.MADD bf", arity("bf.madd")), ("BF.EXISTS bf", arity("bf.exists")), ("BF.EXISTS bf a b", arity("bf.exists")),
        ("BF.MEXISTS bf", arity("bf.mexists")), ("BF.EXISTS bf a", NO), ("BF.MEXISTS bf a b c", [NO, NO, NO]),
        ("EXISTS bf", 0), ("bf.madd bf '' 'a b' 'a b' 'a\\r\\nb'", [YES, YES, NO, YES]), ("BF.EXISTS bf ''", YES),
        ("BF.EXISTS bf a", NO), ("SET text a", OK), ("BF.ADD text a", WRONG), ("BF.MADD text a", WRONG),
        ("BF.INSERT text ITEMS a", WRONG), ("BF.EXISTS text a", NO), ("BF.MEXISTS text a b", [NO, NO]),
        ("CF.ADD cf a", YES), ("BF.ADD cf a", WRONG), ("BF.EXISTS cf a", NO), ("VIDI.ADD urls a", 1),
        ("BF.ADD urls a", WRONG), ("BF.EXISTS urls a", NO)],
    "BF.INSERT": [
        ("BF.INSERT bf", arity("bf.insert")), ("BF.INSERT bf ITEMS", arity("bf.insert")),
        ("BF.INSERT bf NOCREATE ITEMS", arity("bf.insert")), ("BF.INSERT bf NOCREATE CAPACITY", arity("bf.insert")),
        ("BF.INSERT bf CAPACITY 10 NOCREATE", arity("bf.insert")),
        ("BF.INSERT bf ERROR 0.01 EXPANSION", arity("bf.insert")),
        ("BF.INSERT bf DONTEXIST NOCREATE", Error("Unknown argument received")),
        ("BF.INSERT bf CAPACITY 0.3 ITEMS a", Error("Bad capacity")),
        ("BF.INSERT bf CAPACITY 0 ITEMS a", Error("Bad capacity")),
        *[(f"BF.INSERT bf ERROR {rate} ITEMS a", Error("Bad error rate")) for rate in ("big", "0", "1", "-1")],
        *[(f"BF.INSERT bf EXPANSION {n} ITEMS a", Error("Bad expansion")) for n in ("big", "-1", "32769")],
        ("BF.INSERT bf NOCREATE ITEMS a", MISSING), ("EXISTS bf", 0),
        ("bf.insert bf items items nocreate", [YES, YES]),
        ("BF.INSERT a ERROR 0.001 CAPACITY 50000 EXPANSION 3 ITEMS foo", [YES]),
        ("BF.INFO a", bf_info(50000, 1, 1, 3)),
        ("BF.INSERT a ERROR 0.1 CAPACITY 10 ITEMS foo bar baz", [NO, YES, YES]),
        ("BF.INFO a", bf_info(50000, 1, 3, 3)),
        ("BF.INSERT b ERROR 1e-9 EXPANSION 0 CAPACITY 2 ITEMS 1 2 3", [YES, YES, FULL]),
        ("BF.INSERT c NONSCALING EXPANSION 7 ITEMS 1", [YES]), ("BF.INFO c", bf_info(100, 1, 1, NIL))],
    "a filter that does not scale is full with its capacity": [
        ("BF.INSERT bf ERROR 1e-9 CAPACITY 3 NONSCALING ITEMS a b c", [YES, YES, YES]),
        ("BF.INSERT bf ITEMS a b c d d", [NO, NO, NO, FULL]), ("BF.MADD bf a d a", [NO, FULL]), ("BF.ADD bf d", FULL),
        ("BF.ADD bf a", NO), ("BF.EXISTS bf d", NO), ("BF.INFO bf", bf_info(3, 1, 3, NIL)), ("BF.CARD bf", 3)],
    "BF.INFO, CARD and DEBUG": [
        ("BF.INFO", arity("bf.info")), ("BF.INFO bf CAPACITY SIZE", arity("bf.info")), ("BF.INFO bf", MISSING),
        ("BF.INFO bf SIZE", MISSING), ("BF.CARD", arity("bf.card")), ("BF.CARD a b", arity("bf.card")),
        ("BF.DEBUG", arity("bf.debug")), ("BF.DEBUG a b", arity("bf.debug")), ("BF.DEBUG bf", MISSING),
        ("SET text a", OK), ("BF.INFO text", WRONG), ("BF.CARD text", WRONG), ("BF.DEBUG text", WRONG),
        ("BF.RESERVE bf 0.001 100", OK), ("BF.INFO bf", bf_info(100, 1, 0, 2)), ("BF.CARD bf", 0),
        ("BF.INFO bf size", one_field("Size", SIZE)), ("BF.INFO bf filters", one_field("Number of filters", 1)),
        ("BF.INFO bf Items", one_field("Number of items inserted", 0)),
        ("BF.INFO bf EXPANSION", one_field("Expansion rate", 2)),
        ("BF.INFO bf wrong_value", Error("Invalid information value"))],
    "BF.SCANDUMP and LOADCHUNK refuse": [
        ("BF.SCANDUMP bf", arity("bf.scandump")), ("BF.SCANDUMP bf 0 0", arity("bf.scandump")),
        ("BF.SCANDUMP bf 0", MISSING), ("BF.SCANDUMP bf str", MISSING), ("BF.RESERVE bf 0.1 10", OK),
        ("BF.SCANDUMP bf str", Error("Second argument must be numeric")), ("BF.ADD bf item1", YES),
        ("BF.SCANDUMP bf 0", [1, DATA]), ("BF.SCANDUMP bf 1", [SIZE, DATA]), ("BF.SCANDUMP bf 2", [0, b""]),
        ("BF.SCANDUMP bf 9", [0, b""]), ("BF.SCANDUMP bf -1", [0, b""]), ("BF.SCANDUMP bf 9223372036854775807", [0, b""]),
        ("BF.LOADCHUNK bf 1", arity("bf.loadchunk")),
        ("BF.LOADCHUNK bf str data", Error("ERR Second argument must be numeric")),
        ("BF.LOADCHUNK new 9 data", MISSING), ("BF.LOADCHUNK bf 1 data", Kind(Error)),
        ("SET text a", OK), ("BF.SCANDUMP text 0", WRONG), ("BF.LOADCHUNK text 1 data", WRONG),
        ("CF.ADD cf a", YES), ("BF.SCANDUMP cf 0", WRONG), ("BF.LOADCHUNK cf 1 data", WRONG)],

    # ---- every error of a cuckoo filter ----
    "CF.RESERVE refuses": [
        ("CF.RESERVE", arity("cf.reserve")), ("CF.RESERVE cf", arity("cf.reserve")),
        ("CF.RESERVE cf 100 BUCKETSIZE", arity("cf.reserve")), ("CF.RESERVE cf str", Error("Bad capacity")),
        *[(f"CF.RESERVE cf 10 {word} str", Error(f"Couldn't parse {word}"))
          for word in ("BUCKETSIZE", "MAXITERATIONS", "EXPANSION")],
        *[(f"CF.RESERVE cf 1000 {word} {n}", ranged(f"{word}: value must be in the range", least, most))
          for word, least, most in (("BUCKETSIZE", 1, 255), ("MAXITERATIONS", 1, 65535), ("EXPANSION", 0, 32768))
          for n in (least - 1, most + 1)],
        *[(f"CF.RESERVE cf {words}", Error(f"Capacity must be in the range [2 * BUCKETSIZE, {MOST}]"))
          for words in ("3", "-5", "0", "1 BUCKETSIZE 1", "19 BUCKETSIZE 10")],
        ("CF.RESERVE cf 100 BUCKETS 1", Error("Unknown argument received")), ("EXISTS cf", 0), ("SET text a", OK),
        ("CF.RESERVE text 100", WRONG), ("BF.ADD bf a", YES), ("CF.RESERVE bf 100", WRONG)],
    "CF.RESERVE takes": [
        ("cf.reserve a 10 maxiterations 10", OK),
        ("CF.DEBUG a", b"bktsize:2 buckets:8 items:0 deletes:0 filters:1 max_iterations:10 expansion:1"),
        ("CF.RESERVE b 10000 EXPANSION 3 BUCKETSIZE 4", OK),
        ("CF.DEBUG b", b"bktsize:4 buckets:4096 items:0 deletes:0 filters:1 max_iterations:20 expansion:4"),
        ("CF.RESERVE c 4 EXPANSION 0", OK), ("CF.INFO c", cf_info(2, 1, 0, 0, expansion=0)),
        ("CF.RESERVE d 4000000000", OK), ("CF.ADD e a", YES), ("CF.INFO e", cf_info(512, 1, 1, 0))],
    "CF.ADD, INSERT and their NX": [
        ("CF.ADD", arity("cf.add")), ("CF.ADD cf", arity("cf.add")), ("CF.ADD cf a b", arity("cf.add")),
        ("CF.ADDNX cf", arity("cf.addnx")), ("CF.INSERT cf", arity("cf.insert")),
        ("CF.INSERT cf ITEMS", arity("cf.insert")), ("CF.INSERT cf NOCREATE ITEMS", arity("cf.insert")),
        ("CF.INSERT cf NOCREATE CAPACITY", arity("cf.insert")), ("CF.INSERTNX cf ITEMS", arity("cf.insertnx")),
        ("CF.INSERT cf CAPACITY 100 NOCREATE", arity("cf.insert")),
        ("CF.INSERT cf element a", Error("Unknown argument received")),
        ("CF.INSERT cf CAPACITY str ITEMS a", Error("Bad capacity")),
        *[(f"CF.{name} cf CAPACITY {n} ITEMS a", Error(f"Capacity must be in the range [cf-bucket-size * 2, {MOST}]"))
          for name in ("INSERT", "INSERTNX") for n in ("-1", "3")],
        ("CF.INSERT cf NOCREATE ITEMS a", MISSING), ("CF.INSERTNX cf NOCREATE ITEMS a", MISSING), ("EXISTS cf", 0),
        ("SET text a", OK), ("CF.ADD text a", WRONG), ("CF.ADDNX text a", WRONG), ("CF.INSERT text ITEMS a", WRONG),
        ("CF.INSERTNX text ITEMS a", WRONG), ("BF.ADD bf a", YES), ("CF.ADD bf a", WRONG),
        ("CF.ADDNX cf k1", YES), ("CF.ADDNX cf k1", NO), ("CF.COUNT cf k1", 1), ("CF.ADD cf k1", YES),
        ("CF.COUNT cf k1", 2), ("cf.insertnx cf items k1 k2 k2", [0, 1, 0]),
        ("CF.INSERT new CAPACITY 10000 ITEMS foo", [YES]),
        ("CF.DEBUG new", b"bktsize:2 buckets:8192 items:1 deletes:0 filters:1 max_iterations:20 expansion:1")],
    "a cuckoo filter that does not expand is full with its slots": [
        ("CF.RESERVE cf 4 EXPANSION 0", OK), *[(f"CF.ADD cf {n}", YES) for n in range(4)],
        ("CF.ADD cf 4", Error("Filter is full")), ("CF.ADD cf 1", Error("Filter is full")),
        ("CF.ADDNX cf 4", Error("Filter is full")), ("CF.ADDNX cf 1", NO),
        ("CF.INSERT cf ITEMS 5 6", Either([-1, -1], [False, False])), ("CF.INSERTNX cf ITEMS 1 5", [0, -1]),
        ("CF.INFO cf", cf_info(2, 1, 4, 0, expansion=0)), ("CF.DEL cf 3", YES), ("CF.ADD cf 5", YES),
        ("CF.INFO cf", cf_info(2, 1, 4, 1, expansion=0))],
    "CF.EXISTS, COUNT, DEL and COMPACT": [
        ("CF.EXISTS cf", arity("cf.exists")), ("CF.MEXISTS cf", arity("cf.mexists")), ("CF.COUNT cf", arity("cf.count")),
        ("CF.COUNT cf a b", arity("cf.count")), ("CF.DEL cf", arity("cf.del")), ("CF.COMPACT", arity("cf.compact")),
        ("CF.COMPACT a b", arity("cf.compact")), ("CF.EXISTS cf a", NO), ("CF.MEXISTS cf a b", [NO, NO]),
        ("CF.COUNT cf a", 0), ("CF.DEL cf a", Error("Not found")),
        ("CF.COMPACT cf", Error("Cuckoo filter was not found")), ("EXISTS cf", 0), ("SET text a", OK),
        ("CF.EXISTS text a", NO), ("CF.MEXISTS text a", [NO]), ("CF.COUNT text a", 0),
        ("CF.DEL text a", Error("Not found")), ("CF.COMPACT text", Error("Cuckoo filter was not found")),
        ("CF.ADD cf a", YES), ("CF.DEL cf a", YES), ("CF.DEL cf a", NO), ("CF.COMPACT cf", OK), ("CF.EXISTS cf a", NO)],
    "CF.INFO and DEBUG": [
        ("CF.INFO", arity("cf.info")), ("CF.INFO a b", arity("cf.info")), ("CF.INFO cf", MISSING),
        ("CF.DEBUG cf", MISSING), ("CF.DEBUG", arity("cf.debug")), ("SET text a", OK), ("CF.INFO text", WRONG),
        ("CF.DEBUG text", WRONG), ("BF.ADD bf a", YES), ("CF.INFO bf", WRONG)],
    "CF.SCANDUMP and LOADCHUNK refuse": [
        ("CF.SCANDUMP cf", arity("cf.scandump")), ("CF.SCANDUMP cf str", Error("Invalid position")),
        ("CF.SCANDUMP cf 0", MISSING), ("CF.RESERVE cf 8", OK), ("CF.SCANDUMP cf 0", [0, NIL]),
        ("CF.SCANDUMP cf -1", Error("Invalid position")), ("CF.ADD cf item1", YES), ("CF.SCANDUMP cf 0", [1, DATA]),
        ("CF.SCANDUMP cf 1", [SIZE, DATA]), ("CF.SCANDUMP cf 2", [0, NIL]), ("CF.SCANDUMP cf 9", [0, NIL]),
        ("CF.LOADCHUNK cf 9", arity("cf.loadchunk")), ("CF.LOADCHUNK cf str data", Error("Invalid position")),
        ("CF.LOADCHUNK cf 0 data", Error("Invalid position")), ("CF.LOADCHUNK cf 1 data", Error("ERR item exists")),
        ("CF.LOADCHUNK new 9 data", MISSING), ("CF.LOADCHUNK cf 9 data", Kind(Error)), ("SET text a", OK),
        ("CF.SCANDUMP text 0", WRONG), ("CF.LOADCHUNK text 1 data", WRONG)],
}


def play(client, protocol, lines):
    client("FLUSHALL")
    for text, wanted in lines:
        command = [part.encode().decode("unicode_escape").encode() for part in shlex.split(text)]
        actual = client.call(*command)
        if not fits(actual, resolve(wanted, protocol)):
            raise Failed(f"version {protocol}, {text}: got {show(actual)}, expected {show(resolve(wanted, protocol))}")


shared = Server()


def add_case(title, lines):
    @case(title)
    def both():
        for protocol in (2, 3):
            play(shared.client(protocol), protocol, lines)


for name, block in BLOCKS.items():
    add_case(name, block)

if __name__ == "__main__":
    tap.run()
