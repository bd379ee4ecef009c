#!/usr/bin/python3
"""How long other clients wait while a large set is filled, saved, rotated and unlinked.

    bench/redis/pauses.py BUILD [URLS]      default: 5e7 URLs, which takes some minutes and 1 GiB of memory

A second process sends PING every millisecond and keeps the times until the answers. The longest of them is the longest
pause of the server in that phase, with what the machine adds: compare with the first row, where the server is idle.
Beside it stands the longest command by the server's own clock (SLOWLOG).
"""
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

BATCH = 100  # URLs of a VIDI.MADD
AHEAD = 16   # commands on their way


class Client:
    """A connection that sends commands and reads replies, without a library."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def send(self, *words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            parts.append(b"$%d\r\n%b\r\n" % (len(word), word))
        self.socket.sendall(b"".join(parts))

    def read(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
        if kind == b"-":
            raise SystemExit(rest.decode())
        return int(rest) if kind == b":" else rest

    def __call__(self, *words):
        self.send(*words)
        return self.read()


def ping(path, ending, results):
    """Pings until the event is set; then results get the longest time and the 99.9th percentile, in milliseconds."""
    client, times = Client(path), []
    while not ending.is_set():
        begin = time.perf_counter()
        client("PING")
        times.append((time.perf_counter() - begin) * 1e3)
        time.sleep(0.001)
    times.sort()
    results.put((times[-1], times[int(len(times) * 0.999)], len(times)))


def phase(name, path, client, act):
    """Runs an act while another process pings, and prints a row."""
    ending, results = multiprocessing.Event(), multiprocessing.Queue()
    client("SLOWLOG", "RESET")
    pinger = multiprocessing.Process(target=ping, args=(path, ending, results))
    pinger.start()
    begin = time.perf_counter()
    act()
    seconds = time.perf_counter() - begin
    time.sleep(0.2)
    ending.set()
    longest, high, count = results.get()
    pinger.join()
    slow = max((entry[2] for entry in client("SLOWLOG", "GET", 128)), default=0) / 1e3
    print(f"{name:<34} {seconds:9.2f} {longest:9.2f} {high:9.2f} {slow:9.2f} {count:9d}", flush=True)


def add(client, first, count):
    """Adds URLs in batches, some of them on their way at the same time."""
    waiting = 0
    for start in range(first, first + count, BATCH):
        client.send("VIDI.MADD", "k", *(f"http://host{i % 1000}.example/a/page/{i}.html"
                                        for i in range(start, min(start + BATCH, first + count))))
        waiting += 1
        if waiting == AHEAD:
            client.read()
            waiting -= 1
    for _ in range(waiting):
        client.read()


def await_save(client):
    while b"rdb_bgsave_in_progress:1" in client("INFO", "persistence"):
        time.sleep(0.05)


def save(client):
    """Saves in a child, and waits for its end."""
    client("BGSAVE")
    await_save(client)


def unlink(client):
    """Unlinks, and waits until the memory is free."""
    client("UNLINK", "k")
    while b"lazyfree_pending_objects:0" not in client("INFO", "memory"):
        time.sleep(0.01)


def measure(path, urls):
    client = Client(path)
    print(f"{urls} URLs; times in milliseconds")
    print(f"{'':<34} {'seconds':>9} {'longest':>9} {'99.9 %':>9} {'slowest':>9} {'pings':>9}")
    phase("nothing", path, client, lambda: time.sleep(2))
    phase("VIDI.RESERVE", path, client, lambda: client("VIDI.RESERVE", "k", "CAPACITY", urls))
    phase(f"VIDI.MADD of {BATCH}", path, client, lambda: add(client, 0, urls))
    phase("BGSAVE", path, client, lambda: save(client))
    other = Client(path)

    def save_and_add():
        other("BGSAVE")
        add(client, urls, urls // 10)
        await_save(other)

    phase("BGSAVE while adding a tenth more", path, client, save_and_add)
    phase("VIDI.ROTATE", path, client, lambda: client("VIDI.ROTATE", "k"))
    phase("adding a tenth again", path, client, lambda: add(client, 0, urls // 10))
    phase("UNLINK", path, client, lambda: unlink(client))
    phase("growing without VIDI.RESERVE", path, client, lambda: add(client, 0, urls))
    phase("UNLINK", path, client, lambda: unlink(client))


def answers(path):
    try:
        return Client(path)("PING") == b"PONG"
    except OSError:
        return False


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
    urls = int(float(sys.argv[2] if len(sys.argv) > 2 else "5e7"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--dir", folder, "--save", "",
                                   "--slowlog-log-slower-than", "500", "--logfile", "log", "--loadmodule",
                                   os.path.join(build, "redisvidi.so")])
        try:
            while not answers(path):
                time.sleep(0.05)
            measure(path, urls)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


main()
