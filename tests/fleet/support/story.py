"""A fleet of processes of fake_crawler (fake_crawler.c), what happens to them, and whether a page was lost.

    story = Story(address, pages=1000)
    story.start(4)
    story.play([...])     # kills, stops, joins, leaves, until the crawl is over
    story.check()         # raises Failed with what is wrong

The checker knows nothing of the library. It computes the pages by the formula, and reads the processes' log: when each
fetch began, how long it took, and when it ended; and its own list of what it did to whom.
"""
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time

from support.server import built
from support.tap import Failed

PATIENCE = 240  # seconds after which a fleet that does not end is taken for stuck
WHILE = 4000  # milliseconds after which everything that a dead process had is where it belongs
LATE = 5000  # milliseconds after which a process knows that its lease is lost, however busy the machine is
MASK = (1 << 64) - 1


def now():
    """Milliseconds, as fleet_now."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000000


def mix(x):
    x = (x + 0x9e3779b97f4a7c15) & MASK
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & MASK
    return x ^ (x >> 31)


def links_of(page, pages, sites, seed, tree=0, **_):
    """The same as in fake_crawler.c."""
    if tree:
        yield from (n for n in (2 * page + 1, 2 * page + 2) if n < pages)
        return
    base = mix((seed * 1000003 + page) & MASK)
    for i in range(base % 12):
        to = mix((base + i + 1) & MASK) % pages
        if i % 2:
            to = to - to % sites + page % sites
        yield to if to < pages else page % sites


def reachable(options):
    found, todo = set(range(options["seeds"])), list(range(options["seeds"]))
    while todo:
        for link in links_of(todo.pop(), **options):
            if link not in found:
                found.add(link)
                todo.append(link)
    return found


class Process:
    """A folder, and the processes that ran in it, one after the other."""

    def __init__(self, story, number):
        self.story, self.folder = story, f"f{number}x{story.seed}"
        self.data = os.path.join(story.path, self.folder)
        self.running, self.is_gone = None, False

    def start(self):
        options = {**self.story.options, "dice": self.story.dice.getrandbits(60)}
        words = [f"{name}={value}" for name, value in options.items()]
        environment = {**os.environ, "FAKE_FAULT": self.story.fault}
        with open(os.path.join(self.story.path, "errors"), "ab") as errors:
            self.running = subprocess.Popen([built("tests", "fake_crawler"), self.story.address, self.folder, self.data,
                                             self.story.log, *words], env=environment, stderr=errors,
                                            stdin=subprocess.DEVNULL)
        self.story.pids[self.running.pid] = self.folder

    def is_alive(self):
        return self.running is not None and self.running.poll() is None

    def note(self, what):
        self.story.incidents.append((now(), self.running.pid, what))

    def kill(self):
        self.note("kill")
        self.running.kill()
        self.running.wait()

    def leave(self):
        """Leaves for good."""
        self.note("leave")
        self.is_gone = True
        self.running.terminate()

    def stop(self):
        self.note("stop")
        self.running.send_signal(signal.SIGSTOP)

    def go_on(self):
        if not self.is_alive():
            return
        self.running.send_signal(signal.SIGCONT)
        self.note("go on")


class Story:
    def __init__(self, address, pages=1000, sites=20, seed=1, fault="", **options):
        self.address, self.seed, self.fault = address, seed, fault
        self.options = {"pages": pages, "sites": sites, "seed": seed, "seeds": 3, **options}
        self.dice = random.Random(seed)
        self.path = tempfile.mkdtemp(prefix="vidi-fleet-")
        self.log = os.path.join(self.path, "log")
        self.processes, self.pids, self.incidents, self.plans = [], {}, [], []
        self.done = {}

    def start(self, count):
        for _ in range(count):
            self.processes.append(Process(self, len(self.processes)))
            self.processes[-1].start()
        return self.processes[-count:]

    # ---- playing ----

    def later(self, action, seconds):
        """Does something when the time is over."""
        self.plans.append((time.monotonic() + seconds, action))

    def do_plans(self):
        for plan in [plan for plan in self.plans if plan[0] <= time.monotonic()]:
            self.plans.remove(plan)
            plan[1]()

    def alive(self):
        return [one for one in self.processes if one.is_alive()]

    def errors(self):
        with open(os.path.join(self.path, "errors"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def raise_the_dead(self):
        """Starts what has died in whatever way, unless the crawl is over. True if it is over for somebody."""
        over = False
        for one in self.processes:
            if one.running is None or one.running.poll() is None:
                continue
            status = one.running.returncode
            if status == 0:
                over = True
            elif one.is_gone and status in (3, -signal.SIGTERM):  # it may be told before it listens
                continue
            elif status in (-signal.SIGKILL, 3):
                if status == -signal.SIGKILL and (not self.incidents or self.incidents[-1][1] != one.running.pid):
                    self.incidents.append((now(), one.running.pid, "died"))
                one.start()
            else:
                raise Failed(f"process {one.running.pid} has ended with {status}:\n{self.errors()[-3000:]}")
        return over

    def fetched(self):
        """How many fetches have ended."""
        if not os.path.exists(self.log):
            return 0
        with open(self.log, encoding="ascii") as file:
            return sum(1 for line in file if line.startswith("E "))

    def play(self, events=()):
        """events: functions of the story, each with the number of fetches at which it happens, in their order. Ends
        when the crawl is over."""
        events, until = list(events), time.monotonic() + PATIENCE
        while True:
            self.do_plans()
            over = self.raise_the_dead()
            if over and not [one for one in self.processes if one.is_alive()]:
                break
            while events and not over and self.fetched() >= events[0][0]:
                event = events.pop(0)[1]
                event(self)
                self.done[event.__name__] = self.done.get(event.__name__, 0) + 1
            if time.monotonic() > until:
                self.end()
                raise Failed(f"the crawl does not end; {self.fetched()} fetches, {events}\n{self.errors()[-3000:]}")
            time.sleep(0.005)
        for one in self.processes:
            if one.is_alive():
                one.running.wait(PATIENCE)

    def end(self):
        for one in self.processes:
            if one.is_alive():
                one.running.kill()
                one.running.wait()

    def remove(self):
        self.end()
        shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    # ---- checking ----

    def read_log(self):
        """(fetches, faults): a fetch is (begin, end, page, site, pid, complete). Notes in `outs` who has lost its
        lease, with the time at which it knew."""
        fetches, open_ones, faults, self.outs = [], {}, [], []
        with open(self.log, encoding="ascii") as file:
            for line in file:
                kind, pid, *rest = line.split()
                pid = int(pid)
                if kind == "B":
                    page, site, began, takes = map(int, rest)
                    if (pid, page) in open_ones:
                        faults.append(f"process {pid} begins to fetch page {page} twice at once")
                    open_ones[pid, page] = [began, began + takes, page, site, pid, False]
                    fetches.append(open_ones[pid, page])
                elif kind in "EC":
                    fetch = open_ones.pop((pid, int(rest[0])))
                    fetch[5] = kind == "E"
                    fetch[1] = min(fetch[1], int(rest[1]))
                elif kind == "O":
                    self.outs.append((int(rest[0]), pid))
                elif kind == "X":
                    faults.append(" ".join(rest))
        return fetches, faults

    def lost(self, fetches):
        """Pages that were never fetched to the end."""
        wanted = reachable(self.options)
        got = {fetch[2] for fetch in fetches if fetch[5]}
        return sorted(wanted - got), sorted(got - wanted)

    def impolite(self, fetches):
        """Two fetches from one site at the same time."""
        last = {}
        for fetch in sorted(fetches):
            before = last.get(fetch[3])
            if before and before[1] > fetch[0]:
                yield f"site {fetch[3]}: process {before[4]} until {before[1]}, process {fetch[4]} from {fetch[0]}"
            if not before or fetch[1] > before[1]:
                last[fetch[3]] = fetch

    def excuse(self, before, after):
        """What has happened so that the page is fetched again. The process that fetched it first was killed or
        stopped, or a server was, after it had begun, and before the page was fetched again. Or it has lost its lease,
        which it may have learned later. Or another process died a moment ago: links and pages that it had are handed
        out again, and may meet a fetch that is just coming to its end."""
        for at, pid, what in self.incidents:
            if pid in (before[4], 0) and before[0] <= at <= after[0] + 2:
                return what
            if what in ("kill", "died", "stop", "go on") and after[0] - WHILE <= at <= after[0]:
                return what
            if what == "server" and abs(after[0] - at) <= LATE:
                return what
        for at, pid in self.outs:
            if (pid == before[4] and before[0] <= at <= after[0] + LATE) or after[0] - WHILE <= at <= after[0]:
                return "lost its lease"
        return None

    def repeated(self, fetches):
        """Pages that were fetched twice without an excuse, and how many there are with one."""
        first, without, excused = {}, [], 0
        for fetch in sorted(fetches):
            if not fetch[5]:
                continue
            before = first.get(fetch[2])
            if before:
                if self.excuse(before, fetch):
                    excused += 1
                else:
                    known = self.story_of(fetch[2], (before[4], fetch[4]))
                    without.append(f"page {fetch[2]}: process {before[4]} at {before[0]}, "
                                   f"process {fetch[4]} at {fetch[0]}:\n{known}")
            first[fetch[2]] = fetch
        return without, excused

    def story_of(self, page, pids):
        """What the logs have about a page, and about these processes."""
        with open(self.log, encoding="ascii") as file:
            lines = [line for line in file if line.split()[2] == str(page) or line[0] in "SLO"]
        folders = {self.pids.get(pid) for pid in pids}
        return "".join(lines) + "\n".join(f"{at} {pid} {self.pids.get(pid)} {what}" for at, pid, what in self.incidents
                                          if self.pids.get(pid) in folders or what in ("stop", "go on"))

    def verdict(self):
        """What is wrong: a dict of lists, all of them empty if all is well; and the number of excused fetches."""
        fetches, faults = self.read_log()
        lost, strange = self.lost(fetches)
        without, excused = self.repeated(fetches)
        return {"lost": lost, "strange": strange, "impolite": list(self.impolite(fetches)), "repeated": without,
                "faults": faults}, excused

    def check(self):
        found, excused = self.verdict()
        wrong = {name: list_ for name, list_ in found.items() if list_}
        if wrong:
            shown = {name: (len(list_), list_[:5]) for name, list_ in wrong.items()}
            raise Failed(f"seed {self.seed}: {shown}\n{self.errors()[-2000:]}")
        return excused
