#!/usr/bin/python3
"""The table of members on a real server, by its clock, which the test sets: who is removed when, and who never is.

An hour passes when a test says so, and nothing here depends on how fast the machine is: a lease is longer than the
cases take.
"""
import os
import random
import signal
import struct
import subprocess

from support import server as servers
from support import tap
from support.server import Server, await_replica, await_that, built
from support.tap import Failed, case, check, expect, run

servers.require()

LEASE = 4 * 3600 * 1000  # milliseconds
QUARTER = LEASE // 4
HOUR = 3600 * 1000
MINUTE = 60 * 1000


class Timed(Server):
    """A server whose time of day the test sets."""

    def __init__(self, *options):
        self.file = os.path.join(tap.scratch(), "clock")
        self.day = 0
        self.write()
        super().__init__(*options, environment={"LD_PRELOAD": servers.clock_path(), "VIDI_TEST_CLOCK": self.file})

    def write(self):
        with open(self.file, "r+b" if os.path.exists(self.file) else "wb") as file:
            file.write(struct.pack("<qq", self.day * 1000, 0))

    def set(self, ms):
        """The clock is set forward, or back."""
        self.day += ms
        self.write()

    def remove(self):
        super().remove()
        tap.remove(os.path.dirname(self.file))


class Table:
    """A process of the test program `beat` that obeys."""

    def __init__(self, server):
        address = f"redis://127.0.0.1:{server.port}/f"
        self.process = subprocess.Popen([built("tests", "beat"), address], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        code, self.version, self.history, *rows = self.process.stdout.readline().split()
        expect(code, "0", f"code of {words}")
        self.version, self.history = int(self.version), int(self.history)
        self.rows = {name: tuple(map(int, rest)) for name, *rest in (row.split(":") for row in rows)}
        return list(self.rows)

    def join(self, name, adopted=0):
        return self.ask("join", name, LEASE, adopted, 0, 0, 0)

    def send(self, name, adopted=0, activity=0, idle=0, leaving=0):
        return self.ask("send", name, LEASE, adopted, activity, idle, leaving)

    def leave(self, name):
        self.ask("leave", name)

    def look(self):
        return self.ask("look")

    def pass_quarters(self, server, quarters, *names):
        """Time passes, and these send heartbeats; the names that are there at the end."""
        for _ in range(quarters):
            server.set(QUARTER)
            for name in names:
                there = self.send(name)
        return there


@case("rows come, say what their members say, and go; the version grows with those that come, leave and go")
def rows():
    with Timed() as server, Table(server) as table:
        expect(table.join("a.1"), ["a.1"])
        first = table.version
        expect(table.join("b.1"), ["a.1", "b.1"])
        second = table.version
        check(second > first, "the version does not grow with a join")
        table.send("b.1", second, 7, 1)
        expect(table.rows, {"a.1": (0, 0, 0, 0), "b.1": (second, 7, 1, 0)})
        expect(table.version, second)
        table.send("b.1", second, 8, 1, 1)
        third = table.version
        check(third > second, "the version does not grow when a member begins to leave")
        table.leave("b.1")
        expect(table.send("a.1"), ["a.1"])
        check(table.version > third, "the version does not grow when a member has gone")
        expect(table.look(), ["a.1"])


@case("a member is removed when its lease and a quarter are over, and never comes back")
def removed():
    with Timed() as server, Table(server) as table:
        table.join("a.1")
        table.join("b.1")
        expect(table.pass_quarters(server, 4, "a.1"), ["a.1", "b.1"])
        version = table.version
        expect(table.pass_quarters(server, 2, "a.1"), ["a.1"])
        check(table.version > version, "the version does not grow with a removal")
        expect(table.send("b.1"), ["a.1"])
        expect(table.send("b.1", version), ["a.1"])
        expect(table.join("b.2"), ["a.1", "b.2"])


@case("a clock that is set forward ends no lease, and one that is set back makes none longer")
def set_clock():
    with Timed() as server, Table(server) as table:
        table.join("a.1")
        table.join("b.1")
        for hours in (10, 1000):
            server.set(hours * HOUR)
            expect(table.send("a.1"), ["a.1", "b.1"])
        table.send("b.1")
        server.set(-2000 * HOUR)
        expect(table.send("a.1"), ["a.1", "b.1"])
        expect(table.pass_quarters(server, 4, "a.1"), ["a.1", "b.1"])
        expect(table.pass_quarters(server, 2, "a.1"), ["a.1"])


@case("whoever only looks sees no member whose lease is over, and removes none")
def looking():
    with Timed() as server, Table(server) as table:
        table.join("a.1")
        table.join("b.1")
        server.set(2 * LEASE)
        expect(table.look(), [])
        expect(table.send("a.1"), ["a.1", "b.1"])


@case("after a failover that forgets a join, nobody can settle for a lease")
def failover():
    with Timed() as primary, Timed() as replica:
        with Table(primary) as table:
            replica.follow(primary)
            table.join("a.1")
            known = table.version
            client = replica.client()
            await_replica(primary.client(), client)
            client("REPLICAOF", "NO", "ONE")
            replica.set(-10 * MINUTE)
            table.join("j.1")
            table.send("a.1", table.version)
            forgotten = table.version
            expect(table.history, 0)
        with Table(replica) as table:
            expect(table.join("n.1"), ["a.1", "failover", "n.1"])
            check(table.version > forgotten > known, "the version is not greater than those that were forgotten")
            expect(table.rows["failover"], (0, 0, 0, 1))
            expect(table.history, 1)
            expect(table.look(), ["a.1", "n.1"])
            expect(table.send("j.1", forgotten), ["a.1", "failover", "n.1"])
            expect(table.pass_quarters(replica, 4, "a.1", "n.1"), ["a.1", "failover", "n.1"])
            version = table.version
            expect(table.pass_quarters(replica, 2, "a.1", "n.1"), ["a.1", "n.1"])
            check(table.version > version, "the version does not grow")
            expect(table.history, 1)


@case("a server that is started again has forgotten, too, unless nobody was there for a lease")
def restart():
    with Timed("--appendonly", "yes") as server:
        with Table(server) as table:
            table.join("a.1")
        server.restart()
        with Table(server) as table:
            expect(table.send("a.1"), ["a.1", "failover"])
            table.pass_quarters(server, 6, "a.1")
            table.leave("a.1")
        server.restart()
        with Table(server) as table:
            expect(table.join("a.2"), ["a.2", "failover"])
            table.pass_quarters(server, 6, "a.2")
            table.leave("a.2")
        server.restart()
        server.set(2 * LEASE)
        with Table(server) as table:
            expect(table.join("a.3"), ["a.3"])


@case("a member that was stopped is removed, and knows it when it goes on")
def stopped():
    with Timed() as server:
        address = f"redis://127.0.0.1:{server.port}/f"
        members = [subprocess.Popen([built("tests", "beat"), address, name, str(LEASE)], stdout=subprocess.PIPE,
                                    text=True) for name in ("a.1", "b.1", "c.1")]

        def hear(one):
            line = one.stdout.readline().split()
            if not line:
                raise Failed("a member has ended")
            return tuple(map(int, line))

        try:
            for one in members:
                await_that(lambda one=one: (lambda v: v[0] == v[1] and v[3] == 3)(hear(one)), "all are settled")
            members[2].send_signal(signal.SIGSTOP)
            with Table(server) as table:
                while "c.1" in table.look() or len(table.rows) != 2:
                    server.set(QUARTER // 2)
                    for one in members[:2]:
                        for _ in range(3):
                            hear(one)
                    table.ask("send", "nobody", LEASE, 0, 0, 0, 0)
                expect(list(table.rows), ["a.1", "b.1"])
            for one in members[:2]:
                await_that(lambda one=one: (lambda v: v[0] == v[1] and v[3] == 2)(hear(one)), "the others are settled")
            members[2].send_signal(signal.SIGCONT)
            last = members[2].stdout.read().split("\n")[-2].split()
            expect(last[2], "1", "it is out")
            expect(members[2].wait(), 0)
        finally:
            for one in members:
                one.kill()
                one.wait()


@case("the table is what a few lines of Python say, in random orders")
def at_random():
    seed = int(os.environ.get("VIDI_TEST_SEED", "1"))
    dice = random.Random(seed)
    with Timed() as server, Table(server) as table:
        left, adopted, leaving, version, number = {}, {}, {}, 0, 0
        for step in range(400):
            what = f"seed {seed}, step {step}"
            passes = dice.choice([MINUTE, MINUTE, MINUTE, QUARTER, 5 * QUARTER])
            server.set(passes)
            begins = dict(leaving)
            own = dice.choice(sorted(left) or ["nobody"])
            action = dice.choice(["join", "send", "send", "send", "leave"])
            if action == "join" and len(left) < 6:
                number += 1
                own = f"m{dice.randrange(10)}.{number}"
            elif action == "join":
                action = "send"
            before = set(left)
            for name in list(left):  # between two heartbeats no more than a quarter counts
                left[name] -= min(passes, QUARTER)
                if left[name] < -QUARTER - MINUTE // 2:
                    del left[name]
            if action == "leave":
                left.pop(own, None)
                table.leave(own)
                table.ask("send", "nobody", LEASE, 0, 0, 0, 0)
            else:
                value, leaves = dice.choice([0, version]), int(begins.get(own, 0) or dice.random() < 0.1)
                if action == "join" or own in left:
                    left[own], adopted[own], leaving[own] = LEASE, value, leaves
                table.ask(action, own, LEASE, value, step, 0, leaves)
            expect(sorted(table.rows), sorted(left), what)
            for name, row in table.rows.items():
                expect((row[0], row[3]), (adopted[name], leaving[name]), what)
            changed = set(left) != before or any(leaving[n] != begins.get(n, 0) for n in left)
            check(table.version > version if changed else table.version == version, f"{what}: version")
            version = table.version


run()
