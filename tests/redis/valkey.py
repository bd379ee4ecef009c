#!/usr/bin/python3
"""The same binary on other servers, which VALKEY_SERVER and REDIS_SERVER name: the scripts that need no client library."""
import os
import shutil
import subprocess
import sys

from support import server as servers
from support import tap
from support.tap import Failed, case

NAMED = [os.environ[name] for name in ("VALKEY_SERVER", "REDIS_SERVER") if os.environ.get(name)]
if not NAMED:
    tap.skip_all("neither VALKEY_SERVER nor REDIS_SERVER names a server")
for program in NAMED:
    if not shutil.which(program):
        tap.skip_all(f"{program} cannot be run")
servers.require()

HERE = os.path.dirname(os.path.abspath(__file__))


def passes(name, program):
    """The script must pass on that server."""
    run = subprocess.run([sys.executable, "-B", os.path.join(HERE, name + ".py")], text=True, capture_output=True,
                         env={**os.environ, "VIDI_REDIS_SERVER": program}, check=False)
    if run.returncode or "not ok" in run.stdout:
        raise Failed(run.stdout + run.stderr)


def add(name, program):
    @case(f"redis/{name} passes on {program}")
    def on_other():
        passes(name, program)


for program in NAMED:
    for script in ("persistence", "replication", "type", "commands", "guard", "leases", "watching", "cluster", "room",
                   "soak", "moving"):
        add(script, program)

tap.run()
