#!/usr/bin/python3
"""What the server knows about the commands: flags, keys, documentation, access rules, transactions, scripts and
settings."""
import os

from support import server as servers
from support import tap, values
from support.resp import Error, Simple
from support.server import Server, info
from support.tap import case, check, expect, expect_error

servers.require()

# Every command of the issue, a way to call it, and the keys in that call.
CALLS = {
    "bf.reserve": ["k", "0.01", "100"], "bf.add": ["k", "x"], "bf.madd": ["k", "x", "y"],
    "bf.insert": ["k", "ITEMS", "x"], "bf.exists": ["k", "x"], "bf.mexists": ["k", "x", "y"], "bf.info": ["k"],
    "bf.card": ["k"], "bf.scandump": ["k", "0"], "bf.loadchunk": ["k", "1", "data"], "bf.debug": ["k"],
    "cf.reserve": ["k", "100"], "cf.add": ["k", "x"], "cf.addnx": ["k", "x"], "cf.insert": ["k", "ITEMS", "x"],
    "cf.insertnx": ["k", "ITEMS", "x"], "cf.exists": ["k", "x"], "cf.mexists": ["k", "x"], "cf.del": ["k", "x"],
    "cf.count": ["k", "x"], "cf.info": ["k"], "cf.scandump": ["k", "0"], "cf.loadchunk": ["k", "1", "data"],
    "cf.compact": ["k"], "cf.debug": ["k"],
    "vidi.reserve": ["k", "CAPACITY", "10"], "vidi.add": ["k", "u"], "vidi.has": ["k", "u"], "vidi.madd": ["k", "u"],
    "vidi.mhas": ["k", "u"], "vidi.del": ["k", "u"], "vidi.count": ["k", "u"], "vidi.rotate": ["k"],
    "vidi.hasprevious": ["k", "u"], "vidi.expireat": ["k", "1"], "vidi.merge": ["k", "s1", "s2"], "vidi.info": ["k"],
    "vidi.stats": ["k"], "vidi.dump": ["k", "0"], "vidi.load": ["k", "0", "data"],
    "vidi.claim": ["k", "o", "1000", "u", "p"], "vidi.reclaim": ["k", "o", "1000", "COUNT", "1"],
    "vidi.renew": ["k", "o"], "vidi.commit": ["k", "o", "t"], "vidi.release": ["k", "o", "t"], "vidi.claims": ["k"],
}
ASKING = {"bf.exists", "bf.mexists", "bf.info", "bf.card", "bf.scandump", "bf.debug", "cf.exists", "cf.mexists",
          "cf.count", "cf.info", "cf.compact", "cf.scandump", "cf.debug", "vidi.has", "vidi.mhas", "vidi.count", "vidi.hasprevious",
          "vidi.info", "vidi.stats", "vidi.dump", "vidi.claims"}
SHRINKING = {"cf.del", "vidi.del", "vidi.release"}  # these must work when memory is short
FREE = {"vidi.expireat", "vidi.renew", "vidi.reclaim"}  # either way is right: they hardly need memory
FAST = {"bf.add", "bf.exists", "bf.card", "cf.add", "cf.addnx", "cf.exists", "vidi.add", "vidi.has", "vidi.info"}
SLOW = {"vidi.merge", "vidi.dump"}


def described(client):
    """COMMAND INFO of every command of the module."""
    return {name: client("COMMAND", "INFO", name)[0] for name in CALLS}


@case("every command is there")
def all_there():
    with Server() as server:
        client = server.client()
        missing = [name for name, entry in described(client).items() if not entry]
        check(not missing, f"missing: {missing}")


@case("flags say who writes, who needs memory and who is fast")
def flags():
    with Server() as server:
        wrong = []
        for name, entry in described(server.client()).items():
            if not entry:
                wrong.append(f"{name} is missing")
                continue
            has = {str(f) for f in entry[2]}
            wanted = {"readonly"} if name in ASKING else {"write"}
            if name not in ASKING | SHRINKING | FREE:
                wanted.add("denyoom")
            if name in FAST:
                wanted.add("fast")
            unwanted = {"write", "readonly", "denyoom"} - wanted
            if name in FREE:
                unwanted.discard("denyoom")
            if name in SLOW:
                unwanted.add("fast")
            if not wanted <= has or has & unwanted:
                wrong.append(f"{name} has {sorted(has)}, wanted {sorted(wanted)}")
        check(not wrong, "\n".join(wrong))


@case("the server finds the keys of every command")
def keys():
    with Server() as server:
        client = server.client()
        wrong = []
        for name, call in CALLS.items():
            reply = client.call("COMMAND", "GETKEYS", name, *call)
            wanted = [b"k", b"s1", b"s2"] if name == "vidi.merge" else [b"k"]
            if reply != wanted:
                wrong.append(f"{name}: {reply}")
        reply = client.call("COMMAND", "GETKEYS", "vidi.reserve", "k", "LIKE", "other")
        if reply != [b"k", b"other"]:
            wrong.append(f"vidi.reserve LIKE: {reply}")
        check(not wrong, "\n".join(wrong))


@case("key specifications tell reading from writing")
def key_specs():
    with Server() as server:
        client = server.client()
        wrong = []
        for name, entry in described(client).items():
            specs = entry[8] if entry else []
            found = {str(flag) for spec in specs for flag in dict(zip(spec[::2], spec[1::2]))[b"flags"]}
            if name in ASKING and ("RO" not in found or found & {"RW", "OW", "RM"}):
                wrong.append(f"{name}: {found}")
            if name not in ASKING and not found & {"RW", "OW", "RM"}:
                wrong.append(f"{name}: {found}")
        check(not wrong, "\n".join(wrong))


@case("each family is a category of access lists, where the server lets modules add some")
def categories():
    with Server() as server:
        client = server.client()
        if isinstance(client.call("ACL", "CAT", "vidi"), Error):
            raise tap.Skip("this server knows no categories of modules")
        for category, front in (("vidi", "vidi."), ("bloom", "bf."), ("cuckoo", "cf.")):
            found = {name.decode() for name in client("ACL", "CAT", category)}
            wanted = {name for name in CALLS if name.startswith(front)}
            check(wanted <= found and all(name.startswith(front) for name in found), f"@{category}: {found}")
        for other, wanted in (("read", ASKING), ("write", set(CALLS) - ASKING), ("fast", FAST)):
            missing = wanted - {name.decode() for name in client("ACL", "CAT", other)}
            check(not missing, f"@{other} lacks {missing}")
    # A file of users that names a category which nobody has would keep the server from starting.
    with Server("--aclfile", "users", wait=False) as server:
        server.kill()
        with open(os.path.join(server.folder, "users"), "w", encoding="ascii") as file:
            file.write("user default on nopass ~* &* +@all\nuser one on >p ~* +@bloom\nuser two on >p ~* +@cuckoo +@vidi\n")
        server.start()
        client = server.client()
        client("AUTH", "one", "p")
        expect(client("BF.ADD", "k", "x"), 1)
        expect_error(client.call("VIDI.ADD", "v", "x"), "NOPERM")


@case("COMMAND DOCS has a summary, the complexity and the arguments of each")
def docs():
    with Server() as server:
        client = server.client(3)
        wrong = []
        for name in CALLS:
            reply = client("COMMAND", "DOCS", name)
            about = {k: v for k, v in reply[name]} if reply else {}
            for field in (b"summary", b"complexity", b"arguments"):
                if not about.get(field):
                    wrong.append(f"{name} has no {field.decode()}")
        check(not wrong, "\n".join(wrong))


@case("commands with too few arguments say so and do nothing")
def arity():
    with Server() as server:
        client = server.client()
        wrong = []
        for name in CALLS:
            for given in ([], ["k"])[:2 if len(CALLS[name]) > 1 and name != "vidi.reserve" else 1]:
                reply = client.call(name, *given)
                if not isinstance(reply, Error) or "wrong number of arguments" not in reply:
                    wrong.append(f"{name} {given}: {reply}")
        check(not wrong, "\n".join(wrong))
        expect(client("DBSIZE"), 0)


@case("access rules hold for keys and commands")
def acl():
    with Server() as server:
        client = server.client()
        values.fill(client)
        client("ACL", "SETUSER", "reader", "on", ">secret", "~kind:*", "~bf", "+vidi.has", "+bf.exists")
        client("ACL", "SETUSER", "merger", "on", ">secret", "%R~kind:list", "%RW~kind:sorted", "+@all")
        other = server.client()
        other("AUTH", "reader", "secret")
        expect(other("VIDI.HAS", "kind:list", values.url(1)), 0)
        expect(other("BF.EXISTS", "bf", 1), 1)
        expect_error(other.call("VIDI.ADD", "kind:list", values.url(1)), "NOPERM")
        expect_error(other.call("BF.EXISTS", "bf:fixed", 1), "NOPERM")
        other("AUTH", "merger", "secret")
        expect_error(other.call("VIDI.MERGE", "kind:list", "kind:sorted"), "NOPERM")
        expect_error(other.call("VIDI.MERGE", "kind:sorted", "kind:hashset"), "NOPERM")
        expect_error(other.call("VIDI.ADD", "kind:list", values.url(1)), "NOPERM")
        expect(other("VIDI.HAS", "kind:list", values.url(1)), 0)
        reply = other.call("VIDI.MERGE", "kind:sorted", "kind:list")
        check(not isinstance(reply, Error) or "NOPERM" not in reply, str(reply))
        expect_error(other.call("VIDI.RESERVE", "kind:sorted2", "LIKE", "kind:hashset"), "NOPERM")


@case("transactions run whole or not at all")
def multi():
    with Server() as server:
        client, other = server.client(), server.client()
        client("VIDI.RESERVE", "v")
        client("MULTI")
        for command in (["VIDI.ADD", "v", values.url(1)], ["BF.ADD", "b", "x"], ["VIDI.ADD", "v", values.url(1)],
                        ["BF.EXISTS", "b", "x"], ["CF.ADD", "c", "x"], ["VIDI.ROTATE", "v"]):
            expect(client(*command), Simple("QUEUED"))
        expect(client("EXEC")[:5], [1, 1, 0, 1, 1])
        # A change of the key by another client ends a transaction that watches it; a question does not.
        for act, runs in ((["VIDI.ADD", "v", values.url(2)], False), (["VIDI.ADD", "v", values.url(2)], True),
                          (["VIDI.HAS", "v", values.url(2)], True), (["BF.ADD", "b", "y"], False),
                          (["BF.ADD", "b", "y"], True), (["CF.DEL", "c", "x"], False), (["VIDI.ROTATE", "v"], False),
                          (["VIDI.CLAIM", "v", "w", values.HOUR, values.url(3), ""], False)):
            client("WATCH", "v", "b", "c")
            other(*act)
            client("MULTI")
            client("PING")
            expect(isinstance(client("EXEC"), list), runs, str(act))
        client("MULTI")
        expect_error(client.call("BF.ADD", "b"), "wrong number")
        expect_error(client.call("EXEC"), "EXECABORT")


@case("scripts call the commands and see their replies")
def lua():
    with Server() as server:
        client = server.client()
        script = ("local a = redis.call('BF.ADD', KEYS[1], ARGV[1]) "
                  "local b = redis.call('BF.EXISTS', KEYS[1], ARGV[1]) "
                  "local c = redis.call('BF.MADD', KEYS[1], ARGV[1], 'other') "
                  "return {a, b, c}")
        expect(client("EVAL", script, 1, "b", "x"), [1, 1, [0, 1]])
        expect(client("EVAL", "redis.setresp(3); return redis.call('BF.ADD', KEYS[1], 'x') == false", 1, "b"), 1)
        expect(client("EVAL", "return redis.pcall('BF.INFO', KEYS[1]).err and 1 or 0", 1, "missing"), 1)
        expect(client("EVAL", "return redis.call('VIDI.MADD', KEYS[1], ARGV[1], ARGV[1])", 1, "v", values.url(1)),
               [1, 0])
        expect(client("EVAL_RO", "return redis.call('VIDI.HAS', KEYS[1], ARGV[1])", 1, "v", values.url(1)), 0)
        expect_error(client.call("EVAL_RO", "return redis.call('VIDI.ADD', KEYS[1], 'u')", 1, "v"), "write")


@case("scripts replicate like the commands that they call")
def lua_replicates():
    with Server() as server, Server() as replica:
        replica.follow(server)
        client = server.client()
        client("EVAL", "redis.call('BF.ADD', KEYS[1], 'x'); redis.call('VIDI.CLAIM', KEYS[2], 'w', 100000, 'u', 'p')",
               2, "b", "v")
        client("EVAL", "for i = 1, 100 do redis.call('BF.ADD', KEYS[1], i) end", 1, "b")
        expect(client("WAIT", 1, 0), 1)
        expect(servers.digest(replica.client()), servers.digest(client))


@case("settings are read and set")
def config():
    with Server() as server:
        client = server.client()
        found = client("CONFIG", "GET", "vidi.*")
        names = dict(zip(found[::2], found[1::2]))
        expect(names[b"vidi.bf-error-rate"], b"0.01")
        expect(names[b"vidi.bf-initial-size"], b"100")
        expect(names[b"vidi.bf-compat"], b"auto")
        client("CONFIG", "SET", "vidi.bf-initial-size", 500, "vidi.bf-error-rate", "0.001")
        client("BF.ADD", "b", "x")
        expect(values.pairs(client("BF.INFO", "b"))["Capacity"], 500)
        for name, bad in (("vidi.bf-error-rate", "2"), ("vidi.bf-error-rate", "0"), ("vidi.bf-error-rate", "nan"),
                          ("vidi.bf-error-rate", "rubbish"), ("vidi.bf-initial-size", "0"),
                          ("vidi.bf-initial-size", "-1"), ("vidi.bf-initial-size", "rubbish")):
            check(isinstance(client.call("CONFIG", "SET", name, bad), Error), f"{name} {bad} was accepted")
        expect(client("CONFIG", "GET", "vidi.bf-initial-size"), [b"vidi.bf-initial-size", b"500"])
    with Server("--vidi.bf-initial-size", "700") as server:
        expect(server.client()("CONFIG", "GET", "vidi.bf-initial-size")[1], b"700")


@case("settings have RedisBloom's names, too, where the server lets modules choose names")
def bloom_settings():
    with Server() as server:
        client = server.client()
        if not client("CONFIG", "GET", "bf-error-rate"):
            raise tap.Skip("names of modules' settings begin with the module's name on this server")
        client("CONFIG", "SET", "bf-error-rate", "0.002", "cf-max-expansions", 7)
        expect(client("CONFIG", "GET", "vidi.bf-error-rate")[1], b"0.002")
        expect(client("CONFIG", "GET", "vidi.cf-max-expansions")[1], b"7")
        client("CONFIG", "SET", "vidi.bf-error-rate", "0.01")
        expect(client("CONFIG", "GET", "bf-error-rate")[1], b"0.01")
    for options in (("--bf-error-rate", "0.002", "--vidi.cf-bucket-size", "3"),
                    ("--vidi.bf-error-rate", "0.002", "--cf-bucket-size", "3")):
        with Server(*options) as server:
            found = server.client(3)("CONFIG", "GET", "*f-error-rate", "*cf-bucket-size")
            expect({k: v for k, v in found}, {b"bf-error-rate": b"0.002", b"vidi.bf-error-rate": b"0.002",
                                              b"cf-bucket-size": b"3", b"vidi.cf-bucket-size": b"3"})


@case("the arguments of the module are RedisBloom's")
def arguments():
    with Server(arguments=("ERROR_RATE", "0.05", "INITIAL_SIZE", "400", "CF_MAX_EXPANSIONS", "8")) as server:
        client = server.client()
        client("BF.ADD", "b", "x")
        expect(values.pairs(client("BF.INFO", "b"))["Capacity"], 400)
    for bad in (("ERROR_RATE", "2"), ("INITIAL_SIZE", "-5"), ("ERROR_RATE",), ("NO_SUCH", "1"), ("bf-compat", "maybe")):
        refuses(arguments=bad)


def refuses(**options):
    """A server with these options must not start, and say why."""
    server = None
    try:
        server = Server(**options)
    except tap.Failed as failure:
        check("vidi" in str(failure), f"{options}: the log does not say why:\n{failure}")
        return
    server.remove()
    raise tap.Failed(f"a server started with {options}")


def names_of(client, prefix):
    return [n for n in client("COMMAND", "LIST") if n.startswith(prefix)]


@case("bf-compat no creates no BF and CF commands")
def compat_no():
    with Server(arguments=("bf-compat", "no")) as server:
        client = server.client()
        expect(names_of(client, b"bf.") + names_of(client, b"cf."), [])
        expect(client("VIDI.ADD", "v", values.url(1)), 1)


@case("names that another module has taken are left to it")
def names_taken():
    for taken in (["bf.add"], ["cf.add"], ["bf.add", "cf.add"]):
        with Server(before=[[servers.meter_path(), *taken]]) as server:
            client = server.client()
            for name in taken:
                expect(client(name), 1, "the other module's command answers")
            expect(client("VIDI.ADD", "v", values.url(1)), 1)
            if "cf.add" not in taken:
                expect(client("CF.ADD", "c", "x"), 1)
    refuses(arguments=("bf-compat", "yes"), before=[[servers.meter_path(), "bf.add"]])


@case("INFO has a section")
def section():
    with Server() as server:
        client = server.client()
        found = info(client, "vidi")
        check({"vidi_version", "vidi_memory_bytes", "vidi_loads"} <= set(found), str(found))
        before = int(found["vidi_memory_bytes"])
        client("VIDI.RESERVE", "v")
        check(int(info(client, "vidi")["vidi_memory_bytes"]) > before, "the memory of a set is counted")
        client("DEL", "v")
        expect(int(info(client, "vidi")["vidi_memory_bytes"]), before)


@case("no command shows the secret key of a set")
def secret():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no", "--appendfsync", "always") as server:
        client = server.client()
        key = "00112233445566778899aabbccddeeff"
        client("VIDI.RESERVE", "v", "KEY", key)
        client("VIDI.ADD", "v", values.url(1))
        for command in (["VIDI.INFO", "v"], ["VIDI.STATS", "v"], ["INFO", "everything"], ["CONFIG", "GET", "vidi*"]):
            shown = repr(client(*command)).lower()
            check(key not in shown and r"\x00\x11\"3DUfw" not in shown, f"{command} shows the key")


@case("the module can be loaded late and not unloaded while keys exist")
def unload():
    with Server(arguments=None) as server:
        client = server.client()
        client("MODULE", "LOAD", servers.module_path())
        expect(client("VIDI.ADD", "v", values.url(1)), 1)
        expect_error(client.call("MODULE", "UNLOAD", "vidi"), "data type")


tap.run()
