"""A fleet of crawl workers on a site that keeps a log, with servers that fail: what tests/redis/fleet.py is made of.

The site is a tree: each page is linked once, from its parent. So whoever loses one link loses the page, and everything
below it, for good. The site itself logs who fetched what; workers are never asked.

Everything happens by progress and not by the clock. A worker is given a fuse: after so many steps (a command before it
is sent, after it is sent, after its reply; a page before and after it is fetched) it ends itself with SIGKILL. Others are
killed from outside when the site is asked for some page. Servers are killed when so many pages were fetched. Where a
worker is just then differs from run to run; that no page is lost must not.
"""
import os
import random
import re
import selectors
import signal
import socket
import struct
import sys
import time
import traceback

from . import server as servers
from . import tap
from .server import Server, await_replica, await_that, info

KEY = "crawl"
LEASE = 400  # milliseconds
PAUSE = 0.02  # seconds
ALL = 3600 if tap.is_long() else 600  # seconds after which a crawl that has not ended is taken for stuck


class Site:
    """Pages 0 to n - 1, where page 0 is the root; and the log of those that were fetched."""

    def __init__(self, pages, seed):
        draw = random.Random(seed)
        self.children = [[] for _ in range(pages)]
        for page in range(1, pages):  # from one of the last 200 pages: neither a chain nor a star
            self.children[draw.randrange(max(0, page - 200), page)].append(page)
        self.log = []  # every request: (epoch, page)
        self.epoch = 0
        self.fetched = set()  # pages of this epoch

    def url(self, page):
        return f"http://site.test/{page}" if page % 3 else f"HTTP://Site.Test:80/a/../{page}"

    def fetch(self, url):
        """Serves a page: logs it, and returns its links."""
        page = int(re.search(r"(\d+)$", url).group())
        self.log.append((self.epoch, page))
        self.fetched.add(page)
        return [self.url(child) for child in self.children[page]]

    def rotate(self):
        self.epoch += 1
        self.fetched = set()

    def missing(self):
        """The pages that the log does not have in this epoch."""
        return sorted(set(range(len(self.children))) - {page for epoch, page in self.log if epoch == self.epoch})


class Cluster:
    """A primary and a replica, with an address that leads to whichever is the primary."""

    def __init__(self, module=None):
        self.module = module
        self.folder = tap.scratch()
        self.address = "unix://" + os.path.join(self.folder, "primary")
        self.primary = self.launch()
        self.replica = self.launch().follow(self.primary)
        self.confirmed = 0
        self.point()

    def launch(self):
        # The file is rewritten as commands; new replicas get a snapshot.
        options = ("--appendonly", "yes", "--aof-use-rdb-preamble", "no", "--unixsocket", "socket")
        if self.module:
            return Server(*options, arguments=None, modules=[[self.module]])
        return Server(*options)

    def point(self):
        """Lets the address lead to the primary, from one moment to the next."""
        link = os.path.join(self.folder, "primary")
        os.symlink(os.path.join(self.primary.folder, "socket"), link + ".new")
        os.rename(link + ".new", link)

    def client(self):
        return self.primary.client()

    def confirm(self):
        """Everything written so far is on the replica. What is confirmed must survive every failover."""
        self.await_link()
        client = self.client()
        client("VIDI.ADD", "confirmed", f"http://example.org/{self.confirmed}")
        self.confirmed += 1
        if client("WAIT", 1, 0) < 1:
            raise tap.Failed("WAIT 1 confirmed nothing")
        client.close()

    def await_link(self):
        client = self.replica.client()
        await_that(lambda: info(client, "replication")["master_link_status"] == "up", "the replica is in step")
        client.close()

    def detach(self):
        """From now on, what the primary does will be forgotten."""
        self.confirm()
        client = self.replica.client()
        client("REPLICAOF", "NO", "ONE")
        client.close()

    def fail_over(self):
        """After detach: the primary is killed, and the replica takes its place and gets a replica of its own."""
        self.primary.remove()
        self.primary = self.replica
        self.point()
        client = self.client()
        for n in range(self.confirmed):
            if client("VIDI.HAS", "confirmed", f"http://example.org/{n}") != 0:
                raise tap.Failed(f"what WAIT had confirmed is lost: {n} of {self.confirmed}")
        client.close()
        self.replica = self.launch().follow(self.primary)

    def restart(self, rewrite):
        """The primary is killed and started again from its append-only file, which may have been rewritten before."""
        if rewrite:
            client = self.client()
            client("BGREWRITEAOF")
            await_that(lambda: info(client, "persistence")["aof_rewrite_in_progress"] == "0"
                       and info(client, "persistence")["aof_rewrite_scheduled"] == "0", "the file is rewritten")
            client.close()
        self.primary.kill()
        self.primary.start()

    def digests(self):
        """Of primary and replica, when the replica has everything."""
        self.confirm()
        first, second = self.primary.client(), self.replica.client()
        await_replica(first, second)
        return servers.digest(first, KEY), servers.digest(second, KEY)

    def remove(self):
        self.primary.remove()
        self.replica.remove()
        tap.remove(self.folder)


def steps_of_worker(on_step):
    """Calls a function with the name of each step that this process takes."""
    from redis.connection import Connection, UnixDomainSocketConnection  # pylint: disable=import-outside-toplevel
    UnixDomainSocketConnection.host = UnixDomainSocketConnection.port = ""  # 4.3.4 puts them into a message
    name = [""]
    send, read = Connection.send_packed_command, Connection.read_response

    def sending(self, command, check_health=True):
        text = b"".join(command) if isinstance(command, list) else command
        found = re.search(rb"VIDI\.[A-Z]+", text)
        name[0] = found.group().decode() if found else ""
        on_step("before " + name[0])
        send(self, command, check_health)
        on_step("sent " + name[0])

    def reading(self, *args, **kwargs):
        reply = read(self, *args, **kwargs)
        on_step("after " + name[0])
        return reply

    Connection.send_packed_command, Connection.read_response = sending, reading


def ask_site(path, url):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(url.encode() + b"\n")
        with connection.makefile("rb") as reply:
            return reply.read().decode().split()


class Fleet:
    """Workers on a site, until the last one says that the crawl is over.

    worker    the source of a worker, as docs/REDIS.md has it
    count     how many workers
    kills     how often one is killed
    aim       the step that fuses count, such as "after VIDI.COMMIT"; None: all
    events    a list of (pages fetched in the epoch, what): "failover", "restart" or "rotate"
    script    a list of (step, what): while some worker waits after that step, "detach" or "fail_over" the cluster
    """

    def __init__(self, site, cluster, worker, count=6, kills=0, aim=None, events=(), script=(), seed=1):
        self.site, self.cluster, self.worker, self.count = site, cluster, worker, count
        self.kills_left, self.aim = kills, aim
        self.events, self.script = list(events), list(script)
        self.done = {"kill": 0, "failover": 0, "restart": 0, "rotate": 0}
        self.last_kill = 0  # pages fetched at the last kill
        self.draw = random.Random(seed)
        self.lag = None  # requests until the failover that has begun
        self.held = None  # a rotation has begun: requests that wait for it
        self.lives = {}  # by process: its descriptor
        self.path = os.path.join(cluster.folder, "site")
        self.output = os.path.join(cluster.folder, "output")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)

    # ---- workers ----

    def pages_left(self):
        """Pages that are still to be fetched, at least."""
        later = len(self.site.children) if any(what == "rotate" for _, what in self.events) else 0
        return later + len(self.site.children) - len(self.site.fetched)

    def steps(self):
        """How long a fuse is, on average, so that the kills are spread over the crawl and all happen."""
        return 2 if self.aim else max(5, 7 * self.pages_left() // self.kills_left)

    def start_worker(self):
        """A process of its own: forked, because loading Python 200 times takes longer than the crawl."""
        steps = self.draw.randint(1, 2 * self.steps()) if self.kills_left > 0 else 0
        pid = os.fork()
        if pid == 0:
            self.be_worker(steps)
        descriptor = os.pidfd_open(pid)
        self.lives[pid] = descriptor
        self.selector.register(descriptor, selectors.EVENT_READ, pid)

    def be_worker(self, steps):
        """Never returns."""
        status = 1
        try:
            servers.die_with_parent()
            self.listener.close()
            descriptor = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(descriptor, 2)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            self.fuse = steps
            steps_of_worker(self.step)
            names = {"__name__": "worker"}
            exec(compile(self.worker, "docs/REDIS.md", "exec"), names)  # pylint: disable=exec-used
            names.update(KEY=KEY, LEASE=LEASE, PAUSE=PAUSE, links_of=self.fetch_page)
            names["main"](self.cluster.address, self.site.url(0))
            status = 0
        except BaseException:  # pylint: disable=broad-except  # the parent must learn of everything
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)

    def step(self, what):
        """In a worker: counts the fuse down, and tells the site about steps that the script has."""
        if self.aim in (None, what):
            self.fuse -= 1
            if self.fuse == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        if any(step == what for step, _ in self.script):
            ask_site(self.path, "!" + what)

    def fetch_page(self, url):
        self.step("before page")
        links = ask_site(self.path, url)
        self.step("after page")
        return links

    def ended(self, pid):
        """A worker has ended: killed, or because the crawl is over."""
        descriptor = self.lives.pop(pid)
        self.selector.unregister(descriptor)
        os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status == -signal.SIGKILL:
            self.done["kill"] += 1
            self.last_kill = len(self.site.fetched)
            self.kills_left -= 1
            self.start_worker()
        elif status != 0:
            with open(self.output, encoding="utf-8", errors="replace") as file:
                raise tap.Failed(f"a worker ended with {status}: {file.read()[-2000:]}")

    def kill_one(self):
        """Now and then, kills a worker from outside. Those who killed themselves are not there any more."""
        alive = sorted(self.lives)
        if self.kills_left > 0 and self.aim is None and alive and self.draw.randrange(self.steps()) == 0:
            os.kill(self.draw.choice(alive), signal.SIGKILL)

    # ---- the site ----

    def accept(self):
        """A request: (process, connection, links), or None if there is nothing to answer."""
        connection, _ = self.listener.accept()
        pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        with connection.makefile("rb") as reader:
            line = reader.readline()
        if not line.endswith(b"\n"):
            connection.close()
            return None
        text = line.decode().strip()
        if text.startswith("!"):
            self.told(text[1:])
            self.reply((pid, connection, []))
            return None
        return pid, connection, self.site.fetch(text)

    def reply(self, request):
        _, connection, links = request
        try:
            connection.sendall("\n".join(links).encode())
            connection.shutdown(socket.SHUT_RDWR)  # a worker that was forked meanwhile has the connection, too
        except OSError:
            pass  # the worker is dead
        connection.close()

    def serve(self):
        request = self.accept()
        if not request:
            return
        if self.held is not None:
            self.held.append(request)
            return
        self.happen()
        self.kill_one()
        if self.held is not None:
            self.held.append(request)
        else:
            self.reply(request)

    # ---- what goes wrong ----

    def told(self, step):
        """A worker has taken a step of the script, and waits."""
        if self.script and self.script[0][0] == step:
            getattr(self.cluster, self.script.pop(0)[1])()

    def happen(self):
        """Lets the next event happen if it is due."""
        if self.lag is not None:
            self.lag -= 1
            if self.lag <= 0:
                self.cluster.fail_over()
                self.lag = None
                self.done["failover"] += 1
            return
        if not self.events or len(self.site.fetched) < self.events[0][0]:
            return
        what = self.events.pop(0)[1]
        if what == "failover":
            self.cluster.detach()
            self.lag = self.draw.randint(1, 40)
        elif what == "restart":
            self.cluster.restart(rewrite=self.done["restart"] % 2 == 1)
            self.done["restart"] += 1
        else:
            self.held = []

    def rotate(self):
        """The next epoch, when every worker waits for a page that the site has logged in the old one.

        Then one worker after the other goes on until it asks for its next page, so that its commit comes late before
        anybody else could have taken the page over, until one has not been killed on the way.
        """
        client = self.cluster.client()
        client("MULTI")
        client("VIDI.ROTATE", KEY)
        client("VIDI.CLAIM", KEY, "seed", LEASE, self.site.url(0), "")
        client("EXEC")
        client.close()
        self.cluster.confirm()
        self.site.rotate()
        self.done["rotate"] += 1
        for request in self.held[:]:
            self.held.remove(request)
            self.reply(request)
            if self.await_next(request[0]):
                break
        self.cluster.confirm()
        waiting, self.held = self.held, None
        for request in waiting:
            self.reply(request)

    def await_next(self, pid):
        """True when this worker has asked for its next page, False if it ended."""
        while pid in self.lives:
            self.turn()
            if any(request[0] == pid for request in self.held):
                return True
        return False

    def all_wait(self):
        return self.held is not None and set(self.lives) <= {request[0] for request in self.held}

    # ---- the whole ----

    def turn(self):
        """Deals with what has happened meanwhile."""
        for key, _ in self.selector.select(1):
            if key.data is None:
                self.serve()
            else:
                self.ended(key.data)
        if time.monotonic() > self.until:
            raise tap.Failed(f"the crawl does not end: {self.done}, {len(self.site.fetched)} pages")

    def run(self):
        """Crawls. Returns the pages that were never fetched in the last epoch."""
        self.until = time.monotonic() + ALL
        try:
            for _ in range(self.count):
                self.start_worker()
            while self.lives:
                self.turn()
                if self.all_wait():
                    self.rotate()
        finally:
            self.remove()
        return self.site.missing()

    def remove(self):
        for pid, descriptor in self.lives.items():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(descriptor)
        self.lives = {}
        self.selector.close()
        self.listener.close()
