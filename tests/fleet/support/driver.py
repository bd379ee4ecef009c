"""Handles on cluster sets: processes of cluster_lines, driven by lines.

    with Driver() as one:
        one("create", address, "shards=4")
        one("open", address, "manual")
        code, told = one.ask("add", "http://a/", "http://b/")

Calling it, the call must succeed. `ask` gives what it answers: a code, and a text.
"""
import signal
import subprocess

from support.server import built, die_with_parent


class Failure(Exception):
    """A call that had to succeed has failed."""


class Driver:
    def __init__(self):
        self.process = subprocess.Popen([built("tests", "cluster_lines")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1, preexec_fn=die_with_parent)

    def send(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()

    def receive(self):
        """(code, text): a code below 0 is an error, and the text has its sentence."""
        line = self.process.stdout.readline()
        if not line.endswith("\n"):
            raise Failure("the process has ended")
        _, code, *text = line.rstrip("\n").split(" ", 2)
        return int(code), text[0] if text else ""

    def ask(self, *words):
        self.send(*words)
        return self.receive()

    def __call__(self, *words):
        code, text = self.ask(*words)
        if code < 0:
            raise Failure(f"{' '.join(str(word) for word in words)[:200]}: {code} {text}")
        return text

    def stat(self):
        """The statistics, numbers as numbers."""
        pairs = dict(word.split("=", 1) for word in self("stat").split())
        return {name: float(value) if "." in value or "e-" in value else int(value) if value.isdigit() else value
                for name, value in pairs.items()}

    def kill(self):
        """kill -9"""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.close_streams()

    def close_streams(self):
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def close(self):
        """Ends the process, which closes its handle and must not complain of anything."""
        self.close_streams()
        if self.process.wait() != 0:
            raise Failure(f"the process has ended with {self.process.returncode}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
