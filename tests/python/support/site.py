"""A small web site for crawls: a tree of pages, each linked exactly once, and a log that is the truth.

    with Site(folder, Tree(seed=1, pages=300)) as site:
        ... crawl site.start ...
        for event in site.events(): ...

The site is a process of its own on a free loopback port. It logs every request when it arrives ("ask") and when it is
answered (the status), in order, before the client can notice. A crawl has lives: a life ends when the crawler is
killed, and the next one resumes. The site can kill the crawler itself at a chosen request, so that the moment of a
kill is an event and not a time.

A page is named by its request: "GET /p/12" or "POST /form id=12". There are these kinds:

    plain      GET /p/N answers 200
    redirect   GET /r/N answers 302 and leads to the plain page GET /p/N, which is linked from nowhere else
    flaky      GET /f/N answers 503 the first time, 200 from then on
    form       POST /form with the body id=N answers 200
"""
import argparse
import collections
import os
import random
import re
import selectors
import signal
import socket
import subprocess
import sys
import time

PATIENCE = 120  # seconds after which something that does not happen is taken for broken
KINDS = ["plain"] * 7 + ["redirect", "flaky", "form"]
NAMES = {"plain": "GET /p/{}", "redirect": "GET /r/{}", "flaky": "GET /f/{}", "form": "POST /form id={}"}

# What a line of the log says: the life, what happened ("ask", a status, "kill" or "life"), and the page's name.
Event = collections.namedtuple("Event", "life what name")


class Tree:
    """The shape of a site, from a seed: some hundred pages, one of them at every depth down to the deepest."""

    def __init__(self, seed, pages=300, depth=50, kinds=KINDS):
        chance = random.Random(str(seed))
        self.seed, self.depth, self.count, self.choice = str(seed), depth, pages, kinds
        self.kinds, self.depths, self.children = ["plain"], [0], [[] for _ in range(pages)]
        for page in range(1, pages):
            if page <= depth:
                parent = page - 1
            else:
                parent = chance.choice([p for p in range(page) if self.depths[p] < depth])
            self.children[parent].append(page)
            self.depths.append(self.depths[parent] + 1)
            self.kinds.append(chance.choice(kinds))

    def name(self, page):
        """The request that its parent links to."""
        return NAMES[self.kinds[page]].format(page)

    def names(self):
        """All requests that a whole crawl makes, with their kinds. A redirect's target counts on its own."""
        every = {self.name(page): self.kinds[page] for page in range(self.count)}
        every.update({NAMES["plain"].format(page): "plain" for page in range(self.count)
                      if self.kinds[page] == "redirect"})
        return every

    def html(self, page):
        """A page: its number and depth, and a link or a form for each child."""
        lines = [f"<title>{page}</title><p id=depth>{self.depths[page]}</p>"]
        for child in self.children[page]:
            if self.kinds[child] == "form":
                lines.append(f'<form method="post" action="/form"><input name="id" value="{child}"></form>')
            else:
                lines.append(f'<a href="{self.name(child).split()[1]}">{child}</a>')
        return "\n".join(lines)


class Site:
    """The site's process, seen from the test."""

    def __init__(self, folder, tree):
        self.tree, self.log = tree, os.path.join(str(folder), "site.log")
        self.process = subprocess.Popen(
            [sys.executable, "-B", os.path.abspath(__file__), "--log", self.log, "--seed", tree.seed, "--pages",
             str(tree.count), "--depth", str(tree.depth), "--kinds", " ".join(tree.choice)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.root = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.start = self.root + "/p/0"

    def _tell(self, command):
        self.process.stdin.write(command + "\n")
        answer = self.process.stdout.readline().strip()
        if answer != "ok":
            raise RuntimeError(f"the site answered {answer!r} to {command!r}")

    def life(self, name):
        """Begins a life. Everything that the life before has sent is logged first, as part of that life."""
        self._tell(f"life {name}")

    def kill(self, pid, what, count):
        """The site will kill the process at the count-th event of this sort from now: "ask" or "answer"."""
        self._tell(f"kill {pid} {what} {count}")

    def hold(self, name):
        """Keeps the answers to this page back until release()."""
        self._tell(f"hold {name}")

    def release(self):
        self._tell("release")

    def events(self):
        """The log so far."""
        with open(self.log, encoding="utf-8") as lines:
            return [Event(*line.rstrip("\n").split(" ", 2)) for line in lines if line.endswith("\n")]

    def asked(self):
        """How often each page was asked for."""
        return collections.Counter(event.name for event in self.events() if event.what == "ask")

    def wait_for(self, what, name, count=1):
        """Returns when this has happened so many times."""
        for _ in range(PATIENCE * 200):
            if sum(event[1:] == (what, name) for event in self.events()) >= count:
                return
            time.sleep(0.005)
        raise TimeoutError(f"the site never logged {what} {name}")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# ---- the process ----

Connection = collections.namedtuple("Connection", "socket life received")
Request = collections.namedtuple("Request", "connection name")


class Server:
    """One thread. It answers when nothing more arrives, in random order, so that requests overlap as on the web."""

    def __init__(self, tree, log):
        self.tree, self.names, self.life, self.chance = tree, tree.names(), "0", random.Random(tree.seed)
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        self.waiting, self.held, self.failed = [], set(), set()
        self.victim = None  # process, sort of event, events left
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        self.selector.register(0, selectors.EVENT_READ, self.command)

    def note(self, life, what, name=""):
        os.write(self.log, f"{life} {what} {name}\n".encode())

    def count(self, what):
        """Kills the crawler if this was the event that it had to live to."""
        if not self.victim or self.victim[1] != what:
            return
        process, _, left = self.victim
        self.victim = (process, what, left - 1) if left > 1 else None
        if left > 1:
            return
        try:
            os.kill(process, signal.SIGKILL)
            self.note(self.life, "kill")
        except ProcessLookupError:
            pass  # it has ended by itself

    # -- what arrives --

    def accept(self):
        accepted, _ = self.listener.accept()
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(accepted, self.life, bytearray())
        self.selector.register(accepted, selectors.EVENT_READ, lambda: self.receive(connection))

    def receive(self, connection):
        try:
            data = connection.socket.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            self.selector.unregister(connection.socket)
            connection.socket.close()
            self.waiting = [request for request in self.waiting if request.connection is not connection]
            return
        connection.received.extend(data)
        while self.take_request(connection):
            pass

    def take_request(self, connection):
        head, separator, rest = bytes(connection.received).partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        length = int(length[1]) if length else 0
        if not separator or len(rest) < length:
            return False
        del connection.received[:len(head) + 4 + length]
        method, path, _ = head.split(b"\r\n")[0].decode().split(" ", 2)
        name = f"{method} {path} {rest[:length].decode()}".rstrip()
        self.note(connection.life, "ask", name)
        self.waiting.append(Request(connection, name))
        self.count("ask")
        return True

    def command(self):
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        word, _, rest = line.strip().partition(" ")
        if word == "life":
            while self.selector_step(0, but=0):
                pass
            self.life, self.victim = rest, None
            self.note(self.life, "life")
        elif word == "kill":
            process, what, left = rest.split()
            self.victim = (int(process), what, int(left))
        elif word == "hold":
            self.held.add(rest)
        elif word == "release":
            self.held.clear()
        print("ok", flush=True)

    # -- what is answered --

    def page(self, name):
        """Status, further headers and body."""
        number = int(re.search(r"\d*$", name)[0] or self.tree.count)
        if number >= self.tree.count or name not in self.names:
            return 404, "", "no such page"
        if self.names[name] == "redirect":
            return 302, f"Location: /p/{number}\r\n", ""
        if self.names[name] == "flaky" and number not in self.failed:
            self.failed.add(number)
            return 503, "", "later"
        return 200, "", self.tree.html(number)

    def answer(self, request):
        status, headers, body = self.page(request.name)
        self.note(request.connection.life, str(status), request.name)
        head = f"HTTP/1.1 {status} x\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        try:
            request.connection.socket.sendall((head + body).encode())
        except ConnectionError:
            return  # killed
        self.count("answer")

    def selector_step(self, timeout, but=None):
        """Handles what is ready, except one source. False: nothing was."""
        ready = [key for key, _ in self.selector.select(timeout) if key.fileobj != but]
        for key in ready:
            if key.fd in self.selector.get_map():
                key.data()
        return bool(ready)

    def run(self):
        while True:
            ready = [request for request in self.waiting if request.name not in self.held]
            if self.selector_step(0 if ready else None) or not ready:
                continue
            request = self.chance.choice(ready)
            self.waiting.remove(request)
            self.answer(request)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--depth", type=int, required=True)
    parser.add_argument("--kinds", required=True)
    options = parser.parse_args()
    server = Server(Tree(options.seed, options.pages, options.depth, options.kinds.split()), options.log)
    print(server.listener.getsockname()[1], flush=True)
    server.run()


if __name__ == "__main__":
    main()
