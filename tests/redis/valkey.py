#!/usr/bin/python3
"""The same binary on Valkey: the scripts that need no client library, on the server that VALKEY_SERVER names."""
import os
import shutil
import subprocess
import sys

from support import server as servers
from support import tap
from support.tap import Failed, case

VALKEY = os.environ.get("VALKEY_SERVER")
if not VALKEY:
    tap.skip_all("VALKEY_SERVER names no server")
if not shutil.which(VALKEY):
    tap.skip_all(f"{VALKEY} cannot be run")
servers.require()

HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {**os.environ, "VIDI_REDIS_SERVER": VALKEY}


def passes(name):
    """The script must pass on that server."""
    run = subprocess.run([sys.executable, "-B", os.path.join(HERE, name + ".py")], env=ENVIRONMENT, text=True,
                         capture_output=True, check=False)
    if run.returncode or "not ok" in run.stdout:
        raise Failed(run.stdout + run.stderr)


def add(name):
    @case(f"redis/{name} passes on {os.path.basename(VALKEY)}")
    def on_valkey():
        passes(name)


for script in ("persistence", "replication", "type", "commands", "room", "soak"):
    add(script)

tap.run()
