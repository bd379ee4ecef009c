#!/usr/bin/python3
"""Commands that drop something large leave freeing it to a thread; all memory comes back."""
import os

from support import server as servers
from support import tap, values
from support.server import Server, await_that, info, used_memory
from support.tap import case, check, expect

servers.require()

MEBIBYTE = 1 << 20
RESERVE = ["VIDI.RESERVE", "k", "KIND", "classic", "CAPACITY", 20000000, "ERROR", "0.01"]


def frees_apart(server):
    """True if the server has the module's thread that frees memory."""
    tasks = f"/proc/{server.process.pid}/task"
    names = []
    for task in os.listdir(tasks):
        with open(f"{tasks}/{task}/comm", encoding="ascii") as file:
            names.append(file.read().strip())
    return "vidi_free" in names


def large(client):
    """Makes a set of more than 20 MiB with few URLs; gives the memory that was used before."""
    before = used_memory(client)
    client(*RESERVE)
    client("VIDI.MADD", "k", *values.urls(1000))
    check(client("MEMORY", "USAGE", "k") > 20 * MEBIBYTE, "the set is large")
    return before


def await_memory(client, most):
    await_that(lambda: used_memory(client) <= most, "the memory is free")
    await_that(lambda: info(client, "vidi")["vidi_bytes_to_free"] == "0", "INFO says so")


@case("an epoch that a rotation or its time drops is freed in the background, also while a child saves")
def epochs():
    for drop in (["VIDI.ROTATE", "k", "CAPACITY", 1000], ["VIDI.EXPIREAT", "k", 1]):
        with Server() as server:
            client = server.client()
            before = large(client)
            client("VIDI.ROTATE", "k", "CAPACITY", 1000)
            check(client("MEMORY", "USAGE", "k") > 20 * MEBIBYTE, "the previous epoch is kept")
            expect(frees_apart(server), False, "nothing was dropped yet")
            replies = client.pipeline([drop, ["BGSAVE"], ["MEMORY", "USAGE", "k"]])
            check(replies[2] < MEBIBYTE, f"{drop}: the key still counts {replies[2]} bytes")
            expect(frees_apart(server), True, str(drop))
            await_memory(client, before + MEBIBYTE)
            await_that(lambda: info(client, "persistence")["rdb_bgsave_in_progress"] == "0", "the child ends")
            expect(info(client, "persistence")["rdb_last_bgsave_status"], "ok")
            server.restart("SAVE")  # in good order, though the thread still waits
            expect(server.client()("EXISTS", "k"), 1)


@case("a time that comes drops an epoch in the background, too")
def comes():
    with Server() as server:
        client = server.client()
        before = large(client)
        client("VIDI.ROTATE", "k", "CAPACITY", 1000, "EXPIREAT", 1)
        await_memory(client, before + MEBIBYTE)
        expect(frees_apart(server), True)


@case("small epochs are freed at once")
def small():
    with Server() as server:
        client = server.client()
        for _ in range(3):
            client("VIDI.MADD", "k", *values.urls(1000))
            client("VIDI.ROTATE", "k")
        expect(frees_apart(server), False)


@case("VIDI.LOAD with REPLACE frees what was there in the background, whatever the server's setting")
def replaced():
    with Server("--lazyfree-lazy-server-del", "no") as server:
        client = server.client()
        client("VIDI.MADD", "other", *values.urls(10))
        piece = client("VIDI.DUMP", "other", 0)[1]
        before = large(client)
        client("VIDI.LOAD", "k", 0, piece, "REPLACE")
        check(client("MEMORY", "USAGE", "k") < MEBIBYTE, "the key holds something else")
        await_memory(client, before + MEBIBYTE)
        await_that(lambda: info(client, "memory")["lazyfreed_objects"] == "1", "the server's thread freed it")


tap.run()
