#!/usr/bin/python3
"""Damaged payloads, under the address sanitizer: the module refuses them or makes a set that works, and neither crashes,
leaks nor allocates more than three times the payload and a mebibyte.

The checksums are computed again after the damage, so that it reaches what they protect. Variables:
  VIDI_TEST_CORRUPT   how many payloads (20000)
  VIDI_TEST_SEED      of the damage (1)
  VIDI_TEST_ONLY      number of the one payload to send
"""
import os
import random

from support import damage, frames, tap, values
from support import server as servers
from support.resp import Error
from support.server import Server, info
from support.tap import Failed, case, check, expect

servers.require()
if not servers.is_sanitized(servers.module_path()):
    tap.skip_all("the module is not built with the address sanitizer; see build/asan")

SEED = os.environ.get("VIDI_TEST_SEED", "1")
COUNT = int(os.environ.get("VIDI_TEST_CORRUPT", "20000"))
ONLY = os.environ.get("VIDI_TEST_ONLY")
MEBIBYTE = 1 << 20
SANITIZER = {"ASAN_OPTIONS": "detect_leaks=1:exitcode=99:quarantine_size_mb=8:malloc_context_size=12:handle_segv=2:"
                             "handle_abort=2:detect_odr_violation=0:max_allocation_size_mb=256",
             "UBSAN_OPTIONS": "print_stacktrace=1"}


def start():
    return Server("--rdbcompression", "no", "--appendonly", "no", "--slowlog-log-slower-than", "-1",
                  "--maxmemory", "0", modules=[[servers.meter_path()]], environment=SANITIZER)


def take_samples(client):
    """Good payloads of all sorts, small enough that damage hits something that matters."""
    values.fill(client, items=40)
    samples = [damage.Restored(key.decode(), client("DUMP", key)) for key in sorted(client("KEYS", "*"))]
    samples += [big_head(client, kind) for kind in ("classic", "blocked", "counting", "scalable")]
    for key in sorted(client("KEYS", "*")):
        samples.append(damage.Loaded("load " + key.decode(), load_commands(client, key), damage.open_plain,
                                     damage.close_plain))
    for family, key in (("BF", "bf"), ("BF", "bf:fixed"), ("CF", "cf")):
        samples.append(damage.Loaded(f"{family}.LOADCHUNK {key}", chunk_commands(client, family, key),
                                     damage.open_chunk, damage.close_chunk))
    return samples


def big_head(client, kind):
    """The beginning of a large set, whose arrays are missing."""
    client("VIDI.RESERVE", "big", "KIND", kind, "CAPACITY", 4000000, "ERROR", 0.01)
    sample = damage.Restored("head of " + kind, client("DUMP", "big"), keep=1500)
    client("DEL", "big")
    return sample


def load_commands(client, key):
    """The commands that load a copy of a key from what VIDI.DUMP gives."""
    commands, cursor, position = [], b"0", 0
    while True:
        cursor, piece = client("VIDI.DUMP", key, cursor)
        commands.append(["VIDI.LOAD", "x", position, piece])
        position += 1
        if cursor == b"0":
            return commands


def chunk_commands(client, family, key):
    commands, at = [], 0
    while True:
        at, chunk = client(family + ".SCANDUMP", key, at)
        if at == 0:
            return commands
        commands.append([family + ".LOADCHUNK", "x", at, chunk])


class Payload:
    """One damaged payload for a key of its own: its commands, and what was done to it."""

    def __init__(self, samples, number):
        rng = random.Random(f"{SEED}/{number}")
        sample = rng.choice(samples)
        commands, what, self.loader_runs = sample.damaged(rng, rng.choice(samples))
        self.key = f"x{number}"
        self.commands = [[self.key if word == "x" else word for word in command] for command in commands]
        self.name = f"payload {number} ({sample.name}, {what})"
        self.size = sum(len(w) for c in self.commands for w in c if isinstance(w, bytes))

    def pipeline(self):
        return [["METER.RESET"], *self.commands, ["METER.PEAK"]]

    def judge(self, replies):
        """Checks the replies to the pipeline; True if the payload was refused."""
        peak = replies[-1]
        limit = 3 * self.size + MEBIBYTE
        check(peak <= limit, f"{self.name} of {self.size} bytes made the server allocate {peak} bytes, more than {limit}")
        return isinstance(replies[-2], Error)


def use(client, key):
    """A set that was accepted must work. One that has become big is not written: that takes time and proves nothing."""
    client.pipeline([
        ["VIDI.INFO", key], ["VIDI.MHAS", key, *values.urls(3)], ["VIDI.ADD", key, values.url(1000)],
        ["VIDI.CLAIMS", key], ["VIDI.STATS", key], ["BF.EXISTS", key, "1"], ["BF.INFO", key], ["CF.INFO", key],
        ["CF.COUNT", key, "1"], ["CF.DEL", key, "1"], ["VIDI.DEL", key, values.url(1)],
        ["VIDI.RECLAIM", key, "w", 1000, "COUNT", 9]])
    about = values.pairs(client("VIDI.INFO", key))
    if max(about["capacity"], about["bytes"], about["count"]) < MEBIBYTE:
        client.pipeline([["DUMP", key], ["VIDI.DUMP", key, "0"], ["DEBUG", "DIGEST-VALUE", key], ["COPY", key, "copy"],
                         ["VIDI.ROTATE", key]])
    client("DEL", key, "copy")


def send(client, payloads):
    """Sends the payloads and uses the sets that come of them; gives how many were refused."""
    replies = client.pipeline(c for p in payloads for c in p.pipeline())
    refused = 0
    for payload in payloads:
        length = len(payload.pipeline())
        refused += payload.judge(replies[:length])
        replies = replies[length:]
    for key in client("KEYS", "*"):
        use(client, key)
    return refused


def culprit(payloads):
    """Which of the payloads ends the server: each is sent to one that runs."""
    for payload in payloads:
        with start() as server:
            try:
                send(server.client(), [payload])
            except OSError:
                server.process.wait()
                return f"{payload.name} ended the server:\n{report(server.log())}"
    return "the server ended, but no payload ends it alone"


def report(log):
    """What the sanitizer said."""
    lines = log.splitlines()
    starts = [i for i, line in enumerate(lines) if "ERROR: " in line or "runtime error" in line] or [len(lines) - 30]
    return "\n".join(lines[max(0, starts[0]):starts[0] + 40])


@case("undamaged payloads are accepted by the same way")
def undamaged():
    with start() as server:
        client = server.client()
        samples = take_samples(client)
        client("FLUSHALL")
        for sample in samples:
            if sample.name.startswith("head of"):
                check(isinstance(client.call(*sample.undamaged()[0]), Error), f"{sample.name} was accepted")
                continue
            before = int(info(client, "everything")["vidi_loads"])
            for command in sample.undamaged():
                reply = client.call(*command)
                check(not isinstance(reply, Error), f"{sample.name}: {reply}")
            after = int(info(client, "everything")["vidi_loads"])
            check(after >= before + 1, f"{sample.name}: the counter of loader runs did not move")
            client("DEL", "x")


@case("damaged payloads neither crash the server nor make it allocate much")
def damaged():
    with start() as server:
        client = server.client()
        samples = take_samples(client)
        client("FLUSHALL")
        numbers = [int(ONLY)] if ONLY else range(COUNT)
        loads = int(info(client, "everything")["vidi_loads"])
        refused = sent = expected = 0
        for begin in range(0, len(numbers), 50):
            payloads = [Payload(samples, n) for n in numbers[begin:begin + 50]]
            try:
                refused += send(client, payloads)
            except OSError:
                server.process.wait()
                raise Failed(culprit(payloads)) from None
            sent += len(payloads)
            expected += sum(p.loader_runs for p in payloads)
        runs = int(info(client, "everything")["vidi_loads"]) - loads
        check(runs >= expected, f"the loader ran {runs} times, and should have run {expected} times at least")
        check(ONLY or refused > sent // 2, f"only {refused} of {sent} were refused: the damage does no harm")
        print(f"# {sent} payloads, {refused} refused, the loader ran {runs} times")
        expect(client("DBSIZE"), 0)
        client("FLUSHALL")
        status = server.stop()
        check(status == 0, f"the server ended with status {status}:\n{report(server.log())}")


@case("what is damaged without new checksums is refused by them")
def checksums():
    with start() as server:
        client = server.client()
        values.fill(client, items=40)
        dump = client("DUMP", "bf")
        rng = random.Random(SEED)
        for _ in range(200):
            broken = bytearray(dump)
            broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
            reply = client.call("RESTORE", "x", 0, bytes(broken))
            check(isinstance(reply, Error), "a flipped bit was accepted")
        module, parts = frames.open_dump(dump)
        first, behind = frames.find_stream(parts)
        for _ in range(200):
            again = [list(p) for p in parts]
            at = rng.randrange(first, behind)
            data = bytearray(again[at][1])
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            again[at][1] = bytes(data)
            reply = client.call("RESTORE", "x", 0, frames.close_dump(frames.close_body(module, again)))
            check(isinstance(reply, Error), "a flipped bit in the stream was accepted")


tap.run()
