"""Processes of 'vidi crawl --fleet' on the test site, and what became of its pages.

    with Web(pages=2000, hosts=50) as web, Server() as server:
        crew = Crew(web, make_set(server), "--delay", "0")
        for number in range(4):
            crew.start(number)
        crew.await_end()
        crew.judge()

The site logs each request, and whoever wrote its pages says what must become of them (site.h). So what the processes
say about themselves does not matter, apart from what is in their folders.
"""
import atexit
import collections
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from support import server as servers
from support import tap
from support.server import built, die_with_parent

PATIENCE = 600  # seconds after which a crawl that has not ended is taken for stuck
SLACK = 2  # milliseconds: times in the log are cut to whole ones
Row = collections.namedtuple("Row", "folder url status reason file kind referrer")
running = []  # processes that may run


@atexit.register
def end_all():
    for process in running:
        if process.poll() is None:
            process.kill()
            process.wait()


def start(command, **more):
    process = subprocess.Popen(command, preexec_fn=die_with_parent, **more)
    running.append(process)
    return process


def require():
    """Ends the script as skipped where something is missing."""
    servers.require()
    for name in ("vidi", os.path.join("tests", "site_server")):
        if not os.path.exists(built(name)):
            tap.skip_all(f"{name} is not built")


def address_of(server, name="web"):
    return f"redis://127.0.0.1:{server.port}/{name}"


def make_set(server, name="web", shards=4):
    """Makes the set of a fleet, and gives its address."""
    address = address_of(server, name)
    made = subprocess.run([built("tests", "cluster_lines")], input=f"create {address} shards={shards}\n",
                          capture_output=True, text=True, check=True)
    tap.check(made.stdout.startswith("ok 0"), made.stdout)
    return address


RELAY = """
import asyncio, sys

async def pump(source, to):
    while data := await source.read(1 << 16):
        to.write(data)
        await to.drain()
    to.close()

async def relay(source, to):
    there = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
    await asyncio.gather(pump(source, there[1]), pump(there[0], to), return_exceptions=True)

async def main():
    listener = await asyncio.start_server(relay, "127.0.0.1", 0)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()

asyncio.run(main())
"""


class Relay:
    """A way to the server that can be cut: connections stay open, and nothing comes through."""

    def __init__(self, server):
        self.process = start([sys.executable, "-c", RELAY, str(server.port)], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def cut(self):
        self.process.send_signal(signal.SIGSTOP)

    def mend(self):
        self.process.send_signal(signal.SIGCONT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        running.remove(self.process)


class Web:
    """The site, in a process of its own."""

    def __init__(self, pages, hosts, seed=1, *more):
        self.folder = tempfile.mkdtemp(prefix="vidi-fleet-")
        self.log, self.truth_file, self.seeds = (os.path.join(self.folder, name) for name in ("log", "truth", "seeds"))
        with open(self.seeds, "wb") as seeds:
            self.process = start([built("tests", "site_server"), "--pages", str(pages), "--hosts", str(hosts), "--seed",
                                  str(seed), "--log", self.log, "--truth", self.truth_file, *more],
                                 stdin=subprocess.PIPE, stdout=seeds)
        until = time.monotonic() + PATIENCE
        while not os.path.exists(self.log):  # it is opened last
            if self.process.poll() is not None or time.monotonic() > until:
                raise tap.Failed("the site does not begin")
            time.sleep(0.01)
        with open(self.truth_file, encoding="utf-8") as lines:
            rows = [line.rstrip("\n").split("\t") for line in lines]
        self.truth = {url: (int(status), reason) for url, status, reason, _ in rows}

    def count(self, life=None):
        """Requests so far, of all processes or of one."""
        end = b"\n" if life is None else f" {life}\n".encode()
        with open(self.log, "rb") as log:
            return log.read().count(end)

    def requests(self):
        """(milliseconds, host, target, requests to that host at a time, life), in the order in which they came."""
        with open(self.log, encoding="utf-8") as log:
            rows = [line.split() for line in log]
        return [(int(row[0]), row[2], row[4], int(row[6]), row[8]) for row in rows]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        running.remove(self.process)
        shutil.rmtree(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def has_begun(folder):
    with sqlite3.connect(f"file:{folder}/crawl.db?mode=ro", uri=True) as db:
        tables = [name for name, in db.execute("SELECT name FROM sqlite_master")]
        return "meta" in tables and list(db.execute("SELECT 1 FROM meta WHERE name = 'kind'")) != []


class Crew:
    """The processes of a fleet, by number; each has the folder of its number."""

    def __init__(self, web, address, *options, quiet=True):
        self.web, self.address = web, address
        self.options = [*(["-q"] if quiet else []), *options]
        self.folder = tempfile.mkdtemp(prefix="vidi-fleet-")
        self.processes = {}
        self.kills = 0
        self.lives = collections.Counter()  # of each number
        self.ends = {}  # life -> milliseconds at which it had ended

    def state(self, number):
        return os.path.join(self.folder, str(number))

    def said(self, number):
        """What the process of this number has printed, in all its lives."""
        path = self.state(number) + ".said"
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def start(self, number, *more, environment=None, address=None, program="vidi"):
        with open(self.state(number) + ".said", "ab") as said:
            self.processes[number] = start(
                [built(program), "crawl", "--state", self.state(number), "--fleet", address or self.address,
                 "--pages-only", "--allow-net", "127.0.1.0/24", "--header", f"X-Process: {number}.{self.lives[number]}",
                 "--seeds", self.web.seeds, *self.options, *more],
                stdin=subprocess.DEVNULL, stdout=said, stderr=said, env={**os.environ, **(environment or {})})
        return self.processes[number]

    def ended(self, number):
        """The process has ended: forgets it. Gives its exit status."""
        process = self.processes.pop(number)
        self.ends[f"{number}.{self.lives[number]}"] = time.monotonic() * 1000
        self.lives[number] += 1
        running.remove(process)
        return process.returncode

    def alive(self):
        return [number for number, process in self.processes.items() if process.poll() is None]

    def kill(self, number):
        """kill -9"""
        self.kills += 1
        self.end(number, signal.SIGKILL)

    def end(self, number, how):
        """Sends a signal, and waits for the end."""
        self.processes[number].send_signal(how)
        self.processes[number].wait(PATIENCE)
        return self.ended(number)

    def await_requests(self, count):
        """Waits until the site was asked so often; False if all processes have ended before."""
        until = time.monotonic() + PATIENCE
        while self.web.count() < count:
            for number, process in self.processes.items():
                tap.check(not process.poll(),
                          f"process {number} ends with {process.poll()}: {self.said(number)[-600:]}")
            if not self.alive():
                return False
            tap.check(time.monotonic() < until, f"{self.web.count()} requests in {PATIENCE} seconds")
            time.sleep(0.01)
        return True

    def tell(self, *words):
        """'vidi crawl' with an action and the fleet's address; gives what it prints."""
        return subprocess.run([built("vidi"), "crawl", *words, self.address], capture_output=True, text=True,
                              check=True).stdout

    def members(self):
        """Names of the members, as anybody is told."""
        time.sleep(0.2)  # this is asked again and again
        told = json.loads(self.tell("status", "--json"))
        return {member["name"] for member in told["members"] if member["state"] != "dead"}

    def start_paused(self, count, pages=20):
        """After some pages the fleet is paused, and so many processes join it."""
        self.start(0, "--max-pages", str(pages))
        self.await_end(code=3)
        self.tell("pause")
        for number in range(count):
            self.start(number)
        servers.await_that(lambda: len(self.members()) == count, "all are members")

    def await_others_take_over(self, number):
        """Waits until the process is no member any more."""
        with sqlite3.connect(f"file:{self.state(number)}/crawl.db?mode=ro", uri=True) as db:
            [[folder]] = db.execute("SELECT value FROM meta WHERE name = 'fleet_folder'")
        servers.await_that(lambda: not any(name.startswith(folder + ".") for name in self.members()), "it is no member")

    def await_kill(self, number):
        """Waits until the process has killed itself."""
        self.processes[number].wait(PATIENCE)
        status = self.ended(number)
        tap.check(status == -signal.SIGKILL, f"it ends with {status}: {self.said(number)[-600:]}")
        self.kills += 1

    def await_end(self, code=0):
        """Waits for the end of all processes, which must be this one."""
        for number, process in list(self.processes.items()):
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                raise tap.Failed(f"process {number} does not end; it says: {self.said(number)[-600:]}") from None
            self.ended(number)
            tap.check(process.returncode == code,
                      f"process {number} ends with {process.returncode}, and says: {self.said(number)[-600:]}")

    # ---- what became of the pages ----

    def folders(self):
        """Those in which a crawl has begun: a process may have been killed before that."""
        all_of_them = (os.path.join(self.folder, name) for name in os.listdir(self.folder))
        return sorted(folder for folder in all_of_them if os.path.exists(folder + "/crawl.db") and has_begun(folder))

    def rows(self):
        """Outcomes in all folders, without those that were left to others; and how many these are."""
        found, elsewhere = [], 0
        for folder in self.folders():
            with sqlite3.connect(f"file:{folder}/crawl.db?mode=ro", uri=True) as db:
                for url, status, reason, file, kind, referrer in db.execute(
                        "SELECT url, status, reason, file, kind, referrer FROM visits WHERE status IS NOT NULL"):
                    if reason == "elsewhere":
                        elsewhere += 1
                    else:
                        found.append(Row(folder, url, status, reason or "", file, kind, referrer))
        return found, elsewhere

    def missing(self):
        """Pages that no folder has."""
        return sorted(set(self.web.truth) - {row.url for row in self.rows()[0]})

    def judge(self):
        """Every page is in some folder, with the right outcome; nothing else is there, and nothing is damaged."""
        rows, _ = self.rows()
        missing = sorted(set(self.web.truth) - {row.url for row in rows})
        tap.check(not missing, f"{len(missing)} of {len(self.web.truth)} pages are missing: {missing[:3]}")
        for row in rows:
            wanted = self.web.truth.get(row.url)
            tap.check(wanted == (row.status, row.reason), f"{row} should be {wanted}")
            tap.check(bool(row.file) == (not row.reason), f"{row} is {'' if row.file else 'not '}in the archive")
        for folder in self.folders():
            result = subprocess.run([built("vidi"), "crawl", "check", folder], capture_output=True, text=True,
                                    check=False)
            tap.check(result.returncode == 0, f"vidi crawl check: {result.stderr[:600]}")

    def repeated(self):
        """How many requests for pages came after the first of each."""
        asked = collections.Counter((host, target) for _, host, target, _, _ in self.web.requests()
                                    if target != "/robots.txt")
        return sum(asked.values()) - len(asked)

    def judge_politeness(self, delay):
        """
        No host is asked twice at a time, or again before the delay is over. The log has the time at which the site has
        read a request, which is before its response was sent and after the request was: so it never makes a pause
        shorter. But a request whose process has ended may be read later than that.
        """
        last = {}
        for when, host, target, company, life in self.web.requests():
            tap.check(company == 1, f"{company} requests at a time to {host}, for {target}")
            tap.check(host not in last or when - last[host] >= delay - SLACK,
                      f"{host} is asked for {target} by {life} after {when - last.get(host, 0)} ms")
            last[host] = min(when, self.ends.get(life, when))

    def close(self):
        for number in list(self.processes):
            self.end(number, signal.SIGKILL)
        shutil.rmtree(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def moments(count, pages, seed):
    """Numbers of requests at which something is to happen, spread at random over the first two thirds of a crawl."""
    draw = random.Random(seed)
    return sorted(draw.randrange(pages // 50, pages * 2 // 3) for _ in range(count))
