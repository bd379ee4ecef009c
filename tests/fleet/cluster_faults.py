#!/usr/bin/python3
"""Connections that break at every point of a conversation, and clients that are killed there.

A proxy between client and server cuts the connection before a command, after it was executed, or in the middle of a
reply: at each command, and at many bytes. Whatever is lost, a client that lives on gets the answers that it would have
got, and what a dead one has left is completed by the next.
"""
from support import server as servers  # tests/redis/support belongs to this package, too
from support import tap
from support.driver import Driver, Failure
from support.proxy import Proxy
from support.server import Server
from support.tap import case, check, expect

servers.require()

EMEMORY, EABSENT, ECANNOT, EEXIST, EBUSY, EIO = -3, -5, -6, -11, -12, -9
LEASE = "lease=3600000"
STEP = 1 if tap.is_long() else 41  # bytes between two cuts

server = Server()
direct = server.client()
proxy = Proxy(server.port)
numbers = iter(range(100000, 1000000))


def new_name():
    """Of a set; all have the same length, so that conversations have."""
    return f"set{next(numbers)}"


def at(name, port=None):
    return f"redis://127.0.0.1:{port or server.port}/{name}"


def new_set(shards=3):
    name = new_name()
    with Driver() as maker:
        maker("create", at(name), f"shards={shards}")
    return name


def points(talk, bytes_too=True):
    """What to do to the proxy, for each point of a conversation, which must be the same each time."""
    proxy.forget()
    talk(None)
    commands, size = proxy.commands, proxy.reply_bytes
    check(commands > 3 and size > 100, "there is a conversation")
    for number in range(commands):
        yield f"before command {number}", lambda n=number: proxy.cut_before(n)
        yield f"after command {number}", lambda n=number: proxy.cut_after(n + 1)
    for number in range(0, size if bytes_too else 0, STEP):
        yield f"after {number} bytes", lambda n=number: proxy.cut_replies(n)


# ---- clients that live on ----

def every_cut(talk):
    """The conversation gives the same answers wherever it is cut. Its length varies: which shards it needs is random."""
    cuts = 0
    for where, cut in points(talk):
        talk(where, cut)
        cuts += proxy.cuts
    check(cuts > 20, f"only {cuts} cuts happened")


def begin(one, name, cut, *access):
    """Opens the set; from here on there is a cut."""
    proxy.forget()
    one("open", at(name, proxy.port), *access)
    proxy.forget()
    if cut:
        cut()


def talk_manual(where, cut=None):
    name = new_set()
    with Driver() as one:
        begin(one, name, cut, "manual", LEASE)
        expect(one("marks", "http://a/", "http://b/", "http://a/", "http://c/"), "NNSN 1 2 2 3", where)
        one("commit", 2)
        expect(one("add", "http://b/", "http://c/", "http://d/"), "SSN", where)
        expect(one("has", "http://a/", "http://c/", "http://z/"), "SSN", where)
        one("commit")
        expect(one.ask("remove", "http://a/")[0], 0, where)
        facts = one.stat()
        expect([facts[what] for what in ("count", "claims", "stale")], [3, 0, 0], where)


def talk_at_once(where, cut=None):
    name = new_set()
    with Driver() as one:
        begin(one, name, cut)
        expect(one("add", "http://a/", "http://b/", "http://a/"), "NNS", where)
        expect(one.ask("one", "http://c/")[0], 1, where)
        expect(one.ask("one", "http://c/")[0], 2, where)
        facts = one.stat()
        expect([facts[what] for what in ("count", "claims", "stale")], [3, 0, 0], where)


def talk_claims(where, cut=None):
    name = new_set()
    with Driver() as one:
        begin(one, name, cut)
        expect(one("claim", "me", 3600000, "http://a/=x", "http://b/", "http://c/"), "NNN", where)
        expect(one("claim", "you", 3600000, "http://a/=x", "http://d/"), "HN", where)
        expect(one("finish", "me", "commit", "http://a/", "http://d/"), "10", where)
        expect(one("finish", "me", "drop", "http://b/"), "1", where)
        expect(one("finish", "me", "release", "http://c/"), "1", where)
        one("renew", "you", 3600000)
        expect(sorted(one("claims").split()), ["http://c/=", "http://d/="], where)
        one("abandon", "you")
        facts = one.stat()
        expect([facts[what] for what in ("count", "claims", "expired")], [1, 2, 2], where)


@case("with manual commits, a lost reply changes no answer")
def manual():
    every_cut(talk_manual)


@case("with commits at once, a lost reply changes no answer")
def at_once():
    every_cut(talk_at_once)


@case("claims under other names: a lost reply changes no answer")
def claims():
    every_cut(talk_claims)


@case("URLs of a call that has failed are new when they are added again, though the server had them claimed")
def tried_again():
    for number in (0, 1, 2):
        name = new_set(shards=2)
        with Driver() as one:
            one("open", at(name, proxy.port), "manual", "patience=200", LEASE)
            one("add", "http://first/")
            proxy.on_cut = lambda: setattr(proxy, "refuses", True)
            proxy.forget()
            proxy.cut_after(1 + number % 2) if number < 2 else proxy.cut_before(0)
            urls = [f"http://{letter}/" for letter in "abcdefgh"]
            code, text = one.ask("add", *urls)
            proxy.on_cut, proxy.refuses = None, False
            check(code in (EIO, EBUSY) and "U" in text.split()[0], f"{code} {text}")
            told = text.split()[0].rstrip(":")
            left = [url for url, verdict in zip(urls, told) if verdict == "U"]
            expect(set(told), {"U", "N"} if "N" in told else {"U"})
            expect(one("add", *left), "N" * len(left))
            expect(one("add", *urls, "http://first/"), "S" * 9)
            one("commit")
            facts = one.stat()
            expect([facts[what] for what in ("count", "claims", "stale")], [9, 0, 0])


@case("what servers may have claimed for a call that has failed is given up when the handle is closed")
def given_up():
    name = new_set(shards=1)
    with Driver() as one:
        one("open", at(name, proxy.port), "manual", "patience=200", LEASE)
        proxy.on_cut = lambda: setattr(proxy, "refuses", True)
        proxy.forget()
        proxy.cut_after(1)
        check(one.ask("add", "http://a/")[0] in (EIO, EBUSY), "the call fails")
        proxy.on_cut, proxy.refuses = None, False
        expect(one("has", "http://b/"), "N")
        expect(one.stat()["claims"], 1)
        one("close")
    with Driver() as two:
        two("open", at(name))
        expect(two("add", "http://a/"), "N")


@case("a commit that has failed is tried again, and no commit is called late that was in time")
def commit_again():
    for cut in (lambda: proxy.cut_after(1), lambda: proxy.cut_before(0)):
        for access in (("manual", LEASE), (LEASE,)):
            name = new_set(shards=1)
            with Driver() as one:
                one("open", at(name, proxy.port), "patience=200", *access)
                proxy.on_cut = lambda: setattr(proxy, "refuses", True)
                proxy.forget()
                if "manual" in access:
                    expect(one("add", "http://a/", "http://b/"), "NN")
                    cut()
                    check(one.ask("commit")[0] in (EIO, EBUSY), "the commit fails")
                else:
                    proxy.commands_left, proxy.executed = (2, True) if proxy.executed else (1, False)
                    code, text = one.ask("add", "http://a/", "http://b/")
                    check(code in (EIO, EBUSY) and text.startswith("NN"), f"{code} {text}")
                proxy.on_cut, proxy.refuses = None, False
                one("commit")
                facts = one.stat()
                expect([facts[what] for what in ("count", "claims", "stale")], [2, 0, 0])


# ---- servers that answer nonsense ----

NONSENSE = [b":1\r\n", b":-5\r\n", b"$-1\r\n", b"*0\r\n", b"*-1\r\n", b"+OK\r\n", b"-ERR no\r\n", b"$0\r\n\r\n",
            b"*1\r\n*0\r\n", b"*1\r\n$-1\r\n", b"*1\r\n*2\r\n$7\r\nclaimed\r\n$3\r\nabc\r\n",
            b"*1\r\n*2\r\n$7\r\nclaimed\r\n:5\r\n", b"*1\r\n*1\r\n$7\r\nclaimed\r\n",
            b"*1\r\n*2\r\n:1\r\n:2\r\n", b"*2\r\n$1\r\nx\r\n$1\r\ny\r\n", b"*2\r\n$1\r\n0\r\n$1\r\ny\r\n",
            b"*3\r\n$5\r\ncount\r\n$1\r\n1\r\n$4\r\nfill\r\n", b"*1\r\n$9\r\ncommitted\r\n",
            b"*4\r\n$6\r\nclaims\r\n*1\r\n*2\r\n$1\r\na\r\n:1\r\n$6\r\ncursor\r\n$1\r\n0\r\n"]


@case("a server that answers nonsense is an error of that call, and never the end of the program")
def nonsense():
    name = new_set(shards=1)
    calls = [("add", "http://a/"), ("commit",), ("has", "http://a/"), ("stat",), ("claims",), ("check",), ("shards",),
             ("claim", "me", 3600000, "http://c/"), ("finish", "me", "release", "http://c/"), ("renew", "me", 1000),
             ("reclaim", 0, "me", 3600000, 10), ("abandon", "me"), ("merge", "hashset", "http://m/"),
             ("count", "http://a/"), ("previous", "http://a/"), ("remove", "http://n/"), ("rotate", "force"),
             ("open", at(name, proxy.port), "patience=300", LEASE), ("drop", at(name, proxy.port), "patience=300"),
             ("create", at(name, proxy.port), "shards=1", "patience=300")]
    with Driver() as one:
        one("open", at(name, proxy.port), "manual", "patience=300", LEASE)
        for call in calls:
            for reply in NONSENSE:
                for number in (0, 1) if call[0] == "rotate" else (2, 3) if "patience=300" in call else (0,):
                    proxy.forget()
                    proxy.answer_with(number, reply)
                    one.ask(*call)
                    if call[0] == "rotate" or "patience=300" in call:
                        proxy.forget()
                        one.ask("drop", at(name))
                        one("create", at(name), "shards=1")
                        one("open", at(name, proxy.port), "manual", "patience=300", LEASE)
                proxy.forget()
                one("has", "http://a/")
        proxy.forget()
        expect(one("add", "http://new/"), "N")


# ---- clients without memory ----

def while_scarce(one, *words):
    """Repeats a call until there is memory for all of it; each request for memory fails once. Gives all answers."""
    for number in range(10000):
        code, text = one.ask(f"scarce={number}", *words)
        yield code, text.lstrip("!")
        if not text.startswith("!"):
            return


def is_scarcity(code, text):
    return code == EMEMORY or (code == EIO and "memory" in text)


@case("a call that gets no memory fails, and does not harm the next")
def no_memory():
    name = new_name()
    with Driver() as one:
        for call in (("create", at(name), "shards=3"), ("open", at(name), "manual", LEASE)):
            answers = list(while_scarce(one, *call))
            check(answers[-1][0] in (0, EEXIST) and len(answers) > 5, f"{call}: {answers}")
            check(all(code in (0, EEXIST) or is_scarcity(code, text) for code, text in answers), f"{call}: {answers}")
        urls = [f"http://x/{number}" for number in range(300)]
        for number in range(1000):
            code, text = one.ask(f"scarce={number}", "add", *urls)
            check(code == 0 or is_scarcity(code, text), text)
            left = [url for url, verdict in zip(urls, text.lstrip("!")) if verdict == "U"]
            check(left if code else not left, "after an error, some are untried")
            expect(one("add", *left), "N" * len(left))
            if not text.startswith("!"):
                break
            one("open", at(name), "manual", LEASE)  # what this one has is asked for again
        expect(one("add", *urls), "S" * 300)
        for call in (("commit",), ("has", *urls), ("stat",), ("claims",), ("claim", "me", 3600000, "http://c/"),
                     ("claim", "me", 3600000, "again", "http://c/", "http://d/"),
                     ("finish", "me", "release", "http://d/"), ("reclaim", 0, "me", 3600000, 10), ("check",),
                     ("merge", "hashset", "http://m/"), ("shards", "http://x/1"), ("remove", "http://x/7"),
                     ("previous", "http://x/1"), ("rotate", "force", "keep"), ("drop", at(name))):
            answers = list(while_scarce(one, *call))
            check(all(code >= 0 or code in (EABSENT, ECANNOT) or is_scarcity(code, text) for code, text in answers),
                  f"{call[0]}: {answers}")
            check(not is_scarcity(*answers[-1]), f"{call[0]}: {answers[-1]}")


# ---- clients that are killed ----

def was_killed(talk, cut):
    """Runs talk(driver) until the proxy cuts the connection, where the driver is killed. True if it was."""
    driver = Driver()
    proxy.forget()
    proxy.on_cut = driver.process.kill
    cut()
    try:
        talk(driver)
        done = True
    except (Failure, BrokenPipeError):
        done = False
    proxy.on_cut = None
    driver.kill()
    return not done


def every_kill(begin, talk, after):
    """Kills the client at each command of talk(driver, name). begin() gives the name; after(name) looks at the rest."""
    def try_out(_):
        with Driver() as driver:
            talk(driver, begin())
    kills = 0
    for where, cut in points(try_out, bytes_too=False):
        name = begin()
        kills += was_killed(lambda driver, n=name: talk(driver, n), cut)
        try:
            after(name)
        except (tap.Failed, Failure) as error:
            raise tap.Failed(f"killed {where}: {error}") from error
    check(kills > 3, f"only {kills} clients were killed")


def shard_keys(name):
    return direct("KEYS", "{" + name + ":*}")


@case("a client that is killed while it makes a set leaves one that the next completes")
def making():
    def after(name):
        with Driver() as two:
            code, text = two.ask("open", at(name))
            check(code in (0, EABSENT, EBUSY), f"{code} {text}")
            made = two.ask("create", at(name), "shards=3", "kind=hashset")
            check(made[0] == (EEXIST if code == 0 else 0), f"{made}")
            two("open", at(name))
            expect(two("check"), "0 ")
            expect((len(shard_keys(name)), two("add", "http://a/")), (3, "N"))
    every_kill(new_name, lambda one, name: one("create", at(name, proxy.port), "shards=3", "kind=hashset"), after)


@case("a rotation that is killed is finished by whoever opens the set next, and no shard is rotated twice")
def rotating():
    def begin():
        name = new_set()
        with Driver() as one:
            one("open", at(name))
            one("add", *[f"http://x/{i}" for i in range(20)])
        return name

    def talk(one, name):
        one("open", at(name, proxy.port))
        one("rotate", "keep")

    def after(name):
        with Driver() as two:
            two("open", at(name), "readonly")
            facts = two.stat()
            expect((facts["epoch"], facts["count"]) in ((0, 20), (1, 0)), True)
            expect({direct("VIDI.INFO", key)[31] for key in shard_keys(name)}, {facts["epoch"]})
            expect(direct("GET", "{" + name + "}:state"), b"ready %d" % facts["epoch"])
            expect(two("check"), "0 ")

    every_kill(begin, talk, after)


@case("whoever finishes a rotation late does not undo the next one")
def late():
    name = new_set()
    state, later = "{" + name + "}:state", b"rotating 2 00000000000000bb 0 0 1"

    def finish():
        with Driver() as one:
            direct("SET", state, "rotating 1 00000000000000aa 0 0 1")
            proxy.forget()
            yield one
            one("open", at(name, proxy.port))

    for _ in finish():
        pass
    commands = proxy.commands
    expect(direct("GET", state), b"ready 1")
    for _ in finish():
        proxy.do_before(commands - 1, lambda: direct("SET", state, later))  # its last command
    expect(direct("GET", state), later)


@case("a removal that is killed is completed by the next, and leaves nothing")
def dropping():
    def after(name):
        with Driver() as two:
            code, text = two.ask("drop", at(name))
            check(code in (0, EABSENT), f"{code} {text}")
            expect(direct("KEYS", "*" + name + "*"), [])
    every_kill(new_set, lambda one, name: one("drop", at(name, proxy.port)), after)


@case("what is seen had been handed on: a client that is killed while it adds loses no URL")
def adding():
    told = {}  # by name: URLs that were said to be new

    def talk(one, name):
        one("open", at(name, proxy.port), "manual", "owner=victim", LEASE)
        for batch in ("abc", "cde"):
            urls = [f"http://{letter}/" for letter in batch]
            verdicts = one("add", *urls)
            told.setdefault(name, set()).update(url for url, verdict in zip(urls, verdicts) if verdict == "N")
            one("commit")

    def after(name):
        with Driver() as two:
            two("open", at(name), "manual")
            two("abandon", "victim")
            urls = [f"http://{letter}/" for letter in "abcde"]
            for url, verdict in zip(urls, two("add", *urls)):
                check(verdict == "N" or url in told.get(name, ()), f"{url} is seen, and was never handed on")

    every_kill(new_set, talk, after)


tap.run()
