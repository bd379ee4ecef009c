#!/usr/bin/python3
"""Real clients run the same scenario (support/scenario.py) and get the same answers: redis-cli, python3-redis, and from
npm `redis` with both versions of the protocol and `ioredis`.

The npm packages are installed into the build from node/package-lock.json. Without node, npm or the registry these cases
are skipped.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess

from support import scenario, tap
from support import server as servers
from support.server import Server
from support.tap import Failed, Skip, case, check

servers.require()
HERE = os.path.dirname(os.path.abspath(__file__))


def compare(run):
    """Runs the scenario on a server of its own."""
    with Server() as server:
        server.client()("SET", "text", "a string")
        answers = scenario.simplify(run(server.port, scenario.STEPS))
        check(len(answers) == len(scenario.STEPS), f"{len(answers)} answers to {len(scenario.STEPS)} steps")
        wrong = [f"{name} {args} {options}: got {answer!r}, expected {wanted!r}"
                 for (name, args, options, wanted), answer in zip(scenario.STEPS, answers)
                 if not scenario.matches(answer, wanted)]
        if wrong:
            raise Failed("\n" + "\n".join(wrong))


def words(name, args, options):
    """The words of a command, for clients that have no functions for it."""
    extra = [w for key, value in options.items() for w in ([key] if value is True else [key, str(value)])]
    if ".INSERT" in name:
        return [name, *map(str, args[:-1]), *extra, "ITEMS", *args[-1]]
    flat = [w for arg in args for w in (arg if isinstance(arg, list) else [str(arg)])]
    return [name, *flat, *extra]


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2])) if isinstance(flat, list) else flat


# redis-cli

def cli(port, protocol, *command, stdin=None):
    return subprocess.run(["redis-cli", "-h", "127.0.0.1", "-p", str(port), *protocol, *command], input=stdin,
                          capture_output=True, check=False).stdout


def cli_copy(port, protocol, family, source, target):
    """Chunks as they are: redis-cli prints the iterator, a line feed, the chunk and a line feed."""
    at = b"0"
    while True:
        at, chunk = cli(port, protocol, family + ".SCANDUMP", source, at).split(b"\n", 1)
        if at == b"0":
            return "OK"
        reply = cli(port, protocol, "-x", family + ".LOADCHUNK", target, at, stdin=chunk[:-1])
        if reply.strip() != b"OK":
            return reply.decode(errors="replace")


def cli_parse(text):
    """An answer as redis-cli prints it for people (--no-raw), without nesting deeper than one."""
    lines = text.rstrip("\n").split("\n")
    if re.match(r" *1[)#] ", lines[0]):
        if re.match(r" *1# ", lines[0]):
            found = [re.match(r' *\d+# (?:"(.*?)"|(.*?)) => (.*)$', line).groups() for line in lines]
            return {quoted or bare: cli_parse(value) for quoted, bare, value in found}
        return [cli_parse(re.sub(r"^ *\d+\) ", "", line)) for line in lines]
    line = lines[0]
    if line.startswith("(integer) "):
        return int(line[10:])
    if line.startswith("(error) "):
        return {"error": line[8:].removeprefix("ERR ")}
    if line in ("(true)", "(false)"):
        return int(line == "(true)")
    return line.strip('"')


def run_cli(protocol):
    def run(port, steps):
        answers = []
        for name, args, options, _ in steps:
            if name.endswith(".COPY"):
                answers.append(cli_copy(port, protocol, name[:2], *args))
                continue
            text = cli(port, [*protocol, "--no-raw"], *words(name, args, options)).decode()
            answer = cli_parse(text)
            answers.append(pairs(answer) if name.endswith("F.INFO") else answer)
        return answers
    return run


def require_cli():
    if not shutil.which("redis-cli"):
        raise Skip("redis-cli is not installed")


@case("redis-cli gets the answers, version 2 of the protocol")
def cli_two():
    require_cli()
    compare(run_cli(["-2"]))


@case("redis-cli gets the answers, version 3 of the protocol")
def cli_three():
    require_cli()
    compare(run_cli(["-3"]))


# python3-redis

def python_functions(client):
    """The library's functions by the names of commands; each takes arguments and options of a step."""
    bloom, cuckoo = client.bf(), client.cf()

    def insert(function):
        names = {"CAPACITY": "capacity", "ERROR": "error", "EXPANSION": "expansion", "NOCREATE": "noCreate"}
        lower = {"noCreate": "nocreate"} if function.__self__ is cuckoo else {}
        return lambda key, items, **options: function(
            key, list(items), **{lower.get(names[k], names[k]): v for k, v in options.items()})

    return {
        "BF.RESERVE": lambda key, error, capacity, NONSCALING=None: bloom.create(key, error, capacity,
                                                                                noScale=NONSCALING),
        "BF.ADD": bloom.add, "BF.EXISTS": bloom.exists, "BF.MADD": lambda key, items: bloom.madd(key, *items),
        "BF.MEXISTS": lambda key, items: bloom.mexists(key, *items), "BF.INSERT": insert(bloom.insert),
        "BF.INFO": lambda key: attributes(bloom.info(key), {
            "Capacity": "capacity", "Number of filters": "filterNum", "Number of items inserted": "insertedNum",
            "Expansion rate": "expansionRate"}),
        "BF.COPY": lambda a, b: python_copy(bloom, a, b),
        "CF.RESERVE": cuckoo.create, "CF.ADD": cuckoo.add, "CF.ADDNX": cuckoo.addnx, "CF.EXISTS": cuckoo.exists,
        "CF.INSERT": insert(cuckoo.insert), "CF.INSERTNX": insert(cuckoo.insertnx),
        "CF.MEXISTS": lambda key, items: cuckoo.mexists(key, *items), "CF.DEL": cuckoo.delete,
        "CF.COUNT": cuckoo.count, "CF.COPY": lambda a, b: python_copy(cuckoo, a, b),
    }


def attributes(info, names):
    return {name: getattr(info, attribute) for name, attribute in names.items()}


def python_copy(functions, source, target):
    at = 0
    while True:
        at, chunk = functions.scandump(source, at)
        if at == 0:
            return b"OK"
        functions.loadchunk(target, at, chunk)


def python_plain(value):
    if isinstance(value, bool):
        return "OK" if value else value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, list):
        return [python_plain(v) for v in value]
    return value


def run_python(port, steps):
    import redis  # pylint: disable=import-outside-toplevel  # it may be missing
    client = redis.Redis(port=port)
    functions = python_functions(client)
    answers = []
    for name, args, options, _ in steps:
        try:
            if name in functions:
                answers.append(python_plain(functions[name](*args, **options)))
            else:
                answers.append(python_plain(client.execute_command(*words(name, args, options))))
        except redis.ResponseError as error:
            answers.append({"error": str(error)})
    client.close()
    return answers


@case("python3-redis gets the answers")
def python():
    try:
        import redis  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        raise Skip("python3-redis is not installed") from None
    compare(run_python)


# npm

def npm_folder():
    """The folder of the installed packages; installs them if they are not those of the lockfile."""
    for tool in ("node", "npm"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")
    folder = servers.built("tests", "redis-node")
    source = os.path.join(HERE, "node")
    with open(os.path.join(source, "package-lock.json"), "rb") as file:
        lock = hashlib.sha256(file.read()).hexdigest()
    stamp = os.path.join(folder, "installed")
    if os.path.exists(stamp) and open(stamp, encoding="ascii").read() == lock:
        return folder
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(source, name), folder)
    npm = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1",
                          "--fetch-timeout=30000"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, check=False)
    if npm.returncode:
        unreachable = re.search(r"E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH|HOSTUNREACH)|network",
                                npm.stderr)
        if unreachable:
            raise Skip(f"the npm registry cannot be reached ({unreachable[0]})")
        raise Failed(npm.stderr)
    with open(stamp, "w", encoding="ascii") as file:
        file.write(lock)
    return folder


def run_node(which):
    def run(port, steps):
        asked = json.dumps([[name, args, options] for name, args, options, _ in steps])
        node = subprocess.run(["node", os.path.join(HERE, "node", "scenario.mjs"), which, str(port)], input=asked,
                              cwd=npm_folder(), capture_output=True, text=True, check=False)
        if node.returncode:
            raise Failed(node.stderr)
        return json.loads(node.stdout)
    return run


@case("npm redis gets the answers, version 2 of the protocol")
def redis_two():
    npm_folder()
    compare(run_node("redis2"))


@case("npm redis gets the answers, version 3 of the protocol")
def redis_three():
    npm_folder()
    compare(run_node("redis3"))


@case("ioredis gets the answers")
def ioredis():
    npm_folder()
    compare(run_node("ioredis"))


tap.run()
