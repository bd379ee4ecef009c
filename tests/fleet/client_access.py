#!/usr/bin/python3
"""How the client gets at servers: passwords and users, sockets of files, TLS."""
import os
import subprocess

import support  # finds the modules of tests/redis/support
from support import server as servers
from support import tap
from support.certificates import Authority
from support.cluster import Cluster, Node, info_of_cluster
from support.server import Server, free_port
from support.talk import Talk
from support.tap import case, expect

servers.require()

folder = tap.scratch()
LONG = "(8388608)"  # bytes of a value


def has_tls():
    """Whether the server can, and openssl is there to make certificates."""
    try:
        subprocess.run(["openssl", "version"], check=True, stdout=subprocess.DEVNULL)
        with Server("--tls-port", "0", arguments=None) as server:
            return not server.client().call("CONFIG", "GET", "tls-port") == []
    except (OSError, subprocess.CalledProcessError, tap.Failed):
        return False


@case("a password comes from the address or from the environment")
def passwords():
    with Server("--requirepass", "p@ss/word", arguments=None, wait=False) as server:
        servers.await_that(lambda: "Ready to accept connections" in server.log(), "the server is there")
        at = f"127.0.0.1:{server.port}/x"
        with Talk(f"redis://:p%40ss%2Fword@{at}") as talk:
            expect(talk.expect_open()("- SET a 1", "- GET a"), ["OK", "1"])
        with Talk(f"redis://{at}", password="p@ss/word") as talk:
            expect(talk.expect_open()("- GET a"), ["1"])
        with Talk(f"redis://:other@{at}", password="p@ss/word") as talk:
            talk.expect_refused("does not accept user or password", "WRONGPASS")
        with Talk(f"redis://{at}") as talk:
            talk.expect_refused("NOAUTH")


@case("a user needs the rights to ask for slots and to wait, and those of its commands")
def rights():
    with Server(arguments=None) as server:
        server.client()("ACL", "SETUSER", "crawl", "on", ">secret", "~*", "-@all", "+cluster|slots", "+wait", "+get", "+set")
        with Talk(f"redis://crawl:secret@127.0.0.1:{server.port}/x", "wait=1", "patience=1") as talk:
            replies, code, why = talk.expect_open().run(["w SET a 1"])
            expect((replies, code), (["none"], -12))  # there is no replica
            expect("0 of 1 replicas" in why, True)
            expect(talk("- GET a", "a PING")[0], "1")


@case("servers are reached by the socket of a file")
def files():
    path = os.path.join(folder, "s@1")
    with Server("--unixsocket", path, arguments=None):
        with Talk(f"redis+unix://{path}/x") as talk:
            expect(talk.expect_open()("- SET a 1", "- GET a"), ["OK", "1"])
            expect(talk(f"- SET b {LONG}", "- STRLEN b"), ["OK", LONG[1:-1]])
    with Talk(f"redis+unix://{path}/x") as talk:
        talk.expect_refused(path)


class Launched(Cluster):
    """A cluster whose nodes get options of their own, which `own` gives."""

    def __init__(self, own, *options):
        self.own = own
        super().__init__(*options, primaries=2, replicas=0, arguments=None)

    def launch(self):
        return Node(*self.options, *self.own(), arguments=self.arguments)


@case("a cluster is reached by the socket of one of its nodes")
def cluster_by_file():
    paths = (os.path.join(folder, f"node{i}") for i in range(2))
    with Launched(lambda: ("--unixsocket", next(paths))):
        with Talk(f"redis+unix://{folder}/node0/x") as talk:
            talk.expect_open()
            expect(talk.nodes(), 2)
            expect(talk(*(f"- INCR key{i}" for i in range(100))), ["1"] * 100)


@case("a node that does not know its own address is reached by the same socket")
def alone():
    path = os.path.join(folder, "alone")
    with Node("--cluster-enabled", "yes", "--unixsocket", path, arguments=None) as node:
        node.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        servers.await_that(lambda: info_of_cluster(node)["cluster_state"] == "ok", "the cluster is well")
        with Talk(f"redis+unix://{path}/x") as talk:
            expect(talk.expect_open()("- SET a 1", "- GET a"), ["OK", "1"])


class Secure:
    """A server with TLS, and its certificates."""

    def __init__(self, *hosts, clients="no"):
        self.authority = Authority(folder)
        key, certificate = self.authority.sign("server", *hosts)
        self.port = free_port()
        self.server = Server("--tls-port", str(self.port), "--tls-cert-file", certificate, "--tls-key-file", key,
                             "--tls-ca-cert-file", self.authority.certificate, "--tls-auth-clients", clients,
                             arguments=None)

    def talk(self, *options, host="127.0.0.1", trust=True):
        ca = [f"ca={self.authority.certificate}"] if trust else []
        return Talk(f"rediss://{host}:{self.port}/x", *ca, *options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.remove()


if has_tls():
    @case("with TLS, values of any length go both ways")
    def tls():
        with Secure("IP:127.0.0.1", "DNS:localhost") as secure:
            for host in ("127.0.0.1", "localhost"):
                with secure.talk(host=host) as talk:
                    talk.expect_open()
                    expect(talk("- SET a 1", f"- SET b {LONG}", "- GET b", "- STRLEN b", "- GET a"),
                           ["OK", "OK", "(long)", LONG[1:-1], "1"])
                    expect(talk(*(f"- INCR n{i}" for i in range(5000)))[-1].isdigit(), True)

    @case("a certificate of a stranger, or for another host, is refused")
    def strangers():
        with Secure("IP:127.0.0.1") as secure:
            with secure.talk(trust=False) as talk:
                talk.expect_refused("certificate is not accepted")
            with secure.talk(host="localhost") as talk:
                talk.expect_refused("certificate is not accepted", "hostname mismatch")
            with Talk(f"rediss://127.0.0.1:{secure.port}/x", "ca=" + Authority(folder, "other").certificate) as talk:
                talk.expect_refused("certificate is not accepted")
            with Talk(f"rediss://127.0.0.1:{secure.port}/x", "ca=/nowhere") as talk:
                talk.expect_refused("/nowhere")
        with Secure("IP:127.0.0.2", "DNS:127.0.0.1") as secure:
            with secure.talk() as talk:
                talk.expect_refused("certificate is not accepted", "IP address mismatch")

    @case("a server that wants to know its clients gets their certificate")
    def clients():
        with Secure("IP:127.0.0.1", clients="yes") as secure:
            key, certificate = secure.authority.sign("client", "DNS:client.example")
            with secure.talk(f"cert={certificate}", f"key={key}") as talk:
                expect(talk.expect_open()("- SET a 1"), ["OK"])
            with secure.talk() as talk:
                talk.expect_refused("TLS", "certificate required")
            with secure.talk(f"cert={certificate}", f"key={secure.authority.key}") as talk:
                talk.expect_refused("private key")

    @case("whoever speaks TLS to a server without it, or the other way round, is told")
    def mixed():
        with Secure("IP:127.0.0.1") as secure:
            with Talk(f"redis://127.0.0.1:{secure.port}/x") as talk:
                talk.expect_refused(f"127.0.0.1:{secure.port}: ")
            with Talk(f"rediss://127.0.0.1:{secure.server.port}/x", f"ca={secure.authority.certificate}",
                      "connect=500") as talk:
                talk.expect_refused("TLS")

    @case("the nodes of a cluster are reached by TLS, too")
    def tls_cluster():
        authority = Authority(folder)
        key, certificate = authority.sign("node", "IP:127.0.0.1")

        with Launched(lambda: ("--tls-port", str(free_port())), "--tls-cert-file", certificate, "--tls-key-file", key,
                      "--tls-ca-cert-file", authority.certificate, "--tls-auth-clients", "no",
                      "--tls-cluster", "yes") as cluster:
            first = cluster.nodes[0].options["tls-port"]
            with Talk(f"rediss://127.0.0.1:{first}/x", f"ca={authority.certificate}") as talk:
                talk.expect_open()
                expect(talk.nodes(), 2)
                expect(talk(*(f"- INCR key{i}" for i in range(100))), ["1"] * 100)

try:
    tap.run()
finally:
    tap.remove(folder)
