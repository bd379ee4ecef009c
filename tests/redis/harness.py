#!/usr/bin/python3
"""The harness itself, on servers without a module: otherwise a test that passes proves nothing."""
import os
import signal
import subprocess
import sys

from support import server as servers
from support import tap
from support.resp import NULL, NULL_ARRAY, NULL_BULK, Error, Map, Set, Simple, same
from support.server import Server, await_that, info
from support.tap import case, check, expect, expect_error

if not servers.program():
    tap.skip_all("redis-server is not installed")


@case("every type of reply is told apart")
def types():
    with Server(arguments=None) as server:
        two, three = server.client(), server.client(3)
        expect(two("DEBUG", "PROTOCOL", "string"), b"Hello World")
        expect(two("DEBUG", "PROTOCOL", "integer"), 12345)
        expect(two("DEBUG", "PROTOCOL", "null"), NULL_BULK)
        expect(two("DEBUG", "PROTOCOL", "true"), 1)
        expect(three("DEBUG", "PROTOCOL", "true"), True)
        expect(three("DEBUG", "PROTOCOL", "false"), False)
        expect(three("DEBUG", "PROTOCOL", "null"), NULL)
        expect(three("DEBUG", "PROTOCOL", "double"), 3.141)
        expect(three("DEBUG", "PROTOCOL", "map"), Map([(0, False), (1, True), (2, False)]))
        expect(three("DEBUG", "PROTOCOL", "set"), Set([0, 1, 2]))
        expect(two("SET", "a", "1"), Simple("OK"))
        expect(two("BLPOP", "none", "0.01"), NULL_ARRAY)
        expect_error(two.call("NOSUCH"), "unknown command")
        expect(two("EVAL", "return {1,{2,'three'}}", "0"), [1, [2, b"three"]])
        expect(two.pipeline([["PING"]] * 1000), [Simple("PONG")] * 1000)


@case("comparisons look at types")
def comparisons():
    for a, b in ((1, True), (0, False), (b"OK", Simple("OK")), (Error("a"), Simple("a")), (NULL, NULL_BULK),
                 ([1], [True]), ([1, 2], Map([1, 2])), (1, 1.0), ([], NULL_ARRAY)):
        check(not same(a, b) and same(a, a) and same(b, b), f"{a!r} and {b!r}")


@case("a restart keeps what is on disk, a kill what was saved")
def restarts():
    with Server(arguments=None) as server:
        client = server.client()
        client("SET", "a", "1")
        client("SAVE")
        client("SET", "b", "1")
        port = server.port
        expect(server.kill(), -signal.SIGKILL)
        server.start()
        expect(server.port, port)
        client = server.client()
        expect(client("EXISTS", "a", "b"), 1)
        client("SET", "b", "1")
        server.restart("SAVE")
        expect(server.client()("EXISTS", "a", "b"), 2)


@case("a replica follows")
def replica():
    with Server(arguments=None) as primary, Server(arguments=None) as second:
        client = primary.client()
        client("SET", "a", "1")
        second.follow(primary)
        client("SET", "b", "2")
        expect(client("WAIT", 1, 0), 1)
        expect(second.client()("GET", "b"), b"2")
        expect(servers.digest(second.client()), servers.digest(client))
        expect(info(second.client(), "replication")["role"], "slave")


@case("servers end with the script, even if that is killed")
def no_servers_left():
    script = ("import sys; sys.path.insert(0, sys.argv[1])\n"
              "from support.server import Server\n"
              "s = Server(arguments=None); print(s.process.pid, s.folder, flush=True); sys.stdin.read()\n")
    here = os.path.dirname(os.path.abspath(__file__))
    for end in ("kill", "close"):
        child = subprocess.Popen([sys.executable, "-c", script, here], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 text=True)
        pid, folder = child.stdout.readline().split()
        check(os.path.exists(f"/proc/{pid}"), "it runs")
        if end == "kill":
            child.kill()
        child.communicate()
        await_that(lambda p=pid: has_ended(p), "the server has ended")
        if end == "kill":
            tap.remove(folder)
        check(not os.path.exists(folder), "its folder is gone")


def has_ended(pid):
    """True if there is no such process, or its new parent has not asked for its status yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


tap.run()
