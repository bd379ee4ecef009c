#!/usr/bin/python3
"""Thousands of random commands of every sort: replicas, a replica that came late, the append-only file, a rewritten one
and a snapshot all hold the same in the end, and no URL that was added is ever answered as new.

Variables:
  VIDI_TEST_SEED   of the commands (1); a failure prints it
"""
import os
import random
import time

from support import server as servers
from support import tap, values
from support.resp import Error
from support.server import Server, await_replica, await_that, digest, info
from support.tap import case, check

servers.require()

SEED = os.environ.get("VIDI_TEST_SEED", "1")
STEPS = 20000 if tap.is_long() else 2500
KINDS = ["fingerprint", "fingerprint", "classic", "blocked", "scalable", "counting", "hashset", "list", "sorted", "eigen",
         "multilayer", "spatial"]


class Story:
    """Random commands, and what must be true because of them: for each key the items that it must have seen."""

    def __init__(self, seed):
        self.rng = random.Random(f"soak/{seed}")
        self.must = {}  # key: set of items that were added since the key or its epoch began
        self.tokens = []  # (key, owner, token, url)
        self.made = 0

    def key(self, prefix):
        """An existing key of this sort, or now and then a new name."""
        have = [k for k in self.must if k.startswith(prefix)]
        if have and self.rng.random() < 0.97:
            return self.rng.choice(have)
        self.made += 1
        return f"{prefix}{self.made}"

    def items(self, most=20):
        return [values.url(self.rng.randrange(3000), "soak") for _ in range(self.rng.randint(1, most))]

    def step(self, client):
        act = self.rng.choices([self.reserve, self.add, self.add_bloom, self.add_cuckoo, self.remove, self.rotate,
                                self.copy, self.drop, self.merge, self.claim, self.settle, self.move, self.fail],
                               [2, 30, 20, 20, 6, 1, 1, 1, 1, 12, 10, 2, 4])[0]
        act(client)

    def reserve(self, client):
        key = self.key("v")
        words = ["KIND", self.rng.choice(KINDS), "CAPACITY", self.rng.choice((10, 300, 3000)), "ERROR", "0.001"]
        if self.rng.random() < 0.2:
            words += ["MAXMEMORY", self.rng.choice((3000, 20000, 200000))]
        if not isinstance(client.call("VIDI.RESERVE", key, *words), Error):
            self.must[key] = set()

    def add(self, client):
        key, items = self.key("v"), self.items()
        replies = client.call("VIDI.MADD", key, *items) if len(items) > 1 else [client.call("VIDI.ADD", key, *items)]
        if isinstance(replies, Error):
            return
        self.must.setdefault(key, set()).update(i for i, r in zip(items, replies) if not isinstance(r, Error))

    def add_bloom(self, client):
        key, items = self.key("b"), self.items()
        name = self.rng.choice((["BF.MADD", key], ["BF.INSERT", key, "ITEMS"], ["BF.INSERT", key, "CAPACITY", 20, "ITEMS"],
                                ["BF.INSERT", key, "CAPACITY", 100, "NONSCALING", "ITEMS"]))
        replies = client.call(*name, *items)
        if isinstance(replies, Error):
            return
        self.must.setdefault(key, set()).update(i for i, r in zip(items, replies) if not isinstance(r, Error))

    def add_cuckoo(self, client):
        key, item = self.key("c"), self.items(1)[0]
        name = self.rng.choice(("CF.ADD", "CF.ADDNX"))
        if not isinstance(client.call(name, key, item), Error):
            self.must.setdefault(key, set()).add(item)

    # A removal may take another item along where the kind keeps no items, so nothing of that key is certain any more.
    def remove(self, client):
        key = self.rng.choice([k for k in self.must if k[0] in "vc"] or ["v0"])
        item = self.rng.choice(sorted(self.must.get(key) or ["http://none.example/"]))
        if client.call("CF.DEL" if key[0] == "c" else "VIDI.DEL", key, item) == 1:
            self.must[key] = set()

    def rotate(self, client):
        key = self.key("v")
        words = self.rng.choice(([], ["CAPACITY", 500], ["EXPIREAT", 4102444800]))
        if not isinstance(client.call("VIDI.ROTATE", key, *words), Error):
            self.must[key] = set()

    def copy(self, client):
        source = self.rng.choice(list(self.must) or ["v0"])
        target = self.key(source[0])
        if target != source and client.call("COPY", source, target, "REPLACE") == 1:
            self.must[target] = set(self.must[source])

    def drop(self, client):
        key = self.rng.choice(list(self.must) or ["v0"])
        client.call(self.rng.choice(("DEL", "UNLINK")), key)
        self.must.pop(key, None)

    def merge(self, client):
        one, other = self.key("v"), self.key("v")
        like = f"vlike{self.made}"
        self.made += 1
        if not isinstance(client.call("VIDI.RESERVE", like, "LIKE", one), Error):
            self.must[like] = set()
            items = self.items()
            replies = client.call("VIDI.MADD", like, *items)
            if not isinstance(replies, Error):
                self.must[like].update(i for i, r in zip(items, replies) if not isinstance(r, Error))
            other = like
        if not isinstance(client.call("VIDI.MERGE", one, other), Error):
            self.must.setdefault(one, set()).update(self.must.get(other, ()))

    def claim(self, client):
        key, owner, urls = self.key("v"), self.rng.choice(("ann", "bob")), self.items(4)
        lease = self.rng.choice((1, values.HOUR))  # over soon, or not in this test
        payload = self.rng.choice(("payload", "another"))
        replies = client.call("VIDI.CLAIM", key, owner, lease, *self.rng.choice((["URLS"], ["AGAIN", "URLS"])),
                              *[w for u in urls for w in (u, payload)])
        if isinstance(replies, Error):
            return
        self.must.setdefault(key, set())
        self.tokens += [(key, owner, r[1], u) for u, r in zip(urls, replies) if r[0] == b"claimed"]

    def settle(self, client):
        if self.rng.random() < 0.2:
            key, owner = self.key("v"), self.rng.choice(("ann", "bob"))
            replies = client.call("VIDI.RECLAIM", key, owner, values.HOUR, "COUNT", 3)
            if not isinstance(replies, Error):
                self.tokens += [(key, owner, r[2], r[0].decode()) for r in replies]
            client.call("VIDI.RENEW", key, owner)
            if self.rng.random() < 0.2:
                client.call("VIDI.RELEASE", key, owner, "ALL")
        if not self.tokens:
            return
        key, owner, token, url = self.tokens.pop(self.rng.randrange(len(self.tokens)))
        if self.rng.random() < 0.7:
            reply = client.call("VIDI.COMMIT", key, owner, *self.rng.choice(([token], ["URLS", url])))
            if not isinstance(reply, Error) and reply[0] != b"stale" and not isinstance(reply[0], Error):
                self.must.setdefault(key, set()).add(url)
        else:
            client.call("VIDI.RELEASE", key, owner, *self.rng.choice(
                ([token], [token, "DROP"], ["URLS", url], ["DROP", "URLS", url])))

    def move(self, client):
        """A key by its pieces, its chunks, DUMP and RESTORE, or under another name."""
        key = self.rng.choice(list(self.must) or ["v0"])
        target = self.key(key[0])
        if target in self.must:
            return
        way = self.rng.choice(("pieces", "dump", "rename"))
        if way == "rename" and not isinstance(client.call("RENAMENX", key, target), Error):
            self.must[target] = self.must.pop(key)
        elif way == "dump":
            dump = client.call("DUMP", key)
            if isinstance(dump, bytes) and not isinstance(client.call("RESTORE", target, 0, dump), Error):
                self.must[target] = set(self.must[key])
        elif way == "pieces" and load(client, key, target):
            self.must[target] = set(self.must[key])

    def fail(self, client):
        """Commands that change nothing, or should not."""
        key = self.rng.choice(list(self.must) or ["v0"])
        client.call(*self.rng.choice((
            ["BF.ADD", "v1", "x"], ["CF.ADD", "b1", "x"], ["VIDI.RESERVE", key], ["VIDI.MERGE", key, "missing"],
            ["VIDI.LOAD", "new", 0, "rubbish"], ["BF.LOADCHUNK", key, 1, "rubbish"], ["VIDI.LOAD", key, 7, "rubbish"],
            ["VIDI.COMMIT", key, "ann", "0123456789abcdef"], ["VIDI.MHAS", key, *self.items()], ["VIDI.INFO", key],
            ["VIDI.ROTATE", key, "CAPACITY", "none"], ["VIDI.CLAIM", key, "ann", "soon", "u", "p"])))

    def check(self, client, where):
        """What was added is seen."""
        for key, items in self.must.items():
            items = sorted(items)
            if not items:
                continue
            if key[0] == "v":
                lost = [i for i, r in zip(items, client("VIDI.MHAS", key, *items)) if r != 0]
            else:
                name = "BF.MEXISTS" if key[0] == "b" else "CF.MEXISTS"
                lost = [i for i, r in zip(items, client(name, key, *items)) if r != 1]
            check(not lost, f"seed {SEED}: {where} has forgotten {lost[:3]} of {key}")


def load(client, key, target):
    """Moves a copy in pieces; True if it is whole."""
    family = {"b": "BF", "c": "CF"}.get(key[0])
    at, position = ("0", 0)
    while True:
        reply = client.call(family + ".SCANDUMP", key, at) if family else client.call("VIDI.DUMP", key, at, "MOST", 4096)
        if isinstance(reply, Error):
            return False
        at, piece = reply
        if family and at == 0:
            return True
        loaded = client.call(family + ".LOADCHUNK", target, at, piece) if family else \
            client.call("VIDI.LOAD", target, position, piece)
        if isinstance(loaded, Error):
            return False
        position += 1
        if not family and at == b"0":
            return True


def same(one, other, where):
    """Every key has the same digest in both."""
    names = sorted(one("KEYS", "*"))
    check(names == sorted(other("KEYS", "*")), f"seed {SEED}: {where} has other keys: "
          f"{sorted(set(names) ^ set(other('KEYS', '*')))}")
    wrong = [n.decode() for n in names if digest(one, n) != digest(other, n)]
    shown = [(n, values.pairs(one("VIDI.INFO", n))["kind"], values.pairs(one("VIDI.INFO", n))["count"],
              values.pairs(other("VIDI.INFO", n))["count"]) for n in wrong[:5]]
    check(not wrong, f"seed {SEED}: {where} differs in {shown}")


@case("replicas, files and snapshots hold the same after random commands")
def soak():
    for number in range(2):
        tell(Story(f"{SEED}/{number}"))


def tell(story):
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no", "--auto-aof-rewrite-percentage", "0") as primary, \
            Server() as replica, Server() as late:
        replica.follow(primary)
        client = primary.client()
        for step in range(STEPS):
            story.step(client)
            if step == STEPS // 2:
                late.follow(primary)
        time.sleep(0.01)  # claims of a millisecond are over
        story.check(client, "the primary")
        for server, name in ((replica, "the replica"), (late, "the replica that came late")):
            await_replica(client, server.client())
            same(client, server.client(), name)
            story.check(server.client(), name)
        restarted(primary, replica, story)


def restarted(primary, replica, story):
    """The primary again from its files; the replica still has what it should have."""
    truth = replica.client()
    truth("REPLICAOF", "NO", "ONE")
    primary.restart()
    same(truth, primary.client(), "the append-only file")
    client = primary.client()
    client("BGREWRITEAOF")
    await_that(lambda: info(client, "persistence")["aof_rewrite_in_progress"] == "0" and
               info(client, "persistence")["aof_rewrite_scheduled"] == "0", "the AOF is rewritten")
    primary.restart()
    same(truth, primary.client(), "the rewritten append-only file")
    replica.restart("SAVE")
    same(primary.client(), replica.client(), "the snapshot")
    story.check(replica.client(), "the snapshot")


tap.run()
