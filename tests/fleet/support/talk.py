"""Clients of servers and clusters as the fleet has them: processes of redis_talk.

    with Talk("redis://127.0.0.1:7000/x", "wait=1") as talk:
        talk.expect_open()
        replies, code, why = talk.run(["rw SET a 1", "r GET a"])

tests/fleet/talk.h describes the commands.
"""
import os
import subprocess

from support.server import built
from support.tap import Failed


class Talk:
    def __init__(self, address, *options, password=None):
        environment = {name: value for name, value in os.environ.items() if name != "VIDI_REDIS_PASSWORD"}
        if password:
            environment["VIDI_REDIS_PASSWORD"] = password
        self.process = subprocess.Popen([built("tests", "redis_talk"), address, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)
        self.code, self.why = self.read_code(self.read())

    def read(self):
        line = self.process.stdout.readline()
        if not line.endswith("\n"):
            raise Failed("redis_talk has ended")
        return line[:-1]

    @staticmethod
    def read_code(line):
        _, code, *why = line.split(" ", 2)
        return int(code), "".join(why)

    def expect_open(self):
        if self.code != 0:
            raise Failed(f"redis_open: {self.code} {self.why}")
        return self

    def expect_refused(self, *words):
        """The address must not open, for a reason that has these words."""
        if self.code == 0 or not all(word in self.why for word in words):
            raise Failed(f"redis_open: {self.code} {self.why}, expected an error with {words}")
        return self

    def send(self, commands):
        """Commands of one run; receive gives the replies."""
        self.process.stdin.write("".join(command + "\n" for command in commands) + "\n")
        self.process.stdin.flush()

    def receive(self):
        replies = []
        while True:
            line = self.read()
            if line.startswith("= "):
                return (replies, *self.read_code(line))
            replies.append(line)

    def run(self, commands):
        self.send(commands)
        return self.receive()

    def __call__(self, *commands):
        """The replies, in a run that must succeed."""
        replies, code, why = self.run(commands)
        if code != 0:
            raise Failed(f"{commands[0]} ...: {code} {why}")
        return replies

    def nodes(self):
        self.process.stdin.write("nodes\n")
        self.process.stdin.flush()
        return int(self.read())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        status = self.process.wait()
        if status != (3 if self.code else 0):
            raise Failed(f"redis_talk ended with {status}")
