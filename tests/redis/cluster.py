#!/usr/bin/python3
"""Sets in a real cluster: slots that move, and replicas that are promoted meanwhile."""
import os
import re
import sys
import time

from support import server as servers
from support import tap
from support.cluster import Cluster, Move
from support.tap import case, check, expect

servers.require()

HOUR = 3600 * 1000


def urls(count):
    return [f"http://example.org/{n}" for n in range(count)]


@case("a client that follows MOVED and ASK sees one set while its slot moves")
def moves():
    with Cluster() as cluster:
        cluster("VIDI.RESERVE", "k")
        expect(cluster("VIDI.MADD", "k", *urls(50)), [1] * 50)
        source = cluster.owner("k")
        target = next(node for node in cluster.primaries() if node is not source)
        move = Move(cluster, "k", target).begin()
        expect(cluster("VIDI.ADD", "k", "http://example.org/during"), 1)
        expect(move.carry(), 1)
        check(str(source.try_to("VIDI.HAS", "k", "u")).startswith("ASK "), "the source sends clients on")
        asked = [*urls(50), "http://example.org/during", "http://example.org/new"]
        expect(cluster("VIDI.MHAS", "k", *asked), [0] * 51 + [1])
        move.end()
        check(cluster.owner("k") is target, "the slot has moved")
        expect(cluster("VIDI.ADD", "k", urls(1)[0]), 0)


@case("a primary that is killed is replaced, and what its replica had is there")
def killed():
    with Cluster(timeout=5000) as cluster:
        expect(cluster("VIDI.MADD", "k", *urls(50)), [1] * 50)
        primary = cluster.owner("k")
        cluster.await_replicas()
        new = cluster.kill(primary)
        check(cluster.owner("k") is new, "the replica has the slot")
        expect(cluster("VIDI.MHAS", "k", *urls(50)), [0] * 50)
        cluster.revive(primary)
        expect(primary.role(), "slave")


GUARDED = [  # the words before the options and after them
    (["VIDI.ADD", "k"], ["URLS", "u"]), (["VIDI.MADD", "k"], ["URLS", "u", "v"]), (["VIDI.HAS", "k"], ["URLS", "u"]),
    (["VIDI.CLAIM", "k", "o", HOUR], ["URLS", "u", "p"]), (["VIDI.COMMIT", "k", "o"], ["00000000000000aa"]),
    (["VIDI.RECLAIM", "k", "o", HOUR], []), (["VIDI.INFO", "k"], []),
]


def half_moved(cluster):
    """A set in a slot that moves to another primary, to which it has been carried, when that one's replica is promoted:
    nobody has told the replica that the slot is on its way."""
    cluster("VIDI.RESERVE", "k")
    cluster("VIDI.MADD", "k", *urls(50))
    id = dict(zip(*[iter(cluster("VIDI.INFO", "k"))] * 2))[b"id"]
    source = cluster.owner("k")
    target = next(node for node in cluster.primaries() if node is not source)
    move = Move(cluster, "k", target).begin()
    expect(move.carry(), 1)
    cluster.await_replicas()
    return source, target, cluster.take_over(target), id


@case("a promoted replica of either end, in the middle of a move, creates nothing for commands that say so")
def promoted():
    with Cluster() as cluster:
        source, old, target, id = half_moved(cluster)
        # The importing primary has become a replica; its successor does not know that it may serve the set.
        new_source = cluster.take_over(source)
        if "[" in new_source.ask("CLUSTER", "NODES").decode():
            raise tap.Skip("on this server, replicas know which slots move")
        check(cluster.owner("k") is new_source, "the slot belongs to the replica of its old primary")
        expect((target.ask("DBSIZE"), new_source.ask("DBSIZE")), (1, 0))
        for options in (["NOCREATE"], ["IF", id], ["NOCREATE", "IF", id]):
            for front, rest in GUARDED:
                reply = cluster.call(*front, *options, *rest)
                check(str(reply).startswith("NOSET "), f"{front} {options}: {reply!r}")
        expect([node.ask("DBSIZE") for node in cluster.primaries() if node is not target], [0, 0])
        # Without them, a second set comes into being, and everything that was seen is new.
        expect([reply[0] for reply in cluster("VIDI.CLAIM", "k", "o", HOUR, urls(1)[0], "")], [b"claimed"])
        expect(new_source.ask("DBSIZE"), 1)
        reply = cluster.call("VIDI.CLAIM", "k", "o", HOUR, "IF", id, "URLS", urls(1)[0], "")
        check(str(reply).startswith("WRONGSET ") and id.decode() in reply, f"{reply!r}")
        # Somebody finishes the move: the set itself is found again, and the other one is gone.
        new_source.ask("DEL", "k")
        for node in cluster.primaries():
            node.ask("CLUSTER", "SETSLOT", cluster.slot("k"), "NODE", target.id())
        cluster.hints.clear()
        expect(cluster("VIDI.MHAS", "k", "IF", id, "URLS", *urls(50)), [0] * 50)
        check(old.role() == "slave" and source.role() == "slave", "both ends were replaced")


@case("while a slot moves, the id follows the set")
def follows():
    with Cluster() as cluster:
        cluster("VIDI.RESERVE", "k")
        id = dict(zip(*[iter(cluster("VIDI.INFO", "k"))] * 2))[b"id"]
        source = cluster.owner("k")
        for target in [node for node in cluster.primaries() if node is not source] + [source]:
            move = Move(cluster, "k", target).begin()
            expect(cluster("VIDI.ADD", "k", "IF", id, "URLS", f"before {target.port}"), 1)
            move.carry()
            expect(cluster("VIDI.ADD", "k", "IF", id, "URLS", f"after {target.port}"), 1)
            move.end()
            expect(cluster("VIDI.ADD", "k", "IF", id, "URLS", f"after {target.port}"), 0)


def worker():
    """The worker in docs/REDIS.md, ready to be run."""
    source = os.environ.get("VIDI_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with open(os.path.join(source, "docs", "REDIS.md"), encoding="utf-8") as page:
        blocks = re.findall(r"^```python\n(.*?)^```$", page.read(), re.M | re.S)
    [code] = [block for block in blocks if "def work(" in block]
    names = {"__name__": "worker"}
    exec(compile(code, "docs/REDIS.md", "exec"), names)  # pylint: disable=exec-used
    names.update(KEY="k", LEASE=300, PAUSE=0.02, GUARD=["NOCREATE"])
    return names


class Patience:
    """In the worker's place of the module time: it may not begin again for ever."""

    def __init__(self, most):
        self.left = most

    def sleep(self, seconds):
        self.left -= 1
        check(self.left > 0, "the worker begins again and again")
        time.sleep(seconds)


@case("the worker in the docs crawls on while its key moves, and after its primary was killed")
def crawls():
    try:
        import redis  # pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        raise tap.Skip("python3-redis is not installed") from None
    with Cluster("--requirepass", "secret", "--masterauth", "secret", timeout=5000) as cluster:
        cluster("VIDI.RESERVE", "k", "CANON", "none")
        fetched, moves = [], []

        def begin():
            target = next(node for node in cluster.primaries() if node is not cluster.owner("k"))
            moves.append(Move(cluster, "k", target).begin())

        # What happens while a page is fetched, after so many pages. A page is linked from the one with half its number.
        events = {5: begin, 10: lambda: moves[0].carry(), 15: lambda: moves[0].end(),
                  21: lambda: cluster.kill(cluster.owner("k")),
                  30: begin, 32: lambda: moves[1].carry(), 34: lambda: moves[1].end()}

        def links_of(page):
            fetched.append(int(page))
            event = events.pop(len(fetched), None)
            if event:
                event()
            return [str(link) for link in (2 * int(page), 2 * int(page) + 1) if link < 60]

        names = worker()
        names.update(links_of=links_of, time=Patience(2000))
        said, sys.stderr = sys.stderr, open(os.devnull, "w", encoding="ascii")
        try:
            names["main"](",".join(f"redis://:secret@127.0.0.1:{node.port}" for node in cluster.nodes), "1")
        finally:
            sys.stderr = said
        expect((sorted(set(fetched)), events), (list(range(1, 60)), {}))
        counts = cluster("VIDI.CLAIMS", "k", "COUNT", 0)
        expect((counts[1], counts[3]), (0, 0))
        expect(cluster("VIDI.MHAS", "k", "NOCREATE", "URLS", *map(str, range(1, 60))), [0] * 59)
        expect(sum(node.ask("DBSIZE") for node in cluster.primaries()), 1)


tap.run()
