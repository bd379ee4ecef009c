"""Servers of the tests: each a process of its own on a free loopback port, in a temporary folder.

    server = Server("--appendonly", "yes")
    client = server.client()

A server ends when the script ends, however that ends. Variables of the environment:
  VIDI_BUILD          the build whose redisvidi.so is loaded
  VIDI_REDIS_SERVER   the server's program ("redis-server")
"""
import atexit
import ctypes
import itertools
import os
import shutil
import signal
import socket
import subprocess
import time

from . import tap
from .resp import Client, Error

PATIENCE = 120  # seconds after which a server that does not answer is taken for dead
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)
started = []  # servers that may run
numbers = itertools.count()  # of servers
log_lines = 40  # of a server that died


def program():
    """The server's program, or None if there is none."""
    return shutil.which(os.environ.get("VIDI_REDIS_SERVER") or "redis-server")


def built(*names):
    """The path of something in the build that is tested."""
    return os.path.abspath(os.path.join(os.environ.get("VIDI_BUILD", "build"), *names))


def module_path():
    """The module of the build that is tested."""
    return built("redisvidi.so")


def meter_path():
    """A module of the tests: meter.c."""
    return built("tests", "libredis_meter.so")


def clock_path():
    """Loaded into a server, it shows the time that the test says: clock.c."""
    return built("tests", "libredis_clock.so")


def keys_path():
    """Loaded into each server, it gives sets the same keys in every run: support/fixed_keys.c."""
    return built("tests", "libfixed_keys.so")


def require():
    """Ends the script as skipped where there is no server or no module."""
    if not program():
        tap.skip_all("redis-server is not installed")
    if not os.path.exists(module_path()):
        tap.skip_all(f"{module_path()} is not built")


def is_sanitized(module):
    """True if the module was built with the address sanitizer, which must then be loaded first."""
    return "libasan" in subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout


def sanitizer_library():
    """The path of the address sanitizer's library."""
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    return os.path.realpath(found.stdout.strip())


def free_port():
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Server:
    """A running server.

    options     more options of the server, which overrule the defaults below
    arguments   of the module; None loads no module
    modules     more modules, loaded after ours: lists of path and arguments
    before      modules that are loaded before ours
    environment variables for the server
    """

    DEFAULTS = {"bind": "127.0.0.1", "daemonize": "no", "save": "", "appendonly": "no", "appendfsync": "always",
                "enable-debug-command": "yes", "enable-module-command": "yes", "repl-diskless-sync": "yes",
                "repl-diskless-sync-delay": "0", "logfile": "log", "loglevel": "notice", "shutdown-timeout": "0",
                "repl-backlog-size": "16mb", "latency-tracking": "no", "proto-max-bulk-len": "512mb",
                "lazyfree-lazy-user-del": "no", "lazyfree-lazy-user-flush": "no", "lazyfree-lazy-server-del": "no",
                "lazyfree-lazy-eviction": "no", "lazyfree-lazy-expire": "no"}  # Valkey's defaults are others

    def __init__(self, *options, arguments=(), modules=(), before=(), environment=None, wait=True):
        self.folder = tap.scratch()
        self.options = dict(self.DEFAULTS)
        names = [o.lstrip("-") for o in options[::2]]
        self.options.update(zip(names, options[1::2]))
        own = [] if arguments is None else [[module_path(), *arguments]]
        self.modules = [*map(list, before), *own, *map(list, modules)]
        self.environment = dict(environment or {})
        self.process = None
        self.port = None
        self.number, self.starts = next(numbers), 0
        started.append(self)
        self.start(wait)

    # A port may be taken by another between the question and the start; then the next one is tried.
    def start(self, wait=True):
        """Starts it (again), on the port that it had, and waits until it answers."""
        self.starts += 1
        for attempt in range(10):
            if not self.port or attempt:
                self.port = free_port()
            self.launch()
            if not wait or self.await_answer():
                return self
            if "bind: Address already in use" not in self.log():
                break
        raise tap.Failed(f"the server did not start: {self.log_end()}")

    def launch(self):
        command = [program(), "--port", str(self.port), "--dir", self.folder]
        for name, value in self.options.items():
            command += ["--" + name, value]
        for module in self.modules:
            command += ["--loadmodule", *module]
        environment = {**os.environ, **self.environment}
        preloads = [keys_path(), *self.environment.get("LD_PRELOAD", "").split()]
        if any(is_sanitized(module[0]) for module in self.modules):
            preloads.insert(0, sanitizer_library())
            environment.setdefault("ASAN_OPTIONS", "detect_leaks=0")
        environment["LD_PRELOAD"] = " ".join(preloads)
        environment["VIDI_TEST_KEYS"] = f"server {self.number} start {self.starts}"
        self.output = open(os.path.join(self.folder, "output"), "ab")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output,
                                        env=environment, cwd=self.folder, preexec_fn=die_with_parent)

    def await_answer(self):
        """Waits until it has loaded its data; False if it ended instead."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            try:
                client = Client(self.port)
                reply = client.call("PING")
                client.close()
                if not isinstance(reply, Error) or not reply.startswith("LOADING"):
                    return True
            except OSError:
                pass
            time.sleep(0.01)
        return False

    def client(self, protocol=2):
        return Client(self.port, protocol)

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        """Everything that it has said."""
        text = ""
        for name in ("log", "output"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    text += file.read()
        return text

    def log_end(self):
        return "\n".join(self.log().splitlines()[-log_lines:])

    def stop(self, how="NOSAVE"):
        """Ends it in good order. how is SAVE, or NOSAVE, the argument of SHUTDOWN. Gives its exit status."""
        if self.is_alive():
            try:
                client = self.client()
                client.send("SHUTDOWN", how)
                client.file.read()
                client.close()
            except OSError:
                self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()
                raise tap.Failed(f"the server did not end: {self.log_end()}") from None
        return self.reap()

    def kill(self):
        """Ends it with kill -9."""
        if self.is_alive():
            self.process.kill()
            self.process.wait()
        return self.reap()

    def reap(self):
        status = self.process.returncode
        self.output.close()
        return status

    def restart(self, how="NOSAVE"):
        """Ends it in good order and starts it again in its folder."""
        self.stop(how)
        return self.start()

    def follow(self, primary):
        """Becomes a replica, and waits until it has everything."""
        client = self.client()
        client("REPLICAOF", "127.0.0.1", primary.port)
        await_that(lambda: info(client, "replication")["master_link_status"] == "up", "the replica is in step")
        client.close()
        return self

    def remove(self):
        """Ends it at once and removes its folder."""
        if self.process:
            self.kill()
        tap.remove(self.folder)
        if self in started:
            started.remove(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


@atexit.register
def remove_all():
    """Leaves neither processes nor folders behind."""
    for server in list(started):
        server.remove()


def await_that(condition, what):
    """Waits until the condition holds; fails after a time that no working server takes."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise tap.Failed(f"waited in vain until {what}")
        time.sleep(0.01)


def info(client, section="everything"):
    """A section of INFO as a dict."""
    text = client("INFO", section).decode()
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def used_memory(client):
    return int(info(client, "memory")["used_memory"])


def digest(client, *keys):
    """DEBUG DIGEST-VALUE of the keys, or DEBUG DIGEST of everything."""
    return client("DEBUG", "DIGEST-VALUE", *keys) if keys else client("DEBUG", "DIGEST")


def offsets_equal(primary, replica):
    """True if the replica has applied everything that the primary wrote."""
    return info(primary, "replication")["master_repl_offset"] == info(replica, "replication")["slave_repl_offset"]


def await_replica(primary, replica):
    await_that(lambda: offsets_equal(primary, replica), "the replica has everything")
