#!/usr/bin/python3
"""A command opens no key that the server does not know of: access lists and clusters go by what COMMAND GETKEYS says.

The server itself tells which keys were opened. With these settings the access frequency of a key (OBJECT FREQ) grows by
one whenever a command looks the key up, and reading it changes nothing.

Variables:
  VIDI_TEST_SEED   of the random commands (1); a failure prints it
"""
import os
import random

from support import server as servers
from support import tap, values
from support.resp import Error
from support.server import Server, await_that
from support.tap import case, check, expect, expect_error

servers.require()

SEED = os.environ.get("VIDI_TEST_SEED", "1")
COMMANDS = 20000 if tap.is_long() else 700
COUNTING = ("--maxmemory-policy", "allkeys-lfu", "--lfu-log-factor", "0", "--lfu-decay-time", "0")
UNTOUCHED = 100  # the frequency that keys begin with
OWNER = ("o", "1000")
MAKERS = {"set": ["VIDI.ADD", values.url(1)], "like": ["VIDI.ADD", values.url(2)], "bf": ["BF.ADD", "x"],
          "cf": ["CF.ADD", "x"], "text": ["APPEND", "text"]}
KEYS = [f"{owner}:{kind}" for owner in ("mine", "secret") for kind in MAKERS]
WORDS = ["LIKE", "LIKE", "LIKE", "KIND", "CAPACITY", "ERROR", "LOST", "CANON", "MAXMEMORY", "PARAM", "INVALID", "EXPANSION",
         "NONSCALING", "NOCREATE", "ITEMS", "BUCKETSIZE", "REPLACE", "MOST", "COUNT", "CURSOR", "OWNER", "EXPIREAT", "AT",
         "hashset", "none", "0", "1", "100", "0.01", "1000000", *OWNER]
# Options of VIDI.RESERVE: right ones, and ones in which LIKE or a key is a value.
OPTIONS = [["LIKE"], ["MAXMEMORY", "1000000"], ["KIND", "hashset"], ["CAPACITY", "100"], ["KIND", "LIKE"], ["CANON", "LIKE"],
           ["PARAM", "LIKE"], ["PARAM", "inner", "LIKE"], ["ERROR", "LIKE"], ["CAPACITY", "LIKE"], ["INVALID", "LIKE"]]


class Judge:
    """Runs commands, each on the same keys, and finds out which of them it has opened."""

    def __init__(self, server):
        self.admin = server.client()
        for key in KEYS:
            maker = MAKERS[key.split(":")[1]]
            self.admin(maker[0], key, *maker[1:])
        self.again = [["RESTORE", key, 0, self.admin("DUMP", key), "REPLACE", "FREQ", UNTOUCHED] for key in KEYS]

    def opened(self, client, command):
        """The reply, and the keys that were opened or made."""
        self.admin("FLUSHALL")
        self.admin.pipeline(self.again)
        reply = client.call(*command)
        there = {key.decode() for key in self.admin("KEYS", "*")}
        counts = self.admin.pipeline([["OBJECT", "FREQ", key] for key in KEYS])
        return reply, there - set(KEYS) | {key for key, count in zip(KEYS, counts) if count != UNTOUCHED}

    def known(self, command):
        """The keys that the server knows of."""
        reply = self.admin.call("COMMAND", "GETKEYS", *command)
        return set() if isinstance(reply, Error) else {key.decode() for key in reply}

    def fault(self, client, command):
        """What is wrong; None: nothing is."""
        known = self.known(command)
        reply, opened = self.opened(client, command)
        if not opened <= known:
            return f"{command} opens {opened - known}, which the server does not know of ({reply})"
        unopened = known & set(KEYS) - opened
        return f"{command} succeeds without {unopened} ({reply})" if unopened and not isinstance(reply, Error) else None


def any_case(random_, word):
    return random_.choice([word, word.lower(), word.title()])


def random_command(random_, arity):
    """One that is often nearly right: a key, and about as many words as the command takes, some of them options."""
    name = random_.choice([*arity, *["vidi.reserve"] * len(arity), *["vidi.merge"] * 5])
    command = [name, random_.choice([*KEYS, "mine:new", "mine:new", "secret:new"])]
    if name == "vidi.reserve":
        for _ in range(random_.randrange(4)):
            option = random_.choice([*OPTIONS, *[["LIKE"]] * 6])
            command += [any_case(random_, option[0]), *option[1:]]
            if option[-1] == "LIKE":
                command.append(random_.choice(KEYS))
        return command
    most = abs(arity[name]) - 2
    for _ in range(most + random_.choice([0, 0, 1, 3]) if arity[name] < 0 else most):
        command.append(random_.choice(KEYS) if random_.random() < 0.4 else any_case(random_, random_.choice(WORDS)))
    return command


def arity_of(client):
    """Of every command of the module."""
    names = sorted(client("COMMAND", "LIST", "FILTERBY", "MODULE", "vidi"))
    return {str(entry[0], "ascii"): entry[1] for entry in client("COMMAND", "INFO", *names)}


@case("the judge sees every key that is opened, and nothing else")
def judge():
    with Server(*COUNTING) as server:
        judge = Judge(server)
        client = server.client()
        for command, wanted in ((["PING"], set()), (["VIDI.HAS", "mine:set", "x"], {"mine:set"}),
                                (["VIDI.ADD", "mine:new", "x"], {"mine:new"}),
                                (["VIDI.MERGE", "mine:new", "mine:set", "secret:set"], {"mine:new", "mine:set"}),
                                (["VIDI.MERGE", "mine:set", "secret:set", "mine:like"], {"mine:set", "secret:set"}),
                                (["VIDI.RESERVE", "mine:new", "LIKE", "mine:set"], {"mine:new", "mine:set"}),
                                (["BF.ADD", "mine:set", "x"], {"mine:set"}), (["VIDI.HAS", "mine:text", "x"], {"mine:text"})):
            opened = judge.opened(client, command)[1]
            check(wanted <= opened | {"mine:new"}, f"{command}: {opened}")
            check(judge.fault(client, command) is None, str(judge.fault(client, command)))
        script = "return redis.call('VIDI.HAS', 'secret:set', 'x')"  # planted: a key that nobody was told of
        check("secret:set" in (judge.fault(client, ["EVAL", script, "0"]) or ""), "a planted fault is not found")
        planted = ["EVAL", "return 1", "1", "mine:set"]  # planted: a key that is not opened
        check("mine:set" in (judge.fault(client, planted) or ""), "the other planted fault is not found")


@case("no command opens a key that the server does not know of")
def random_commands():
    print(f"# seed {SEED}")
    with Server(*COUNTING) as server:
        judge = Judge(server)
        client, user = server.client(), server.client()
        client("ACL", "SETUSER", "user", "on", ">secret", "~mine:*", "+@all")
        user("AUTH", "user", "secret")
        arity, words, done = arity_of(client), random.Random(SEED), {}
        for _ in range(COMMANDS):
            command = random_command(words, arity)
            fault = judge.fault(client, command)
            check(fault is None, str(fault))
            reply, opened = judge.opened(user, command)
            check(not any(key.startswith("secret") for key in opened), f"{command} opens {opened}: {reply}")
            if not isinstance(reply, Error):
                done[command[0]] = done.get(command[0], 0) + 1
        check(done.get("vidi.reserve", 0) > COMMANDS / 100 and len(done) > 15, f"too few commands succeed: {done}")


@case("an option that is given twice is refused")
def twice():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "set")
        client("VIDI.RESERVE", "other")
        client("VIDI.RESERVE", "filled", "KIND", "hashset")
        piece = client("VIDI.DUMP", "filled", "0")[1]
        calls = [(["VIDI.RESERVE", "new"], [["LIKE", "set"], ["KIND", "hashset"], ["CAPACITY", "9"], ["ERROR", "0.1"],
                                            ["CANON", "none"], ["INVALID", "KEEP"], ["MAXMEMORY", "1mb"], ["ROLE", "URLS"],
                                            ["KEY", "00112233445566778899aabbccddeeff"]], []),
                 (["VIDI.LOAD", "set", "0", piece], [["REPLACE"]], []),
                 (["VIDI.LOAD", "new", "0", piece], [["MAXMEMORY", "1mb"]], []),
                 (["VIDI.ROTATE", "set"], [["CAPACITY", "9"], ["ERROR", "0.1"], ["EXPIREAT", "4102444800"]], []),
                 (["VIDI.CLAIMS", "set"], [["OWNER", "o"], ["COUNT", "1"], ["CURSOR", "0"]], []),
                 (["BF.RESERVE", "new", "0.01", "100"], [["NONSCALING"]], []),
                 (["BF.INSERT", "new"], [["CAPACITY", "9"], ["ERROR", "0.1"], ["EXPANSION", "2"], ["NONSCALING"]],
                  ["ITEMS", "x"]),
                 (["BF.INSERT", "new", "NOCREATE"], [["NOCREATE"]], ["ITEMS", "x"]),
                 (["CF.RESERVE", "new", "100"], [["BUCKETSIZE", "2"], ["MAXITERATIONS", "9"], ["EXPANSION", "2"]], []),
                 (["CF.INSERT", "new"], [["CAPACITY", "100"]], ["ITEMS", "x"]),
                 (["CF.INSERTNX", "new", "NOCREATE"], [["NOCREATE"]], ["ITEMS", "x"])]
        for front, options, back in calls:
            for option in options:
                before = client("DEBUG", "DIGEST")
                again = [option[0].lower(), *option[1:]]
                expect_error(client.call(*front, *option, *again, *back), "twice")
                expect(client("DEBUG", "DIGEST"), before)
                if front[-1] != "NOCREATE":
                    client(*front, *option, *back)
                    client("DEL", "new")
        expect_error(client.call("VIDI.RESERVE", "new", "PARAM", "bits", "40", "PARAM", "bits", "41"), "twice")
        expect_error(client.call("VIDI.LOAD", "new", "0", piece, "MAXMEMORY", "REPLACE", "100"), "MAXMEMORY")


@case("LIKE gives away no key of a set that the user may not read")
def door():
    with Server() as server:
        client, user = server.client(), server.client()
        for name in ("mine2", "secret"):
            client("VIDI.ADD", name, values.url(1))
        client("ACL", "SETUSER", "user", "on", ">secret", "~mine*", "+@all")
        user("AUTH", "user", "secret")
        for words in (["LIKE", "mine2", "LIKE", "secret"], ["like", "mine2", "Like", "secret"],
                      ["LIKE", "secret", "LIKE", "mine2"], ["LIKE", "secret"], ["MAXMEMORY", "1mb", "LiKe", "secret"],
                      ["PARAM", "LIKE", "mine2", "LIKE", "secret"], ["KIND", "LIKE", "LIKE", "secret"]):
            check(isinstance(user.call("VIDI.RESERVE", "mine3", *words), Error), f"{words} is taken")
            expect(client("EXISTS", "mine3"), 0)
        user("VIDI.RESERVE", "mine3", "LIKE", "mine2")


@case("a cluster keeps the keys of a command on one node")
def cluster():
    with Server("--cluster-enabled", "yes", "--cluster-port", str(servers.free_port())) as server:
        client = server.client()
        client("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        await_that(lambda: b"cluster_state:ok" in client("CLUSTER", "INFO"), "the cluster is up")
        client("VIDI.RESERVE", "{a}1")
        client("VIDI.RESERVE", "{b}1")
        expect_error(client.call("VIDI.RESERVE", "{a}2", "LIKE", "{b}1"), "CROSSSLOT")
        expect_error(client.call("VIDI.RESERVE", "{a}2", "LIKE", "{a}1", "LIKE", "{b}1"), "CROSSSLOT")
        expect_error(client.call("VIDI.RESERVE", "{a}2", "LIKE", "{a}1", "like", "{a}1"), "twice")
        client("VIDI.RESERVE", "{a}2", "MAXMEMORY", "1mb", "like", "{a}1")


tap.run()
