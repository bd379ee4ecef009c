"""Crawls that are killed and resumed: each life is a process of its own, forked from one that has loaded Scrapy.

    with Nursery(folder) as nursery, Site(folder, tree) as site:
        crawl = Crawl(folder, site, nursery, OURS)
        crawl.live(("ask", 12))     the site kills it when it is asked for the 12th page
        crawl.live()                runs to its end
        crawl.verdict()

A life ends by a kill at an event:

    ("ask", n), ("answer", n)   the site's n-th request or answer
    ("step", n)                 the n-th step of the spider: a line of its journal or an SQL statement
    ("commit", n)               before the n-th transaction is committed
    ("write", n)                the n-th call that changes or syncs something below the jobs' folder

The last sort needs libpower.so, which is also what power cuts are made with.
"""
import ctypes
import json
import os
import random
import select
import signal
import struct
import subprocess
import sys
import tempfile

from . import judge
from .site import PATIENCE

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS = {"DUPEFILTER_CLASS": "vidi.scrapy.DupeFilter", "SCHEDULER": "vidi.scrapy.Scheduler"}
STOCK = {}
PROGRAM = "from support import checkout; checkout.use(); from support.spiders import serve; serve()"
DEADLINE = 1 << 40  # the number of the file call at which libpower.so kills
FULL = 1 << 50  # and from which on the disk is full


def built(name):
    """A file of the build that is tested, or None if it is not there."""
    path = os.path.abspath(os.path.join(os.environ.get("VIDI_BUILD", "build"), "tests", name))
    return path if os.path.exists(path) else None


class Nursery:
    """The process from which lives are forked. File calls below its folder of jobs are counted; with power, it is known
    which bytes of that folder a power cut would leave."""

    def __init__(self, folder, power=False):
        self.folder, self.power = str(folder), power
        self.jobs = os.path.join(os.path.realpath(folder), "jobs")
        os.mkdir(self.jobs)
        self.is_counting = bool(built("libpower.so"))
        self.counter = os.path.join(self.folder, "calls")
        self.mirror = os.path.join(self.folder, "mirror")
        self.errors = open(os.path.join(self.folder, "errors"), "w", encoding="utf-8")
        path = os.pathsep.join([TESTS, *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen([sys.executable, "-B", "-c", PROGRAM],
                                        env={**os.environ, "PYTHONPATH": path, **self.counting()},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                                        stderr=self.errors)
        self.answer("ready")

    def counting(self):
        """The environment that makes libpower.so count, if it is there."""
        if not self.is_counting:
            return {}
        self.set_calls_left(0)
        return {"LD_PRELOAD": built("libpower.so"), "VIDI_POWER_FOLDER": self.jobs, "VIDI_POWER_COUNT": self.counter,
                "VIDI_POWER_MIRROR": self.mirror if self.power else "",
                "VIDI_POWER_DIE": str(DEADLINE), "VIDI_POWER_FULL": str(FULL)}

    def set_calls_left(self, calls):
        """How many file calls the next life has; 0: as many as it likes."""
        self.set_calls(DEADLINE - calls if calls else 0)

    def set_disk_left(self, calls):
        """After so many file calls of the next life, writes below the folder fail."""
        self.set_calls(FULL - 1 - calls)

    def set_calls(self, number):
        """Never truncates the file, as it is mapped."""
        file = os.open(self.counter, os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(file, struct.pack("=Q", number), 0)
        os.close(file)

    def answer(self, wanted=None):
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        if not ready:
            raise TimeoutError
        line = self.process.stdout.readline().strip()
        if not line or wanted not in (None, line):
            raise RuntimeError(f"the process that forks the spiders answered {line!r}")
        return line

    def order(self, order):
        """Forks a child, which waits; returns its number."""
        self.process.stdin.write(json.dumps(order) + "\n")
        return int(self.answer())

    def go(self):
        self.process.stdin.write("go\n")

    def ended(self):
        """How the child ended: its wait status."""
        return int(self.answer())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()
        self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Crawl:
    """A crawl of a site in as many lives as it takes."""

    def __init__(self, folder, site, nursery, settings, **spider):
        self.folder, self.site, self.nursery = str(folder), site, nursery
        self.jobs = tempfile.mkdtemp(dir=nursery.jobs)
        self.settings, self.spider = settings, spider
        self.journal_path = os.path.join(self.folder, "journal")
        self.log_path = os.path.join(self.folder, "scrapy.log")
        self.lives, self.killed, self.process = 0, set(), None

    def begin(self, kill=None, fault=None, settings=None, pause=0.01, disk_left=None, **spider):
        """Forks and starts a life. The pause is Scrapy's before it handles a response. After
        disk_left file calls, the disk is full."""
        self.lives += 1
        what, count = kill or (None, 0)
        life = str(self.lives)
        self.site.life(life)
        order = {"life": life, "journal": self.journal_path, "fault": fault, "pause": pause,
                 "kill": [what, count],
                 "settings": {"JOBDIR": self.jobs, "LOG_FILE": self.log_path, **self.settings, **(settings or {})},
                 "spider": {"start": self.site.start, **self.spider, **spider}}
        self.process = self.nursery.order(order)
        if what in ("ask", "answer"):
            self.site.kill(self.process, what, count)
        if self.nursery.is_counting:
            self.nursery.set_calls_left(count if what == "write" else 0)
        if disk_left is not None:
            self.nursery.set_disk_left(disk_left)
        self.nursery.go()

    def end(self):
        """Waits for the life's end. True: it was killed."""
        try:
            status = self.nursery.ended()
        except TimeoutError:
            os.kill(self.process, signal.SIGKILL)
            self.nursery.ended()
            raise RuntimeError(f"life {self.lives} never ended; {self.log_tail()}") from None
        was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if was_killed:
            self.killed.add(str(self.lives))
        elif status != 0:
            raise RuntimeError(f"life {self.lives} ended with status {status}; {self.log_tail()}")
        return was_killed

    def live(self, kill=None, **options):
        """A whole life. True: it was killed."""
        self.begin(kill, **options)
        return self.end()

    def journal(self):
        return judge.read_journal(self.journal_path) if os.path.exists(self.journal_path) else []

    def stats(self):
        """Scrapy's statistics of the last life that ended by itself."""
        return json.loads([event.name for event in self.journal() if event.what == "stats"][-1])

    def reason(self):
        """Why the last life ended, in Scrapy's word; None if it was killed or could not begin."""
        last = self.journal()[-1] if self.journal() else None
        return last.name if last and last.what == "closed" and last.life == str(self.lives) else None

    def log_text(self):
        with open(self.log_path, encoding="utf-8") as file:
            return file.read()

    def log_tail(self, lines=15):
        return "\n".join(self.log_text().splitlines()[-lines:])

    def verdict(self):
        return judge.judge(self.site.tree, self.site.events(), self.journal(), self.killed)


SORTS = {"ask": 40, "answer": 40, "step": 500, "commit": 5, "write": 120}  # with the latest event of a kill


def random_kill(chance, sorts=None):
    """A moment of one of these sorts, as likely at the beginning of a life as in the midst of it."""
    what = chance.choice(sorts or [sort for sort in SORTS if sort != "write" or built("libpower.so")])
    return what, int(SORTS[what] ** chance.random()) if chance.random() < 0.3 else chance.randint(1, SORTS[what])


# ---- power cuts ----

def power_cut_library():
    """The functions power_begin and power_cut, or None where they are not built."""
    path = built("libpower_cut.so")
    library = path and ctypes.CDLL(path)
    if library:
        library.power_cut.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64]
        library.power_begin.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    return library


def seeded(text):
    """Random choices that depend on the test alone."""
    return random.Random(text)
