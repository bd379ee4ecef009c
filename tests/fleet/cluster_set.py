#!/usr/bin/python3
"""A set on one server: every call of vidi/cluster.h, what it promises, and what it refuses."""
import random

from support import server as servers  # tests/redis/support belongs to this package, too
from support import tap
from support.driver import Driver
from support.server import Server, await_that
from support.tap import case, check, expect

servers.require()

EABSENT, ECANNOT, EDIFFERS, EFORMAT, EEXIST, EBUSY, EDAMAGED = -5, -6, -7, -8, -11, -12, -13
EOPTION, EARGUMENT, ELIMIT, EIO = -2, -1, -4, -9
LEASE = "lease=3600000"

server = Server()
direct = server.client()
numbers = iter(range(1000000))


def address(name=None):
    """Of a set with this name, or with a new one."""
    return f"redis://127.0.0.1:{server.port}/{name or f'set{next(numbers)}'}"


def name_of(at):
    return at.rpartition("/")[2]


def made(*options, access=("manual", LEASE), shards=5):
    """(address, handle) of a new set."""
    at, handle = address(), Driver()
    handle("create", at, f"shards={shards}", *options)
    handle("open", at, *access)
    return at, handle


def another(at, *access):
    handle = Driver()
    handle("open", at, *(access or ("manual", LEASE)))
    return handle


def keys(at):
    """Of the shards, in their order."""
    name = name_of(at)
    found = direct("KEYS", "{" + name + ":*}")
    return sorted(found, key=lambda key: int(key.decode().split(":")[-2]))


def refuses(reply, code, *words):
    expect(reply[0], code, reply[1])
    for word in words:
        check(word in reply[1], f"{reply[1]!r} does not say {word!r}")


def stats_of(command):
    """How many times the server has executed it."""
    rows = [row for row in direct("INFO", "commandstats").decode().split() if row.startswith(f"cmdstat_{command}:")]
    return int(rows[0].partition("calls=")[2].partition(",")[0]) if rows else 0


# ---- making and opening ----

@case("nothing is made by accident: only create makes a set, and only once")
def making():
    at = address()
    with Driver() as one:
        refuses(one.ask("open", at), EABSENT, at, "vidi init")
        expect(direct("KEYS", "*" + name_of(at) + "*"), [])
        one("create", at, "shards=4", "capacity=1000")
        expect(len(keys(at)), 4)
        refuses(one.ask("create", at, "shards=4", "capacity=1000"), EEXIST, at)
        one("open", at)
        facts = one.stat()
        expect((facts["shards"], facts["count"], facts["epoch"], facts["nodes"]), (4, 0, 0, 1))


@case("without a number of shards, one server has one, or one for each 8 MiB of the capacity")
def number_of_shards():
    with Driver() as one:
        for options, shards in (((), 1), (("capacity=1000",), 1), (("capacity=3000000",), 3)):
            at = address()
            one("create", at, *options)
            one("open", at)
            expect(one.stat()["shards"], shards)


@case("a set that was begun is completed with the same options, and with no others")
def completing():
    at = address()
    with Driver() as one:
        one("create", at, "shards=3", "capacity=1000", "kind=hashset")
        record = direct("GET", "{" + name_of(at) + "}:set")
        direct("DEL", "{" + name_of(at) + "}:state", keys(at)[1])
        refuses(one.ask("open", at), EBUSY, "being made")
        refuses(one.ask("create", at, "shards=4", "capacity=1000", "kind=hashset"), EEXIST, "other options", "shards")
        refuses(one.ask("create", at, "shards=3", "capacity=2000", "kind=hashset"), EEXIST, "capacity")
        refuses(one.ask("create", at, "shards=3", "capacity=1000", "kind=hashset", "key"), EEXIST, "key")
        one("create", at, "shards=3", "capacity=1000", "kind=hashset")
        expect(direct("GET", "{" + name_of(at) + "}:set"), record)
        one("open", at)
        expect(one("check"), "0 ")


@case("another thing at the place of a shard is never taken over")
def occupied():
    at = address()
    with Driver() as one:
        one("create", at, "shards=2")
        first, second = keys(at)
        one("drop", at)
        direct("VIDI.RESERVE", first)
        direct("SET", second, "mine")
        refuses(one.ask("create", at, "shards=2"), EEXIST, second.decode())
        direct("DEL", second)
        refuses(one.ask("create", at, "shards=2"), EEXIST, first.decode())
        direct("DEL", first)
        one("create", at, "shards=2")


@case("a removed set is gone with all its keys; what is not its own stays")
def dropping():
    at, one = made()
    one("add", "http://a/")
    foreign = keys(at)[2]
    direct("DEL", foreign)
    direct("SET", foreign, "mine")
    one.close()
    with Driver() as two:
        two("drop", at)
        expect(direct("KEYS", "*" + name_of(at) + "*"), [foreign])
        refuses(two.ask("drop", at), EABSENT)


@case("a removal that was interrupted is completed, and nobody opens the set")
def dropping_again():
    at, one = made()
    one("close")
    direct("SET", "{" + name_of(at) + "}:state", "dropping")
    direct("DEL", keys(at)[0])
    refuses(one.ask("open", at), EABSENT, "being removed", "vidi drop")
    refuses(one.ask("create", at), EEXIST, "being removed")
    one("drop", at)
    expect(direct("KEYS", "*" + name_of(at) + "*"), [])
    one.close()


@case("records and states that are damaged, foreign or newer are refused")
def damaged_record():
    at, one = made()
    key, state = "{" + name_of(at) + "}:set", "{" + name_of(at) + "}:state"
    record = direct("GET", key)
    for text in (b"", b"nonsense", record[:-1], record.replace(b"format 1", b"format 2"), record + b"new thing\n",
                 record.replace(b"shards 5", b"shards 0"), record.replace(b"shards 5", b"shards 16385")):
        direct("SET", key, text)
        refuses(one.ask("open", at), EFORMAT, key)
        refuses(one.ask("drop", at), EFORMAT, key)
    direct("SET", key, record)
    for text in (b"", b"ready", b"ready x", b"rotating 1", b"ready 1 1"):
        direct("SET", state, text)
        refuses(one.ask("open", at), EFORMAT, state)
    direct("SET", state, b"ready 0")
    one("open", at)
    one.close()


@case("options that make no sense are refused before anything is made")
def options():
    with Driver() as one:
        for words in (["kind=nothing"], ["params=nothing=1"], ["canon=nothing"], ["error=2"], ["shards=16385"],
                      ["kind=classic"]):
            at = address()
            code, text = one.ask("create", at, *words)
            check(code in (EOPTION, ECANNOT), f"{words}: {code} {text}")
            expect(direct("KEYS", "*" + name_of(at) + "*"), [])
        refuses(one.ask("create", f"redis://127.0.0.1:{server.port}/no{{braces}}"), EOPTION)
        refuses(one.ask("open", f"redis://127.0.0.1:{server.port}/"), EOPTION)


# ---- adding ----

@case("repeats in a batch, spellings, and what waits for a commit are seen")
def repeats():
    _, one = made()
    expect(one("add", "http://a/", "http://b/", "HTTP://A:80/", "http://a/x/.."), "NNSS")
    expect(one("add", "http://b/", "http://c/"), "SN")
    asked = stats_of("vidi.claim")
    expect(one("add", "http://a/", "http://b/", "http://a/"), "SSS")
    expect(stats_of("vidi.claim"), asked, "servers are not asked for what is known here")
    expect(one("has", "http://a/", "http://d/"), "SN")
    expect(one.stat()["count"], 0)
    one("commit")
    expect(one("add", "http://a/", "http://b/", "http://c/", "http://d/"), "SSSN")
    facts = one.stat()
    expect((facts["count"], facts["claims"], facts["stale"]), (3, 1, 0))
    one.close()


def waiting(held):
    return {url for url, _ in held}


@case("adds, commits and removals agree with a model, in several kinds and numbers of shards")
def like_a_set():
    rng = random.Random(7)
    pool = [f"http://example.org/{i}" for i in range(300)]
    for kind, shards in (("fingerprint", 1), ("fingerprint", 16), ("hashset", 3)):
        at, one = made(f"kind={kind}", shards=shards)
        held, added, mark = [], set(), 0  # held: with the mark after each
        for _ in range(60):
            urls = [rng.choice(pool) for _ in range(rng.randrange(1, 40))]
            wanted = ""
            for url in urls:
                wanted += "S" if url in added or url in waiting(held) else "N"
                if wanted[-1] == "N":
                    held.append((url, mark := mark + 1))
            expect(one("marks", *urls).split()[0], wanted)
            expect(int(one("mark")), mark)
            step = rng.randrange(4)
            if step == 0:
                upto = rng.randrange(mark + 1)
                one("commit", upto)
                added.update(url for url, at_ in held if at_ <= upto)
                held = [(url, at_) for url, at_ in held if at_ > upto]
            elif step == 1:
                url = rng.choice(pool)
                code, _ = one.ask("remove", url)
                expect(code, 0 if url in added or url in waiting(held) else EABSENT)
                added.discard(url)
                held = [pair for pair in held if pair[0] != url]
            elif step == 2:
                urls = [rng.choice(pool) for _ in range(20)]
                expect(one("has", *urls), "".join("S" if url in added or url in waiting(held) else "N" for url in urls))
            expect([one.stat()[what] for what in ("count", "claims")], [len(added), len(held)])
        one.close()
        with another(at) as two:
            urls = sorted(added) + [url for url, _ in held]
            expect(two("add", *urls), "S" * len(added) + "N" * len(held))


@case("marks say what a commit takes: nothing that was answered later")
def marks():
    _, one = made()
    verdicts, *numbers_ = one("marks", "http://a/", "http://a/", "http://b/", "http://c/").split()
    expect((verdicts, numbers_), ("NSNN", ["1", "1", "2", "3"]))
    one("commit", 2)
    expect(one.stat()["count"], 2)
    refuses(one.ask("commit", 4), EARGUMENT, "mark")
    expect(one.stat()["count"], 2)
    one("commit", 3)
    one("commit", 1)
    facts = one.stat()
    expect((facts["count"], facts["claims"]), (3, 0))
    one.close()


@case("without manual commits an add is in the set when it returns")
def autocommit():
    at, one = made(access=())
    expect(one("add", "http://a/", "http://a/", "http://b/"), "NSN")
    expect(one("mark"), "0")
    one.kill()
    with another(at) as two:
        expect(two.stat()["count"], 2)
        expect(two.stat()["claims"], 0)
        expect(two.ask("one", "http://a/")[0], 2)
        expect(two.ask("one", "http://c/")[0], 1)


@case("lines that are not URLs are kept, dropped, or end a batch, as each handle says")
def invalid():
    at, one = made()
    expect(one("add", "no-url", "http://a/", "no-url"), "NNS")
    one("commit")
    with another(at, "invalid=1", LEASE) as dropping_, another(at, "invalid=2", LEASE) as failing:
        expect(dropping_("add", "no-url", "http://b/", "neither"), "INI")
        expect(dropping_.ask("one", "neither")[0], 3)
        code, text = failing.ask("add", "http://c/", "no-url", "http://d/")
        expect((code, text), (3, "NUU"))
        expect(failing("has", "http://c/", "http://d/"), "SN")
    expect(one("has", "no-url", "neither"), "SN")
    one.close()


@case("every kind of the module, and every canonical form")
def kinds_and_forms():
    kinds = ["list", "sorted", "hashset", "classic", "counting", "multilayer", "eigen", "spatial", "scalable",
             "blocked", "fingerprint"]
    for kind in kinds:
        at, one = made(f"kind={kind}", "capacity=1000", access=(), shards=3)
        expect(one("add", "http://a.example/1", "http://a.example/1", "http://b.example/2"), "NSN", kind)
        expect(one.stat()["count"], 2, kind)
        if kind in ("counting", "fingerprint", "hashset"):
            expect((one("count", "http://a.example/1"), one("count", "http://c.example/")), ("1", "0"), kind)
            one("remove", "http://a.example/1")
            expect(one("add", "http://a.example/1", "http://b.example/2"), "NS", kind)
        expect(one("check"), "0 ")
        one("rotate", "force")
        expect(one("add", "http://a.example/1"), "N", kind)
        expect(one("check"), "0 ")
        one("drop", at)
        one.close()
    same = [("http://www.a.example/x?b=1&a=2", "http://a.example/x?a=2&b=1")]
    for form, pairs in (("crawl,+www", same), ("surt", [("http://a.example/x", "https://a.example/x")]),
                        ("key=host", [("http://a.example/x", "http://a.example/y")]), ("w3lib", []), ("none", [])):
        at, one = made(f"canon={form}", access=(), shards=4)
        for url, other in pairs:
            expect(one("add", url, other), "NS", form)
            expect(one("has", other, "http://other.example/"), "SN", form)
        expect(one("add", "http://q.example/?b&a"), "N")
        expect(one("check"), "0 ")
        one("drop", at)
        one.close()


# ---- several processes ----

@case("exactly one of several processes is told that a URL is new")
def one_new():
    at, first = made(access=())
    count, folder = 20000, tap.scratch()
    handles = [another(at, "noop") for _ in range(3)] + [first]
    for number, handle in enumerate(handles):
        handle.send("many", "http://shared.example/", 0, count, f"log={folder}/{number}")
    told = [int(handle.receive()[1]) for handle in handles]
    urls = [line for number in range(4) for line in open(f"{folder}/{number}", encoding="ascii")]
    tap.remove(folder)
    expect((sum(told), len(urls), len(set(urls))), (count, count, count))
    expect(first.stat()["count"], count)
    for handle in handles:
        handle.close()


@case("threads may share a handle: a URL is new to one of them, and leases are renewed meanwhile")
def threads():
    _, one = made(access=("manual", "lease=30"))
    expect(one("threads", 4, "http://x/", 2000), "2000")
    one("commit")
    facts = one.stat()
    expect((facts["count"], facts["claims"]), (2000, 0))
    one.close()


@case("what another client has claimed is seen, or held if that is asked for")
def held():
    at, one = made()
    one("add", "http://a/")
    with another(at) as two, another(at, "held", "manual", LEASE) as three:
        expect(two("add", "http://a/", "http://b/"), "SN")
        expect(three("marks", "http://a/", "http://c/", "http://c/", "http://b/", "http://a/"), "HNSHH 0 1 1 1 1")
    one.close()


@case("a client that is killed between claim and commit leaves URLs that are new again")
def killed():
    at, one = made(access=("manual", "lease=200"))
    expect(one("add", "http://a/", "http://b/"), "NN")
    one("commit", 1)
    one.kill()
    with another(at) as two:
        expect(two("add", "http://a/"), "S")
        await_that(lambda: two("add", "http://b/") == "N", "the claim expires")


@case("a handle that is closed gives its claims up at once, and commits nothing of them")
def closing():
    at, one = made()
    expect(one("add", "http://a/", "http://b/"), "NN")
    one("commit", 1)
    one("close")
    with another(at) as two:
        expect(two("add", "http://a/", "http://b/"), "SN")
    one.close()


@case("leases are renewed as long as the handle is open, and only where there are claims")
def renewing():
    at, one = made(access=("manual", "lease=600"), shards=8)
    one("add", "http://a/")
    (key,) = [key for key in keys(at) if direct("VIDI.CLAIMS", key)[1]]
    monitor = server.client()
    monitor("MONITOR")
    seen = []
    while len(seen) < 3:
        line = monitor.read()
        if '"VIDI.RENEW"' in line:
            seen.append(line)
    check(all(f'"{key.decode()}"' in line for line in seen), str(seen))
    monitor.close()
    one("commit")
    facts = one.stat()
    expect((facts["count"], facts["stale"]), (1, 0))
    one.close()


@case("a commit that comes too late is counted, and adds nothing")
def stale():
    at, one = made()
    one("add", "http://a/", "http://b/")
    with another(at) as two:
        two("rotate", "force")
    one("commit")
    facts = one.stat()
    expect((facts["stale"], facts["count"], facts["expired"]), (2, 0, 2))
    expect(one("add", "http://a/"), "N")
    one.close()


# ---- the whole set ----

@case("statistics are the sums over all shards; means are those of a URL chosen at random")
def statistics():
    at, one = made("kind=classic", "capacity=3000", "error=0.01", access=(), shards=3)
    one("many", "http://x/", 0, 2000)
    facts = one.stat()
    infos = [dict(zip(reply[::2], reply[1::2])) for reply in (direct("VIDI.INFO", key) for key in keys(at))]
    expect(facts["count"], sum(info[b"count"] for info in infos))
    expect((facts["least"], facts["most"]), (min(i[b"count"] for i in infos), max(i[b"count"] for i in infos)))
    expect(facts["capacity"], sum(info[b"capacity"] for info in infos))
    check(facts["capacity"] >= 3000 + 3 * 6 * 31, "each shard has room for an unequal share")
    for name, field, share in (("lost", b"expected_lost", 1), ("fp", b"fp_now", 3), ("fill", b"fill", 3)):
        wanted = sum(float(info[field]) for info in infos) / share
        check(abs(facts[name] - wanted) <= 1e-12 * max(wanted, 1), f"{name}: {facts[name]}, expected {wanted}")
    check(facts["lost"] > 0, "a page is expected to be lost")
    one.close()


@case("a rotation begins an empty epoch of equal shards, and keeps the last one if asked to")
def rotating():
    at, one = made("kind=classic", "capacity=3000", "error=0.001", access=(), shards=3)
    one("add", "http://a/", "http://b/")
    one("rotate", "keep", "capacity=6000")
    expect(one.stat()["epoch"], 1)
    expect(one("has", "http://a/"), "N")
    expect((one.ask("previous", "http://a/")[0], one.ask("previous", "http://c/")[0]), (2, 1))
    one("add", "http://c/")
    one("rotate")
    refuses(one.ask("previous", "http://c/"), ECANNOT, "previous epoch")
    expect(one("check"), "0 ")
    expect(len({tuple(direct("VIDI.INFO", key)[13:16]) for key in keys(at)}), 1)
    one.close()


@case("a set with claims is rotated by force only")
def rotating_claims():
    at, one = made()
    one("claim", "worker", 3600000, "http://a/")
    refuses(one.ask("rotate"), EBUSY, "claims")
    expect(one.stat()["epoch"], 0)
    one("add", "http://b/")
    one("rotate", "force")
    expect([one.stat()[what] for what in ("epoch", "expired", "staged")], [1, 2, 0])
    one("commit")
    expect(one.stat()["stale"], 0)
    expect(one("add", "http://b/"), "N")
    one.close()


@case("whoever opens a set finishes its rotation, also to read, and no shard is rotated twice")
def finishing_rotation():
    at, one = made(access=())
    one("add", *[f"http://x/{i}" for i in range(50)])
    one("close")
    first = keys(at)[0]
    direct("VIDI.ROTATE", first, "CAPACITY", 77)
    direct("SET", "{" + name_of(at) + "}:state", "rotating 1 00000000000000aa 77 0 1")
    one("open", at, "readonly")
    expect([one.stat()[what] for what in ("epoch", "count")], [1, 0])
    expect({direct("VIDI.INFO", key)[31] for key in keys(at)}, {1})
    expect(direct("GET", "{" + name_of(at) + "}:state"), b"ready 1")
    expect(one("check"), "0 ")
    one.close()


@case("shards read into memory are the set, and can be merged with each other")
def reading_shards():
    at, one = made("kind=fingerprint", access=(), shards=6)
    one("many", "http://x/", 0, 5000)
    expect(one("shards", "http://x/0", "http://x/4999", "http://x/5000"), "SSN")
    one.close()


@case("sets that keep their URLs can be merged into it; of others nobody knows the shards")
def merging():
    at, one = made(access=(), shards=6)
    one("add", "http://a/")
    one("merge", "hashset", "http://a/", "http://b/", "http://c/", "no-url")
    expect(one("has", "http://a/", "http://b/", "http://c/", "no-url", "http://d/"), "SSSSN")
    expect(one.stat()["count"], 4)
    refuses(one.ask("merge", "fingerprint", "http://x/"), ECANNOT, "fingerprint")
    one.close()


@case("a shard that is missing or foreign is an error of every call, which names it")
def missing_shard():
    at, one = made(shards=1)
    one("add", "http://a/")
    key = keys(at)[0]
    calls = [("add", "http://b/"), ("one", "http://b/"), ("has", "http://b/"), ("commit",), ("stat",), ("remove", "x"),
             ("count", "http://b/"), ("previous", "http://b/"), ("rotate", "force"), ("shards",), ("claims",),
             ("merge", "hashset", "http://b/"), ("claim", "me", 1000, "http://b/"), ("renew", "me", 1000),
             ("finish", "me", "commit", "http://b/"), ("finish", "me", "drop", "http://b/"), ("abandon", "me"),
             ("reclaim", 0, "me", 1000, 10)]
    state = "{" + name_of(at) + "}:state"
    for code, replace in ((EDAMAGED, None), (EDIFFERS, ("VIDI.RESERVE", key)), (EDIFFERS, ("SET", key, "text"))):
        direct("DEL", key)
        if replace:
            direct(*replace)
        kept = replace and direct("GET" if replace[0] == "SET" else "VIDI.INFO", key)
        for call in calls:
            refuses(one.ask(*call), code, key.decode())
            direct("SET", state, "ready 0")
        text = one("check")
        check(text.startswith("1 ") and key.decode() in text, text)
        expect(direct("EXISTS", key), 1 if replace else 0)
        if replace:
            expect(direct("GET" if replace[0] == "SET" else "VIDI.INFO", key), kept)
    one.close()


@case("check finds shards that are made otherwise")
def checking():
    at, one = made("kind=fingerprint", shards=3)
    expect(one("check"), "0 ")
    direct("VIDI.ROTATE", keys(at)[1])
    text = one("check")
    check(text.startswith("1 ") and "epoch" in text and keys(at)[1].decode() in text, text)
    direct("DEL", "{" + name_of(at) + "}:set")
    check("record" in one("check"), "the record is gone")
    one.close()


# ---- claims under other names ----

@case("claims are made, held, finished, abandoned and reclaimed by their owners")
def claims():
    at, one = made(shards=3)
    with another(at) as two:
        expect(one("claim", "a", 3600000, "http://p1/=x", "http://p2/=y", "http://p1/"), "NNH")
        expect(two("claim", "b", 3600000, "http://p1/", "http://p3/=z"), "HN")
        expect(one("claim", "a", 3600000, "http://p1/"), "H")
        expect(one("claim", "a", 3600000, "again", "http://p1/=new"), "N")
        expect(sorted(one("claims").split()), ["http://p1/=new", "http://p2/=y", "http://p3/=z"])
        expect(one("claims", "b").split(), ["http://p3/=z"])
        expect(one("finish", "a", "commit", "http://p1/", "http://p3/"), "10")
        expect(two("claim", "b", 3600000, "http://p1/"), "S")
        expect(one("finish", "a", "drop", "http://p2/"), "1")
        expect(two("claim", "b", 3600000, "http://p2/"), "N")
        expect(two("finish", "b", "release", "http://p2/"), "1")
        expect(one("claim", "a", 3600000, "http://p2/"), "N")
        expect(two("renew", "b", 3600000), "1")
        expect(two("abandon", "b"), "1")
        found = "".join(one("reclaim", shard, "a", 3600000, 10) for shard in range(3))
        expect(found.split(), ["http://p3/=z"])
        expect(one("claims", "b"), "")
    one.close()


@case("a long list of claims is complete, also with lines that are not URLs")
def long_list():
    at, one = made(shards=2)
    urls = [f"http://x/{i}" for i in range(2500)] + ["no-url", "neither"]
    one("claim", "a", 3600000, *urls)
    expect(sorted(one("claims", "a").split()), sorted(url + "=" for url in urls))
    expect(one("finish", "a", "commit", *urls), "1" * len(urls))
    expect(one("claims"), "")
    one.close()


# ---- servers that refuse ----

@case("an error tells what to do, and never the password")
def permissions():
    at, one = made()
    one.close()
    direct("ACL", "SETUSER", "reader", "on", ">secret-word", "~*", "+@all", "-vidi.claim")
    guarded = f"redis://reader:secret-word@127.0.0.1:{server.port}/{name_of(at)}"
    with Driver() as two:
        two("open", guarded)
        code, text = two.ask("add", "http://a/")
        expect(code, EIO)
        check("NOPERM" in text and "reader@127" in text and "secret-word" not in text, text)
        expect(two("has", "http://a/"), "N")
    direct("ACL", "DELUSER", "reader")


@case("a handle that was opened to read changes nothing")
def reading_only():
    at, one = made()
    one("open", at, "readonly")
    for call in (("add", "http://a/"), ("remove", "http://a/"), ("rotate",), ("merge", "hashset", "http://a/"),
                 ("claim", "a", 1000, "http://a/"), ("finish", "a", "commit", "http://a/"), ("abandon", "a")):
        refuses(one.ask(*call), ECANNOT, "to read")
    expect(one("has", "http://a/"), "N")
    one.close()


@case("a server without the module, and one without memory, are named as such")
def poor_servers():
    bare = Server(arguments=None)
    with Driver() as one:
        refuses(one.ask("create", f"redis://127.0.0.1:{bare.port}/x"), ECANNOT, "redisvidi.so")
    bare.remove()
    at, one = made()
    direct("CONFIG", "SET", "maxmemory", 1)
    code, text = one.ask("add", "http://a/", "http://b/", "http://a/")
    direct("CONFIG", "SET", "maxmemory", 0)
    check(code == ELIMIT and text.startswith("UUU") and "OOM" in text, text)
    expect(one("add", "http://a/", "http://b/"), "NN")
    direct("CONFIG", "SET", "maxmemory", 1)
    check(one.ask("commit")[0] == ELIMIT, "a commit needs memory")
    direct("CONFIG", "SET", "maxmemory", 0)
    one("commit")
    expect(one.stat()["count"], 2)
    one.close()


tap.run()
