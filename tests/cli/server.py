"""Servers for the cases in which vidi uses a set on a server: see start_server in lib.sh.

    server.py [PRIMARIES]

Starts one server with the module, or a cluster, prints its hosts as an address has them, and ends with standard input.
The clocks of a single server are off by what the file server.clock says (tests/redis/clock.c).
"""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["VIDI_SOURCE"], "tests", "redis"))

from support import server as servers  # noqa: E402
from support.cluster import Cluster  # noqa: E402


def serve(nodes):
    print(",".join(f"127.0.0.1:{node.port}" for node in nodes), flush=True)
    sys.stdin.read()


def main(primaries):
    if primaries:
        with Cluster(primaries=primaries, replicas=0) as cluster:
            serve(cluster.nodes)
        return
    clock = os.path.abspath("server.clock")
    with open(clock, "wb") as file:
        file.write(bytes(16))
    environment = {"LD_PRELOAD": servers.clock_path(), "VIDI_TEST_CLOCK": clock}
    with servers.Server(environment=environment) as server:
        serve([server])


main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
