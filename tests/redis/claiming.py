#!/usr/bin/python3
"""Claims: who fetches what, and what happens to the pages of workers that die.

No case waits for a lease to run out. VIDI.HOLD makes claims whose deadline passed long ago; all others last for hours.
"""
import glob
import re

from support import frames
from support import server as servers
from support import tap, values
from support.resp import Error, Map, Simple
from support.server import Server, await_replica, digest
from support.tap import case, check, expect, expect_error

servers.require()

HOUR = 3600 * 1000
LONG_AGO = 1000  # a deadline in 1970


def url(n):
    return f"http://example.org/{n}".encode()


def claim_one(client, owner, page, payload=b"", key="k"):
    """Claims a page that must be free, and returns the token."""
    reply = client("VIDI.CLAIM", key, owner, HOUR, page, payload)
    check(len(reply) == 1 and len(reply[0]) == 2 and reply[0][0] == b"claimed", f"{reply!r}")
    check(re.fullmatch(rb"[0-9a-f]{16}", reply[0][1]), f"token {reply[0][1]!r}")
    return reply[0][1]


def expired_claim(client, owner, page, payload=b"", token=b"00000000000000aa", deadline=LONG_AGO, key="k"):
    expect(client("VIDI.HOLD", key, owner, deadline, HOUR, token, page, payload), Simple("OK"))
    return token


def counts(client, key="k"):
    """(live, expired)"""
    reply = client("VIDI.CLAIMS", key, "COUNT", 0)
    return reply[1], reply[3]


def listed(client, key="k"):
    """All claims, without the milliseconds that are left."""
    found, cursor = [], b"0"
    while True:
        reply = client("VIDI.CLAIMS", key, "COUNT", 3, "CURSOR", cursor)
        found += [c[:4] + [c[4] > 0] for c in reply[5]]
        cursor = reply[7]
        if cursor == b"0":
            return found


def claim_again(client, owner, *pages, lease=HOUR, payload=b"", key="k"):
    return client("VIDI.CLAIM", key, owner, lease, "AGAIN", "URLS", *[x for page in pages for x in (page, payload)])


@case("a page is claimed once, and seen after its commit")
def life_of_a_claim():
    with Server() as server:
        client = server.client()
        token = claim_one(client, "a", url(1))
        for owner in ("a", "b"):
            reply = client("VIDI.CLAIM", "k", owner, HOUR, url(1), "")
            check(reply[0][0] == b"held" and 0 < reply[0][1] <= HOUR, f"{reply!r}")
        expect(client("VIDI.HAS", "k", url(1)), 1)
        expect(client("VIDI.COMMIT", "k", "b", token), [b"stale"])
        expect(client("VIDI.HAS", "k", url(1)), 1)
        expect(client("VIDI.COMMIT", "k", "a", token, b"0123456789abcdef", token), [b"committed", b"stale", b"stale"])
        expect(client("VIDI.HAS", "k", url(1)), 0)
        expect(client("VIDI.CLAIM", "k", "b", HOUR, url(1), ""), [[b"seen"]])
        expect(counts(client), (0, 0))


@case("many pages in one command, each with its own answer")
def many():
    with Server() as server:
        client = server.client()
        client("VIDI.ADD", "k", url(1))
        reply = client("VIDI.CLAIM", "k", "a", HOUR, url(1), "", url(2), "x", url(2), "y", "HTTP://EXAMPLE.org:80/2", "z")
        expect([r[0] for r in reply], [b"seen", b"claimed", b"held", b"held"])
        expect(listed(client), [[url(2), b"x", b"a", reply[1][1], True]])


@case("an expired claim is taken over, and its old token refused")
def takeover():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "k")
        old = expired_claim(client, "dead", url(1), b"old")
        expect(counts(client), (0, 1))
        new = claim_one(client, "b", url(1), b"new")
        check(new != old, "the token is new")
        expect(client("VIDI.COMMIT", "k", "dead", old), [b"stale"])
        expect(client("VIDI.COMMIT", "k", "b", old), [b"stale"])
        expect(client("VIDI.HAS", "k", url(1)), 1)
        expect(listed(client), [[url(1), b"new", b"b", new, True]])


@case("with AGAIN an owner keeps what it holds: the same token, a new lease, the new payload")
def again():
    with Server() as server:
        client = server.client()
        token = claim_one(client, "a", url(1), b"old")
        for payload in (b"old", b"new", b""):
            expect(claim_again(client, "a", url(1), lease=5 * HOUR, payload=payload), [[b"claimed", token]])
            expect(listed(client), [[url(1), payload, b"a", token, True]])
            left = client("VIDI.CLAIMS", "k")[5][0][4]
            check(4 * HOUR < left <= 5 * HOUR, f"{left} ms")
        expect(client("VIDI.CLAIM", "k", "a", HOUR, url(1), "")[0][0], b"held")
        expect(claim_again(client, "b", url(1))[0][0], b"held")
        first, second = claim_again(client, "a", url(2), b"HTTP://example.org:80/2", payload=b"twice")
        check(first == second and first[1] != token, f"{first} {second}")
        late = expired_claim(client, "a", url(3))
        expect(claim_again(client, "a", url(3)), [[b"claimed", late]])
        expired_claim(client, "dead", url(4), token=b"00000000000000bb")
        check(claim_again(client, "a", url(4))[0][1] != b"00000000000000bb", "what was somebody else's gets a new token")
        gone = claim_one(client, "a", url(5))
        client("VIDI.RELEASE", "k", "a", gone)
        check(claim_again(client, "a", url(5))[0][1] != gone, "what was given up gets a new token")
        expect(counts(client), (5, 0))
        expect(client("VIDI.COMMIT", "k", "a", token, first[1], late), [b"committed"] * 3)
        expect(claim_again(client, "a", url(1)), [[b"seen"]])
        expect(claim_again(client, "a", url(9), key="new")[0][0], b"claimed")


@case("an owner commits and releases its claims by their URLs, in any spelling")
def by_url():
    with Server() as server:
        client = server.client()
        pages = [url(i) for i in range(8)]
        claim_again(client, "a", *pages[:6])
        other = claim_one(client, "b", pages[6])
        expired_claim(client, "a", pages[7])
        expect(client("VIDI.COMMIT", "k", "a", "URLS", "HTTP://EXAMPLE.org:80/x/../0", pages[1], pages[0], pages[6], url(99)),
               [b"committed", b"committed", b"stale", b"stale", b"stale"])
        expect(client("VIDI.COMMIT", "k", "a", "URLS", pages[7]), [b"committed"])  # late, and nobody has taken it over
        expect(client("VIDI.MHAS", "k", *pages, url(99)), [0, 0, 1, 1, 1, 1, 1, 0, 1])
        expect(client("VIDI.RELEASE", "k", "a", "urls", "HTTP://EXAMPLE.org/2", pages[2], pages[6]),
               [b"released", b"stale", b"stale"])
        expect(client("VIDI.RELEASE", "k", "a", "DROP", "URLS", pages[3], pages[1]), [b"released", b"stale"])
        expect(counts(client), (3, 1))
        expect(client("VIDI.RECLAIM", "k", "c", HOUR)[0][0], pages[2])
        expect(client("VIDI.COMMIT", "k", "a", "URLS", pages[2]), [b"stale"])
        expect(client("VIDI.COMMIT", "k", "b", other), [b"committed"])
        for command in ("COMMIT", "RELEASE"):
            expect(client("VIDI." + command, "none", "a", "URLS", pages[0], "no url"), [b"stale"] * 2)
        client("VIDI.RESERVE", "drop", "INVALID", "DROP")
        claim_one(client, "a", url(1), key="drop")
        expect(client("VIDI.COMMIT", "drop", "a", "URLS", "no url", url(1)), [b"stale", b"committed"])
        claim_again(client, "a", b"no url", b"", key="k")
        expect(client("VIDI.COMMIT", "k", "a", "URLS", "no url", ""), [b"committed"] * 2)


@case("each page of a large batch has its own answer, in every kind, and is added once")
def large_batches():
    with Server() as server:
        client = server.client()
        for kind in [*values.KINDS, "multiset"]:
            words = ["PARAM", "multiset", "on"] if kind == "multiset" else ["KIND", kind, *values.PARAMS.get(kind, [])]
            client("VIDI.RESERVE", kind, "CAPACITY", 100_000, "ERROR", 1e-9, "INVALID", "DROP", "KEY", "5e" * 16, *words)
            client("VIDI.MADD", kind, *map(url, range(10)))
            pages = [page for i in range(100) for page in (url(i), b"no url", url(i))]
            replies = client("VIDI.CLAIM", kind, "a", HOUR, *[x for page in pages for x in (page, b"p")])
            expect([r[0] for r in replies], ([b"seen", b"invalid", b"seen"] * 10 + [b"claimed", b"invalid", b"held"] * 90), kind)
            tokens = [r[1] for r in replies if r[0] == b"claimed"]
            names = [tokens, ["URLS", *map(url, range(10, 100))]][len(kind) % 2]
            done = client("VIDI.COMMIT", kind, "a", *names, *names[-90:], *names[-1:])
            expect(done, [b"committed"] * 90 + [b"stale"] * 91, kind)
            expect(client("VIDI.MHAS", kind, *map(url, range(101))), [0] * 100 + [1], kind)
            info = values.pairs(client("VIDI.INFO", kind))
            check(kind == "linear" or info["count"] == 100, f"{kind}: {info['count']}")
            if kind == "multiset":
                expect([client("VIDI.COUNT", kind, url(i)) for i in range(100)], [1] * 100)


@case("a batch of commits that the memory limit cuts short commits some, and keeps the claims of the others")
def cut_short():
    with Server() as server:
        client, both = server.client(), 0
        for there in (1000, 1700, 3000, 6000):  # the table grows at the next commits
            client("DEL", "k")
            client("VIDI.RESERVE", "k", "KIND", "hashset", "KEY", "5e" * 16)
            client("VIDI.MADD", "k", *map(url, range(there)))
            pages = [f"http://example.org/{'x' * 300}/{i}" for i in range(600)]
            tokens = [r[1] for r in client("VIDI.CLAIM", "k", "a", HOUR, *[x for page in pages for x in (page, b"")])]
            client("VIDI.MAXMEMORY", "k", client("MEMORY", "USAGE", "k") + 1000)
            done = client("VIDI.COMMIT", "k", "a", *tokens, *tokens)
            for page, first, second in zip(pages, done, done[600:]):
                if first == b"committed":
                    expect((second, client("VIDI.HAS", "k", page)), (b"stale", 0))
                else:
                    expect_error(first, "MAXMEMORY")
            left = sum(b"committed" not in answers for answers in zip(done, done[600:]))
            both += 0 < left < 600
            expect(counts(client), (left, 0))
            client("VIDI.MAXMEMORY", "k", 0)
            check(set(client("VIDI.COMMIT", "k", "a", *tokens)) <= {b"committed", b"stale"}, "the others can be committed")
            expect(client("VIDI.MHAS", "k", *pages), [0] * 600)
        check(both > 0, "no batch was cut short in the middle")


@case("RELEASE ALL gives up everything of one owner, and answers how much that was")
def release_all():
    with Server() as server:
        client, three = server.client(), server.client(3)
        claim_again(client, "a", *map(url, range(50)), payload=b"p")
        expired_claim(client, "a", url(50))
        kept = claim_one(client, "b", url(60))
        expect(client("VIDI.RELEASE", "k", "a", "ALL"), 51)
        expect(counts(client), (1, 51))
        expect(client("VIDI.RELEASE", "k", "a", "ALL"), 0)
        expect(three("VIDI.RELEASE", "k", "nobody", "all"), 0)
        expect(three("VIDI.RELEASE", "none", "a", "ALL"), 0)
        expect(client("EXISTS", "none"), 0)
        expect(len(client("VIDI.RECLAIM", "k", "c", HOUR, "COUNT", 1000)), 51)
        expect(client("VIDI.COMMIT", "k", "b", kept), [b"committed"])


@case("all of a hundred thousand claims are given up at once")
def release_many():
    with Server() as server:
        client = server.client()
        for begin in range(0, 100_000, 10_000):
            claim_again(client, "a", *map(url, range(begin, begin + 10_000)))
        client("VIDI.ROTATE", "k")  # these stay the owner's until somebody takes them
        for _ in range(20):
            expect(client("VIDI.RELEASE", "k", "a", "ALL"), 0)
        for begin in range(0, 100_000, 10_000):
            claim_again(client, "a", *map(url, range(begin, begin + 10_000)))
        expect(client("VIDI.RELEASE", "k", "a", "ALL"), 100_000)
        expect(counts(client), (0, 100_000))


@case("the answers have the same types under both versions of the protocol")
def types():
    with Server() as server:
        for version in (2, 3):
            client = server.client(version)
            key = f"k{version}"
            token = claim_one(client, "a", url(1), key=key)
            expect(claim_again(client, "a", url(1), url(2), key=key)[0], [b"claimed", token])
            expect(client("VIDI.COMMIT", key, "a", "URLS", url(1), url(9)), [b"committed", b"stale"])
            expect(client("VIDI.RELEASE", key, "a", "URLS", url(2)), [b"released"])
            reply = client("VIDI.RELEASE", key, "a", "ALL")
            check(isinstance(reply, int) and reply == 0, f"{reply!r}")


@case("a claim that waits is handed out even if the set takes the page for seen")
def falsely_seen():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "k")
        expired_claim(client, "dead", url(1))
        client("VIDI.ADD", "k", url(1))  # as a false positive would
        token = claim_one(client, "a", url(1))
        client("VIDI.RELEASE", "k", "a", token)
        expect(client("VIDI.RECLAIM", "k", "a", HOUR)[0][0], url(1))


@case("a late commit counts as long as nobody has taken the page over")
def late_commit():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "k")
        token = expired_claim(client, "slow", url(1))
        expect(client("VIDI.COMMIT", "k", "slow", token), [b"committed"])
        expect(client("VIDI.HAS", "k", url(1)), 0)


@case("RECLAIM hands out URL and payload, what expired first first, each once")
def reclaim():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "k")
        payloads = [bytes(range(256)), b"", b"\r\n", b"x" * 5000]
        for i in (2, 0, 3, 1):
            expired_claim(client, f"dead{i}", url(i), payloads[i], b"%016x" % (i + 1), LONG_AGO + i)
        live = claim_one(client, "a", url(9))
        first = client("VIDI.RECLAIM", "k", "b", HOUR)
        expect([c[:2] for c in first], [[url(0), payloads[0]]])
        rest = client("VIDI.RECLAIM", "k", "b", HOUR, "COUNT", 100)
        expect([c[:2] for c in rest], [[url(i), payloads[i]] for i in (1, 2, 3)])
        expect(client("VIDI.RECLAIM", "k", "c", HOUR, "COUNT", 100), [])
        expect(client("VIDI.COMMIT", "k", "dead1", b"%016x" % 2), [b"stale"])
        tokens = [c[2] for c in first + rest]
        expect(len(set(tokens)), 4)
        expect(client("VIDI.COMMIT", "k", "b", *tokens), [b"committed"] * 4)
        expect(client("VIDI.COMMIT", "k", "a", live), [b"committed"])
        expect(counts(client), (0, 0))
        expect(client("VIDI.RECLAIM", "none", "b", HOUR, "COUNT", 1), [])


@case("RENEW extends everything of an owner that nobody has taken over")
def renew():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "k")
        expired_claim(client, "a", url(1), b"", b"00000000000000a1")
        expired_claim(client, "a", url(2), b"", b"00000000000000a2")
        expired_claim(client, "b", url(3), b"", b"00000000000000a3")
        expect(client("VIDI.RENEW", "k", "a"), 2)
        expect(counts(client), (2, 1))
        expect(client("VIDI.RENEW", "k", "b", 5 * HOUR), 1)
        left = client("VIDI.CLAIM", "k", "c", HOUR, url(3), "")[0][1]
        check(4 * HOUR < left <= 5 * HOUR, f"{left} ms")
        expect(client("VIDI.RENEW", "k", "nobody"), 0)
        expect(client("VIDI.RENEW", "none", "a"), 0)


@case("RELEASE gives a page back, DROP forgets it")
def release():
    with Server() as server:
        client = server.client()
        token = claim_one(client, "a", url(1), b"p")
        expect(client("VIDI.RELEASE", "k", "b", token), [b"stale"])
        expect(client("VIDI.RELEASE", "k", "a", token, token), [b"released", b"stale"])
        expect(client("VIDI.COMMIT", "k", "a", token), [b"stale"])
        expect(counts(client), (0, 1))
        expect(listed(client), [[url(1), b"p", b"", b"", False]])
        again = client("VIDI.RECLAIM", "k", "b", HOUR)
        expect(again[0][:2], [url(1), b"p"])
        expect(client("VIDI.RELEASE", "k", "b", again[0][2], "DROP"), [b"released"])
        expect(counts(client), (0, 0))
        expect(client("VIDI.HAS", "k", url(1)), 1)
        expect(client("VIDI.RELEASE", "none", "b", token), [b"stale"])


@case("without memory, claims are refused and can still be given up and handed out")
def out_of_memory():
    with Server() as server:
        client = server.client()
        token, other = claim_one(client, "a", url(1)), claim_one(client, "a", url(2))
        client("CONFIG", "SET", "maxmemory", 1)
        expect_error(client.call("VIDI.CLAIM", "k", "a", HOUR, url(3), ""), "OOM")
        expect_error(client.call("VIDI.COMMIT", "k", "a", other), "OOM")
        expect(client("VIDI.RELEASE", "k", "a", token), [b"released"])
        expect(client("VIDI.RENEW", "k", "a"), 1)
        expect(len(client("VIDI.RECLAIM", "k", "b", HOUR)), 1)
        client("CONFIG", "SET", "maxmemory", 0)
        expect(client("VIDI.COMMIT", "k", "a", other), [b"committed"])


@case("claims count against MAXMEMORY, and give everything back")
def max_memory():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "k", "MAXMEMORY", "100kb")
        claim_one(client, "a", url(0))
        client("VIDI.COMMIT", "k", "a", client("VIDI.CLAIM", "k", "a", HOUR, url(1), "")[0][1])
        before = client("MEMORY", "USAGE", "k")
        tokens, replies = [], [b"claimed"]
        while replies[0] == b"claimed" and len(tokens) < 1000:
            replies = client("VIDI.CLAIM", "k", "a", HOUR, url(len(tokens) + 2), b"p" * 1000)[0]
            if isinstance(replies, Error):
                break
            tokens.append(replies[1])
        expect_error(replies, "MAXMEMORY")
        check(50 < len(tokens) < 100, f"{len(tokens)} claims of 1 KB in 100 KB")
        used = client("MEMORY", "USAGE", "k")
        check(90_000 < used <= 110_000, f"{used} bytes")
        expect(client("VIDI.RELEASE", "k", "a", *tokens, "DROP"), [b"released"] * len(tokens))
        expect(client("MEMORY", "USAGE", "k"), before)


@case("CLAIMS counts and lists, with cursors that hold while claims come and go")
def listing():
    with Server() as server:
        client, three = server.client(), server.client(3)
        expect(client("VIDI.CLAIMS", "none"), [b"live", 0, b"expired", 0, b"claims", [], b"cursor", b"0"])
        tokens = {i: claim_one(client, "ab"[i % 2], url(i + 10), b"%d" % i) for i in range(20)}
        expect(listed(client), [[url(i + 10), b"%d" % i, b"ab"[i % 2:i % 2 + 1], tokens[i], True] for i in range(20)])
        reply = three("VIDI.CLAIMS", "k", "OWNER", "b", "COUNT", 4)
        check(isinstance(reply, Map), f"{reply!r}")
        expect((reply["live"], reply["expired"]), (20, 0))
        expect([c[0] for c in reply["claims"]], [url(i + 10) for i in (1, 3, 5, 7)])
        client("VIDI.RELEASE", "k", "b", tokens[7], tokens[9], "DROP")
        claim_one(client, "b", url(0))
        more = three("VIDI.CLAIMS", "k", "OWNER", "b", "COUNT", 4, "CURSOR", reply["cursor"])
        expect([c[0] for c in more["claims"]], [url(i + 10) for i in (11, 13, 15, 17)])
        expect(len(client("VIDI.CLAIMS", "k")[5]), 10)
        expect(three("VIDI.CLAIMS", "k", "OWNER", "nobody")["claims"], [])


@case("lines that are not URLs are kept apart from URLs, or refused")
def invalid_lines():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "surt", "CANON", "surt")
        claim_one(client, "a", b"http://example.org/1", key="surt")
        token = claim_one(client, "a", b"org,example)/1", key="surt")  # the canonical form of the other one
        expect(client("VIDI.COMMIT", "surt", "a", token), [b"committed"])
        expect(client("VIDI.HAS", "surt", "http://example.org/1"), 1)
        for policy in ("DROP", "FAIL"):
            client("VIDI.RESERVE", policy, "INVALID", policy)
            reply = client("VIDI.CLAIM", policy, "a", HOUR, "no url", "", url(1), "")
            expect([r[0] for r in reply], [b"invalid", b"claimed"])
            check(len(reply[0][1]) > 5, f"it says why: {reply[0]!r}")
        client("VIDI.RESERVE", "bytes", "CANON", "none")
        for item in (b"", b"\0", b"x" * 100_000):
            token = claim_one(client, "a", item, key="bytes")
            expect(client("VIDI.CLAIM", "bytes", "a", HOUR, item, "")[0][0], b"held")
        expect(len(listed(client, "bytes")), 3)
        expect(client("VIDI.COMMIT", "bytes", "a", token), [b"committed"])


@case("wrong arguments are refused, and change nothing")
def wrong_arguments():
    with Server() as server:
        client = server.client()
        token = claim_one(client, "a", url(1))
        client("SET", "text", "x")
        before = digest(client)
        good = b"0123456789abcdef"
        for command, words in (
                (("CLAIM", "k", "a", HOUR, url(2)), ["arguments"]),
                (("CLAIM", "k", "a", HOUR, url(2), "", url(3)), ["arguments"]),
                (("CLAIM", "k", "", HOUR, url(2), ""), ["owner"]),
                (("CLAIM", "k", "o" * 1025, HOUR, url(2), ""), ["owner"]),
                (("CLAIM", "k", "a", 0, url(2), ""), ["lease"]),
                (("CLAIM", "k", "a", -5, url(2), ""), ["lease"]),
                (("CLAIM", "k", "a", "x", url(2), ""), ["lease"]),
                (("CLAIM", "k", "a", 10 ** 12 + 1, url(2), ""), ["lease"]),
                (("CLAIM", "new", "a", 0, url(2), ""), ["lease"]),
                (("CLAIM", "text", "a", HOUR, url(2), ""), ["WRONGTYPE"]),
                (("RECLAIM", "k", "a"), ["arguments"]),
                (("RECLAIM", "k", "a", HOUR, "COUNT"), ["arguments"]),
                (("RECLAIM", "k", "a", HOUR, "COUNT", 0), ["COUNT"]),
                (("RECLAIM", "k", "a", HOUR, "COUNT", 1001), ["COUNT"]),
                (("RECLAIM", "k", "a", HOUR, "KOUNT", 1), ["syntax"]),
                (("RECLAIM", "text", "a", HOUR), ["WRONGTYPE"]),
                (("RENEW", "k"), ["arguments"]),
                (("RENEW", "k", ""), ["owner"]),
                (("RENEW", "k", "a", "x"), ["lease"]),
                (("RENEW", "k", "a", "AT", "x"), ["time"]),
                (("RENEW", "k", "a", "ET", 5), ["syntax"]),
                (("RENEW", "text", "a"), ["WRONGTYPE"]),
                (("COMMIT", "k", "a"), ["arguments"]),
                (("COMMIT", "k", "a", "x"), ["token"]),
                (("COMMIT", "k", "a", token, "x"), ["token"]),
                (("COMMIT", "k", "a", token.upper() + b"0"), ["token"]),
                (("COMMIT", "k", "", good), ["owner"]),
                (("COMMIT", "text", "a", good), ["WRONGTYPE"]),
                (("RELEASE", "k", "a", token, "x"), ["syntax"]),
                (("RELEASE", "k", "a", "DROP"), ["token"]),
                (("RELEASE", "k", "a", token, "AT", -1), ["time"]),
                (("RELEASE", "text", "a", good), ["WRONGTYPE"]),
                (("CLAIM", "k", "a", HOUR, "AGAIN", url(2), ""), ["URLS"]),
                (("CLAIM", "k", "a", HOUR, "AGAIN", "URLS", url(2)), ["arguments"]),
                (("COMMIT", "k", "a", "URLS"), ["token"]),
                (("COMMIT", "k", "a", token, "URLS", url(1)), ["token"]),
                (("COMMIT", "k", "a", "ALL"), ["token"]),
                (("COMMIT", "text", "a", "URLS", url(1)), ["WRONGTYPE"]),
                (("RELEASE", "k", "a", "URLS"), ["token"]),
                (("RELEASE", "k", "a", "DROP", token), ["token"]),
                (("RELEASE", "k", "a", "DROP", "URLS"), ["token"]),
                (("RELEASE", "k", "a", "ALL", "DROP"), ["syntax"]),
                (("RELEASE", "k", "a", "ALL", "AT", "x"), ["time"]),
                (("RELEASE", "k", "a", "ALL", "AT", 5, 5), ["syntax"]),
                (("RELEASE", "text", "a", "ALL"), ["WRONGTYPE"]),
                (("CLAIMS", "k", "COUNT"), ["arguments"]),
                (("CLAIMS", "k", "COUNT", 1001), ["COUNT"]),
                (("CLAIMS", "k", "CURSOR", "x"), ["cursor"]),
                (("CLAIMS", "k", "CURSOR", ""), ["cursor"]),
                (("CLAIMS", "k", "OWNER", ""), ["owner"]),
                (("CLAIMS", "text"), ["WRONGTYPE"]),
                (("HOLD", "k", "a", 5, 5, good, url(2)), ["arguments"]),
                (("HOLD", "none", "a", 5, 5, good, url(2), ""), ["key"]),
                (("HOLD", "k", "", 5, 5, good, url(2), ""), ["owner"]),
                (("HOLD", "k", "a", 5, 5, "0" * 16, url(2), ""), ["owner"]),
                (("HOLD", "k", "a", 5, 5, token, url(2), ""), ["token"]),
                (("HOLD", "k", "a", 5, 0, good, url(2), ""), ["lease"]),
                (("HOLD", "k", "a", 10 ** 16, 5, good, url(2), ""), ["time"]),
                (("HOLD", "k", "a", 5, 5, "x", url(2), ""), ["token"])):
            expect_error(client.call("VIDI." + command[0], *command[1:]), *words)
        expect(digest(client), before)
        expect(client("EXISTS", "new"), 0)
        expect(client("VIDI.COMMIT", "k", "a", token), [b"committed"])


@case("taking a page over costs no further loss, on replicas neither")
def losses_once():
    with Server() as server, Server() as replica:
        client, second = server.client(3), replica.client(3)
        replica.follow(server)
        client("VIDI.RESERVE", "k", "KIND", "classic", "CAPACITY", 1000, "ERROR", 0.01)
        client("VIDI.MADD", "k", *map(url, range(1000)))
        token = claim_one(client, "a", url(2000))
        client("VIDI.MADD", "k", *map(url, range(1000, 1500)))  # the next claim costs more
        lost = client("VIDI.INFO", "k")["expected_lost"]
        client("VIDI.RELEASE", "k", "a", token)
        claim_one(client, "b", url(2000))
        await_replica(client, second)
        for each in (client, second):
            check(abs(each("VIDI.INFO", "k")["expected_lost"] - lost) < 1e-9, f"{each('VIDI.INFO', 'k')}, before {lost}")


@case("MULTI and Lua")
def transactions():
    with Server() as server:
        client = server.client()
        client("MULTI")
        client("VIDI.CLAIM", "k", "a", HOUR, url(1), "")
        client("VIDI.CLAIMS", "k", "COUNT", 0)
        reply = client("EXEC")
        expect(reply[1][1], 1)
        token = client("EVAL", "return redis.call('VIDI.CLAIM', KEYS[1], 'a', 1000000, ARGV[1], '')[1][2]", 1, "k", url(2))
        expect(client("VIDI.COMMIT", "k", "a", token, reply[0][0][1]), [b"committed"] * 2)


@case("after ROTATE a late commit is refused, and the page is handed out in the new epoch")
def rotation():
    with Server() as server, Server() as replica:
        client = server.client()
        replica.follow(server)
        late, other = claim_one(client, "slow", url(1), b"p"), claim_one(client, "slow", url(2))
        client("VIDI.ROTATE", "k")
        expect(counts(client), (0, 2))
        expect(client("VIDI.RENEW", "k", "slow"), 0)
        expect(client("VIDI.RELEASE", "k", "slow", other), [b"stale"])
        expect(client("VIDI.RELEASE", "k", "slow", "URLS", url(2)), [b"stale"])
        expect(client("VIDI.RELEASE", "k", "slow", "ALL"), 0)
        expect(client("VIDI.CLAIMS", "k", "OWNER", "slow")[5], [])
        for how in ("now", "after a reload"):
            expect(client("VIDI.COMMIT", "k", "slow", late), [b"stale"], how)
            expect(client("VIDI.COMMIT", "k", "slow", "URLS", url(1)), [b"stale"], how)
            expect(client("VIDI.HAS", "k", url(1)), 1)
            expect(listed(client), [[url(1), b"p", b"", b"", False], [url(2), b"", b"", b"", False]])
            client("DEBUG", "RELOAD")
        expect([c[:2] for c in client("VIDI.RECLAIM", "k", "b", HOUR)], [[url(1), b"p"]])
        claim_one(client, "b", url(2))
        lost = claim_one(client, "slow", url(3))
        client("VIDI.ROTATE", "k")
        word, token = claim_again(client, "slow", url(3))[0]
        check(word == b"claimed" and token != lost, "it gets a new token")
        expect(client("VIDI.COMMIT", "k", "slow", lost), [b"stale"])
        expect(client("VIDI.COMMIT", "k", "slow", "URLS", url(3)), [b"committed"])
        await_replica(client, replica.client())
        expect(listed(replica.client()), listed(client))
        expect(digest(replica.client(), "k"), digest(client, "k"))


@case("expected losses are charged when a page is claimed, and once")
def expected_losses():
    with Server() as server:
        client = server.client(3)
        client("VIDI.RESERVE", "k", "KIND", "classic", "CAPACITY", 1000, "ERROR", 0.1)
        client("VIDI.MADD", "k", *map(url, range(1000)))
        stats = client("VIDI.INFO", "k")
        odds, before = stats["fp_now"] / (1 - stats["fp_now"]), stats["expected_lost"]
        check(odds > 0.05, f"{odds}")
        replies = client("VIDI.CLAIM", "k", "a", HOUR, *[x for i in range(1000, 1100) for x in (url(i), "")])
        tokens = [r[1] for r in replies if r[0] == b"claimed"]
        check(50 < len(tokens) < 100, f"{len(tokens)} of 100 pages are new")
        charged = before + len(tokens) * odds
        lost = client("VIDI.INFO", "k")["expected_lost"]
        check(abs(lost - charged) < 1e-6, f"{lost}, expected {charged}")
        client("VIDI.RELEASE", "k", "a", *tokens)
        tokens = [c[2] for c in client("VIDI.RECLAIM", "k", "b", HOUR, "COUNT", 1000)]
        check(abs(client("VIDI.INFO", "k")["expected_lost"] - charged) < 1e-6, "taking over costs nothing")
        client("DEBUG", "RELOAD")
        check(abs(client("VIDI.INFO", "k")["expected_lost"] - charged) < 1e-6, "kept in snapshots")
        client("VIDI.COMMIT", "k", "b", *tokens)
        lost = client("VIDI.INFO", "k")["expected_lost"]
        check(charged - 1 < lost < charged + len(tokens) * odds, f"{lost} after the commit, {charged} before")


def fill(client, key="k"):
    """Claims in every state: live, expired, given up, renewed, committed; returns tokens that work."""
    client("VIDI.RESERVE", key)
    tokens = {i: claim_one(client, f"w{i % 3}", url(i), b"payload %d" % i, key) for i in range(30)}
    client("VIDI.COMMIT", key, "w0", tokens.pop(0), tokens.pop(3))
    client("VIDI.RELEASE", key, "w1", tokens.pop(1), tokens.pop(4))
    client("VIDI.RELEASE", key, "w2", tokens.pop(2), "DROP")
    tokens[50] = expired_claim(client, "dead", url(50), b"late", key=key)
    expired_claim(client, "dead", url(51), b"", b"00000000000000bb", key=key)
    client("VIDI.CLAIM", key, "w0", HOUR, url(51), b"taken over")
    pages = {i: url(i) for i in range(60, 66)}
    claim_again(client, "w0", *pages.values(), key=key)
    client("VIDI.COMMIT", key, "w0", "URLS", pages[60], pages[61])
    client("VIDI.RELEASE", key, "w0", "URLS", pages[62])
    client("VIDI.RELEASE", key, "w0", "DROP", "URLS", pages[63])
    for payload in (b"new", b"new"):
        tokens[66] = claim_again(client, "w0", url(66), payload=payload, key=key)[0][1]
    tokens[69] = claim_one(client, "w0", url(69), b"", key)
    claim_again(client, "w0", url(69), payload=b"", key=key)
    claim_again(client, "leaving", url(70), url(71), payload=b"left", key=key)
    client("VIDI.RELEASE", key, "leaving", "ALL")
    client("VIDI.RENEW", key, "w1")
    client("VIDI.RENEW", key, "w2", 2 * HOUR)
    return tokens


def owners(tokens):
    return {i: "dead" if i == 50 else f"w{i % 3}" for i in tokens}


def expect_working(client, tokens, key="k"):
    """Every token is good for one commit."""
    for i, owner in owners(tokens).items():
        expect(client("VIDI.COMMIT", key, owner, tokens[i]), [b"committed"], f"page {i}")


@case("a replica has the same claims, and goes on with them when it is promoted")
def replication():
    with Server() as primary, Server() as early, Server() as late:
        client = primary.client()
        early.follow(primary)
        tokens = fill(client)
        late.follow(primary)
        expect(len(client("VIDI.RECLAIM", "k", "w0", HOUR, "COUNT", 1)), 1)
        for replica in (early, late):
            await_replica(client, replica.client())
            expect(digest(replica.client(), "k"), digest(client, "k"))
            expect(listed(replica.client()), listed(client))
            expect(counts(replica.client()), counts(client))
        expected = listed(client)
        primary.kill()
        promoted = early.client()
        promoted("REPLICAOF", "NO", "ONE")
        expect(listed(promoted), expected)
        expect_working(promoted, {i: t for i, t in tokens.items() if [url(i), t] in [[c[0], c[3]] for c in expected]})


@case("the append-only file says what happened, and not how it was decided")
def append_only():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server:
        client = server.client()
        tokens = fill(client)
        client("VIDI.CLAIM", "k", "w0", HOUR, url(9), "", url(60), "")
        before, sum_before = listed(client), digest(client, "k")
        client("VIDI.COMMIT", "k", "w0", b"%016x" % 99)
        server.restart()
        client = server.client()
        expect(listed(client), before)
        expect(digest(client, "k"), sum_before)
        names = aof_names(server)
        check({"VIDI.HOLD", "VIDI.COMMIT", "VIDI.RELEASE", "VIDI.RENEW"} <= names, f"{names}")
        check(not names & {"VIDI.CLAIM", "VIDI.RECLAIM"}, f"{names}")
        text = aof_text(server)
        for command in (rb"COMMIT\r\n\$1\r\nk\r\n\$2\r\nw0\r\n\$16\r\n[0-9a-f]{16}\r\n\$16\r\n",
                        rb"RELEASE\r\n\$1\r\nk\r\n\$7\r\nleaving\r\n\$3\r\nALL\r\n\$2\r\nAT\r\n"):
            check(re.search(command, text), f"{command} is in the file")
        check(b"URLS" not in text.partition(b"VIDI.HOLD")[2], "what is done by URL is replicated by token")
        client("BGREWRITEAOF")
        servers.await_that(lambda: servers.info(client, "persistence")["aof_rewrite_in_progress"] == "0"
                           and servers.info(client, "persistence")["aof_rewrite_scheduled"] == "0", "it is rewritten")
        server.restart()
        client = server.client()
        expect(listed(client), before)
        expect(digest(client, "k"), sum_before)
        expect_working(client, tokens)


def aof_names(server):
    """The commands in the append-only file of a server."""
    found = re.findall(rb"\*\d+\r\n\$\d+\r\n(VIDI\.[A-Za-z]+)\r\n", aof_text(server), re.I)
    return {name.decode().upper() for name in found}


def aof_text(server):
    return b"".join(open(f, "rb").read() for f in glob.glob(server.folder + "/appendonlydir/*.aof"))


@case("snapshots, DUMP, COPY and RELOAD keep all claims")
def snapshots():
    with Server() as server:
        client = server.client()
        tokens = fill(client)
        before, sum_before, used = listed(client), digest(client, "k"), client("MEMORY", "USAGE", "k")
        client("DEBUG", "RELOAD")
        expect((listed(client), digest(client, "k")), (before, sum_before))
        client("RESTORE", "restored", 0, client("DUMP", "k"))
        client("COPY", "k", "copied")
        for key in ("restored", "copied"):
            expect((listed(client, key), digest(client, key)), (before, sum_before), key)
            expect_working(client, tokens, key)
        client("SAVE")
        server.kill()
        server.start()
        client = server.client()
        expect((listed(client), digest(client, "k")), (before, sum_before))
        check(abs(client("MEMORY", "USAGE", "k") - used) < 2048, "about the same memory")
        expect_working(client, tokens)


@case("claims whose URLs another version of ICU reads otherwise are loaded, and can be committed")
def read_otherwise():
    with Server("--rdbcompression", "no") as server:
        client = server.client()
        client("VIDI.RESERVE", "k", "INVALID", "DROP")
        tokens = [claim_one(client, "a", url(n)) for n in (1, 2, 3)]
        module, parts = frames.open_dump(client("DUMP", "k"))
        for part in parts:
            if part[1] == url(1):
                part[1] = b"no URL"
            elif part[1] == url(3):
                part[1] = url(2).replace(b"http:", b"HTTP:")
        dump = frames.close_dump(frames.close_body(module, parts))
        expect(client("RESTORE", "other", 0, dump), Simple("OK"))
        expect(counts(client, "other"), (3, 0))
        expect(client("VIDI.COMMIT", "other", "a", *tokens), [b"committed"] * 3)
        expect(counts(client, "other"), (0, 0))


@case("whatever a command accepts can be loaded again")
def extremes():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server:
        client = server.client()
        claim_one(client, "o" * 1024, url(1))
        client("VIDI.RENEW", "k", "o" * 1024, 10 ** 12, "AT", 10 ** 15)
        client("VIDI.RELEASE", "k", "a", claim_one(client, "a", url(2)), "AT", 0)
        client("VIDI.HOLD", "k", "b", 10 ** 15 + 10 ** 12, 10 ** 12, "f" * 16, url(3), "")
        before = listed(client)
        for _ in range(2):  # the second time from a file that was rewritten
            client("DEBUG", "RELOAD")
            server.restart()
            client = server.client()
            expect(listed(client), before)
            client("BGREWRITEAOF")
            servers.await_that(lambda: servers.info(client, "persistence")["aof_rewrite_in_progress"] == "0"
                               and servers.info(client, "persistence")["aof_rewrite_scheduled"] == "0", "it is rewritten")


@case("expired claims are no part of the digest")
def digests():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "k")
        empty = digest(client, "k")
        expired_claim(client, "a", url(1))
        expect(digest(client, "k"), empty)
        token = claim_one(client, "a", url(2))
        live = digest(client, "k")
        check(live != empty, "live claims are")
        client("VIDI.RELEASE", "k", "a", token)
        expect(digest(client, "k"), empty)


tap.run()
