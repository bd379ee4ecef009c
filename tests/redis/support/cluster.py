"""A real cluster on loopback: primaries with equal shares of the slots, and a replica for each.

    with Cluster() as cluster:
        cluster.call("SET", "a", "1")           # finds the node, follows MOVED and ASK
        node = cluster.owner("a")               # the primary of the key's slot
        move = Move(cluster, "a", target)       # moves a slot by the commands of old, a step at a time
        cluster.take_over(node)                 # its replica is promoted, whatever the others say

Nodes are servers as in server.py, with their options. Nothing here waits for the clock: a condition is awaited, for as
long as a working cluster may take on a busy machine.
"""
from .resp import Error
from .server import Server, await_replica, await_that, free_port, info

SLOTS = 16384
REDIRECTIONS = 20  # after so many, nobody owns the slot


class Node(Server):
    """A server in cluster mode, whose bus has a port of its own: the default one may be out of range."""

    bus_beside = None  # the port of the server that the bus was chosen for

    def launch(self):
        if self.bus_beside != self.port:
            self.bus_beside = self.port
            self.options["cluster-port"] = str(free_port())
        super().launch()

    def client(self, protocol=2):
        """A connection, which has given the password if the options have one."""
        client = super().client(protocol)
        if "requirepass" in self.options:
            client("AUTH", self.options["requirepass"])
        return client

    def id(self):
        return self.ask("CLUSTER", "MYID").decode()

    def ask(self, *words):
        """One command on a connection of its own; the reply must not be an error."""
        client = self.client()
        reply = client(*words)
        client.close()
        return reply

    def try_to(self, *words):
        """The reply, whatever it is."""
        client = self.client()
        reply = client.call(*words)
        client.close()
        return reply

    def role(self):
        return self.ask("ROLE")[0].decode()

    def nodes(self):
        """What it knows: id -> (flags, id of its primary or None, ranges of slots)."""
        rows = [row.split() for row in self.ask("CLUSTER", "NODES").decode().splitlines()]
        return {row[0]: (row[2].split(","), None if row[3] == "-" else row[3],
                         [slots for slots in row[8:] if not slots.startswith("[")]) for row in rows}


class Cluster:
    """options: more options of every node. replicas: of each primary. timeout: milliseconds, cluster-node-timeout."""

    def __init__(self, *options, primaries=3, replicas=1, timeout=15000, arguments=()):
        self.options = ("--cluster-enabled", "yes", "--cluster-node-timeout", str(timeout),
                        "--cluster-allow-replica-migration", "no", "--cluster-replica-validity-factor", "0", *options)
        self.arguments = arguments
        self.nodes = [self.launch() for _ in range(primaries * (1 + replicas))]
        self.addresses = {node.port: node for node in self.nodes}
        self.clients = {}
        self.hints = {}  # slot -> the node that answered last
        first, others = self.nodes[:primaries], self.nodes[primaries:]
        for number, node in enumerate(first):
            node.ask("CLUSTER", "ADDSLOTSRANGE", *share(number, primaries))
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        self.join(self.nodes)
        for number, node in enumerate(others):
            node.ask("CLUSTER", "REPLICATE", first[number % primaries].id())
        self.await_state()

    def launch(self):
        return Node(*self.options, arguments=self.arguments)

    def join(self, nodes):
        """The nodes meet, and wait until each knows every other one."""
        first = nodes[0]
        for node in nodes[1:]:
            node.ask("CLUSTER", "MEET", "127.0.0.1", first.port, first.options["cluster-port"])
        await_that(lambda: all(self.knows_all(node) for node in nodes), "every node knows the others")

    def knows_all(self, node):
        known = node.nodes()
        return len(known) == len(self.nodes) and not any("handshake" in flags for flags, *_ in known.values())

    def add_node(self):
        """Another primary, without slots."""
        node = self.launch()
        self.nodes.append(node)
        self.addresses[node.port] = node
        self.join([self.nodes[0], node])
        return node

    def alive(self):
        return [node for node in self.nodes if node.is_alive()]

    def await_state(self):
        """Waits until every node that runs says that all slots are served, and each replica is in step; and until all
        agree who is whose replica and has which slots."""
        await_that(lambda: all(self.is_well(node) for node in self.alive()) and self.agrees(), "the cluster is well")

    def agrees(self):
        views = {node.id(): {id: known[1:] for id, known in node.nodes().items()} for node in self.alive()}
        return all(view.get(id) == mine.get(id) for id, mine in views.items() for view in views.values())

    def is_well(self, node):
        state = info_of_cluster(node)
        if state["cluster_state"] != "ok" or state["cluster_slots_ok"] != str(SLOTS):
            return False
        client = node.client()
        facts = info(client, "replication")
        client.close()
        return facts["role"] == "master" or facts["master_link_status"] == "up"

    # ---- who is who ----

    def slot(self, key):
        return self.alive()[0].ask("CLUSTER", "KEYSLOT", key)

    def owner(self, key):
        """The primary of a key's slot (or of a slot, by its number), as the first running node sees it."""
        slot = key if isinstance(key, int) else self.slot(key)
        for first, last, primary, *_ in self.alive()[0].ask("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return self.addresses[primary[1]]
        raise AssertionError(f"nobody has slot {slot}")

    def primaries(self):
        return [node for node in self.alive() if node.role() == "master"]

    def replicas_of(self, primary):
        known = primary.nodes()
        return [node for node in self.alive() if known[node.id()][1] == primary.id()]

    def await_replicas(self):
        """Waits until the replicas have all that was written, by whatever connection (WAIT knows only its own)."""
        for primary in self.primaries():
            for replica in self.replicas_of(primary):
                one, other = primary.client(), replica.client()
                await_replica(one, other)
                one.close()
                other.close()

    # ---- commands ----

    def client(self, node):
        """A connection to the node that is kept; closed when the node was restarted or removed."""
        if node not in self.clients:
            self.clients[node] = node.client()
        return self.clients[node]

    def forget(self, node):
        client = self.clients.pop(node, None)
        if client:
            client.close()

    def call(self, *words, key=None):
        """A command, sent to the node that has its key (the second word), through MOVED and ASK."""
        slot = self.slot(key if key is not None else words[1])
        node, asking = self.hints.get(slot) or self.owner(slot), False
        for _ in range(REDIRECTIONS):
            client = self.client(node)
            if asking:
                client("ASKING")
            reply = client.call(*words)
            kind, _, rest = reply.partition(" ") if isinstance(reply, Error) else ("", "", "")
            if kind not in ("MOVED", "ASK"):
                return reply
            node, asking = self.addresses[int(rest.rsplit(":", 1)[1])], kind == "ASK"
            if not asking:
                self.hints[slot] = node
        raise AssertionError(f"slot {slot}: redirected {REDIRECTIONS} times")

    def __call__(self, *words, key=None):
        """The same, and the reply must not be an error."""
        reply = self.call(*words, key=key)
        if isinstance(reply, Error):
            raise AssertionError(f"{words[0]}: {reply}")
        return reply

    # ---- failures ----

    def take_over(self, primary):
        """Promotes a replica of the primary without asking anybody; waits until all know. Gives the new primary."""
        replica = self.replicas_of(primary)[0]
        replica.ask("CLUSTER", "FAILOVER", "TAKEOVER")
        self.await_promotion(replica)
        return replica

    def kill(self, primary):
        """Ends a primary with kill -9, and waits for the others to put a replica in its place. Gives that one."""
        replica = self.replicas_of(primary)[0]
        self.forget(primary)
        primary.kill()
        self.await_promotion(replica)
        return replica

    def revive(self, node):
        """Starts a node again that was killed, and waits until it has found its place."""
        node.start()
        self.addresses[node.port] = node
        self.await_state()

    def await_promotion(self, replica):
        me = replica.id()
        await_that(lambda: all("master" in node.nodes()[me][0] for node in self.alive()), "the replica is promoted")
        self.hints.clear()
        self.await_state()

    def remove(self):
        for node in list(self.clients):
            self.forget(node)
        for node in self.nodes:
            node.remove()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class Move:
    """A slot on its way to another primary, by the commands that every version has: begin, carry, end."""

    def __init__(self, cluster, key, target):
        self.cluster, self.target = cluster, target
        self.slot = key if isinstance(key, int) else cluster.slot(key)
        self.source = cluster.owner(self.slot)

    def begin(self):
        self.target.ask("CLUSTER", "SETSLOT", self.slot, "IMPORTING", self.source.id())
        self.source.ask("CLUSTER", "SETSLOT", self.slot, "MIGRATING", self.target.id())
        return self

    def carry(self, most=1000000):
        """Moves up to so many keys; gives how many."""
        keys = self.source.ask("CLUSTER", "GETKEYSINSLOT", self.slot, most)
        if keys:
            password = self.target.options.get("requirepass")
            self.source.ask("MIGRATE", "127.0.0.1", self.target.port, "", 0, 60000,
                            *(["AUTH", password] if password else []), "KEYS", *keys)
        return len(keys)

    def end(self):
        """The target has the slot; all primaries are told."""
        for node in (self.target, self.source, *self.cluster.primaries()):
            node.ask("CLUSTER", "SETSLOT", self.slot, "NODE", self.target.id())
        self.cluster.hints.pop(self.slot, None)

    def run(self):
        self.begin()
        self.carry()
        self.end()


def share(number, primaries):
    """First and last slot of a primary: the number-th of as many equal ranges."""
    return number * SLOTS // primaries, (number + 1) * SLOTS // primaries - 1


def info_of_cluster(node):
    rows = node.ask("CLUSTER", "INFO").decode().split("\r\n")
    return dict(row.split(":", 1) for row in rows if ":" in row)
