#!/usr/bin/python3
"""Fleets and sets whose servers, clocks and processes misbehave in rare ways: none waits for ever, and no secret shows."""
import select
import signal
import subprocess

from support import server as servers
from support.driver import Driver
from support.server import Server, await_that, built
from support.story import Story
from support.tap import Failed, case, check, expect, run

servers.require()
LEASE = 600  # milliseconds, of a member
SOON = 60  # seconds after which something that must come to an end is taken for stuck


def made(server, name):
    address = f"redis://127.0.0.1:{server.port}/{name}"
    with Driver() as one:
        one("create", address, "shards=2")
    return address


def order(address, state):
    subprocess.run([built("tests", "fake_crawler"), state, address], check=True)


def ended(process):
    """The status with which it ends, soon."""
    try:
        return process.running.wait(SOON)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"a process does not end\n{process.story.errors()[-2000:]}") from error


def members(client, name):
    """The table: names and rows."""
    words = [word.decode() for word in client("HGETALL", f"{{{name}}}:members")]
    return {field: row for field, row in zip(words[::2], words[1::2]) if field[0] != "*" and field != "failover"}


def in_table(address):
    """The lines of members, as whoever looks from outside sees them."""
    told = subprocess.run([built("tests", "fake_crawler"), "look", address], check=True, stdout=subprocess.PIPE).stdout
    return [line for line in told.decode().splitlines()[1:] if "dead=0" in line and "name=gone" not in line]


def version(client, name):
    return int(client("HGET", f"{{{name}}}:members", "*version") or 0)


def await_members(story, client, name, count):
    """Waits until so many members have adopted a version."""
    await_that(lambda: sum(row.split()[2] != "0" for row in members(client, name).values()) == count, story.errors)


@case("a process leaves although its servers are away")
def away():
    server = Server()
    address = made(server, "away")
    shard = server.client()("KEYS", "{away:*")[0]
    server.client()("VIDI.CLAIM", shard, "somebody", "1000000", "URLS", "http://a/", "")  # or the crawl would be over
    with Story(address, seeds=0, lease=LEASE, sweep=1000000, patience=1000) as story:
        one, = story.start(1)
        await_members(story, server.client(), "away", 1)
        one.running.send_signal(signal.SIGSTOP)
        server.process.kill()
        one.running.send_signal(signal.SIGTERM)
        one.running.send_signal(signal.SIGCONT)
        expect(ended(one), 3)


@case("a server that accepts connections and is silent is waited for as long as patience lasts, also when a handle closes")
def silent():
    with Server() as server:
        address = made(server, "silent")
        one = Driver()
        one("open", address, "manual", "lease=60", "patience=300", "reply=300")
        one("add", "http://a/")
        server.process.send_signal(signal.SIGSTOP)
        other = Driver()
        other.send("open", address, "patience=300", "reply=4000")  # longer than the client waits before it asks again
        if not select.select([other.process.stdout], [], [], SOON)[0]:
            other.kill()
            raise Failed("opening does not end")
        expect(other.receive()[0], -9)
        other.close()
        await_that(lambda: one.ask("add", "http://b/")[0] == -9, "no add ends with an error")
        one.close_streams()
        try:
            one.process.wait(SOON)
        except subprocess.TimeoutExpired:
            one.kill()
            raise Failed("the handle does not close") from None
        server.process.send_signal(signal.SIGCONT)


@case("a process that slept while its set was dropped and made anew leaves the new fleet alone")
def replaced():
    with Server() as server:
        address, client = made(server, "again"), server.client()
        client("VIDI.CLAIM", client("KEYS", "{again:*")[0], "somebody", "1000000", "URLS", "http://a/", "")
        with Story(address, seeds=0, lease=LEASE, sweep=1000000) as story, Story(address, pages=50, lease=LEASE) as other:
            sleeper, = story.start(1)
            await_members(story, client, "again", 1)
            sleeper.running.send_signal(signal.SIGSTOP)
            old = client("HGET", "{again}:fleet", "set")
            with Driver() as one:
                one("drop", address)
            client("DEL", "{again}:members")
            made(server, "again")
            working, = other.start(1)
            await_that(lambda: client("HGET", "{again}:fleet", "set") != old, other.errors)
            record = client("HGET", "{again}:fleet", "set")
            sleeper.running.send_signal(signal.SIGCONT)
            check(ended(sleeper) != 0, "the process goes on with a set that is gone")
            ended(working)
            expect(client("HGET", "{again}:fleet", "set"), record)


@case("a fleet that was stopped runs again, also if one of its processes died when it was to leave")
def stopped():
    with Server() as server:
        address = made(server, "stopped")
        with Story(address, pages=300, lease=LEASE, sweep=100, fetch_ms=20, returns=1) as story:
            dead, last = story.start(2)
            await_members(story, server.client(), "stopped", 2)
            dead.note("kill")
            dead.running.kill()
            dead.running.wait()
            order(address, "stopping")
            expect(ended(last), 3)
            expect(list(members(server.client(), "stopped")) != [], True, "the dead one's row is there")
            await_that(lambda: not in_table(address), "a table without the one that died")
            dead.start()
            last.start()
            story.play()
            story.check()


@case("a member that died before the server's clock was set back is removed when a lease is over")
def clock_back():
    with Server() as server:
        address = made(server, "back")
        tomorrow = int(server.client()("TIME")[0]) * 1000 + 86400000
        server.client()("HSET", "{back}:members", "ghost.1", f"{tomorrow} {LEASE} 0 0 0 0", "*version", "1",
                        "*clock", f"{tomorrow - LEASE} {tomorrow - LEASE} ")
        with Story(address, pages=50, lease=LEASE, sweep=100) as story:
            one, = story.start(1)
            expect(ended(one), 0)
            expect(story.check(), 0)


@case("if a replica takes over that has an older version of the table and a slow clock, the members' next one is newer")
def slow_replica():
    with Server() as server:
        address = made(server, "slow")
        client = server.client()
        with Story(address, pages=100000, lease=LEASE) as story:
            story.start(2)
            await_members(story, client, "slow", 2)
            before = version(client, "slow")
            client("HSET", "{slow}:members", "*version", "7")
            await_that(lambda: version(client, "slow") > before, "a version that all members take")
            await_that(lambda: all(int(row.split()[2]) > before for row in members(client, "slow").values()),
                       "members that have adopted it")


@case("no message has the set's key, which a server without the module repeats")
def key():
    with Server(arguments=None) as server:
        with Driver() as one:
            code, told = one.ask("create", f"redis://127.0.0.1:{server.port}/secret", "shards=2")
        check(code < 0 and "VIDI.RESERVE" in told, told)
        record = server.client()("GET", "{secret}:set").decode()
        secrets = [line.split()[1] for line in record.splitlines() if line.split()[0] in ("key", "route")]
        expect(len(secrets), 2)
        expect([secret for secret in secrets if secret in told], [])


run()
