"""The scheduler of several spiders on a real cluster: its key moves, and its primary is killed."""
import pytest

pytest.importorskip("scrapy")
from support import redis_server  # noqa: E402

redis_server.require()

from redis_support.cluster import Cluster, Move  # noqa: E402
from support.ticking import ROOT, Worker  # noqa: E402
from vidi.scrapy.connection import Address, Connection  # noqa: E402


@pytest.fixture(name="cluster")
def _cluster():
    with Cluster("--requirepass", "secret", "--masterauth", "secret", timeout=5000) as cluster:
        yield cluster


def address(node):
    return f"redis://:secret@127.0.0.1:{node.port}/0?key=k"


def other_than(cluster, node):
    return next(each for each in cluster.primaries() if each is not node)


def pages(worker):
    """Fetches everything that the worker gets."""
    return sorted(worker.work_off())


def test_any_node_leads_to_the_key_and_the_key_is_followed(cluster):
    """The worker is told of MOVED at its start, of ASK in the middle of a move, and of MOVED at its end."""
    source = cluster.owner("k")
    target = other_than(cluster, source)
    worker = Worker(target, VIDI_PATH=address(target))
    worker.enqueue("/a")
    assert pages(worker) == ["/a"]
    move = Move(cluster, "k", target).begin()
    worker.enqueue("/b")
    assert pages(worker) == ["/b"]  # the key is still where it was
    assert move.carry() == 1
    worker.enqueue("/c", "/a")
    assert pages(worker) == ["/c"]
    assert worker.scheduler.claims.connection.is_asking
    move.end()
    worker.enqueue("/d", "/b")
    assert pages(worker) == ["/d"]
    back = Move(cluster, "k", source)
    back.run()
    worker.enqueue("/e", "/c")
    assert pages(worker) == ["/e"]
    assert not worker.scheduler.claims.connection.is_asking
    seen = [ROOT + "/" + letter for letter in "abcde"]
    assert cluster("VIDI.MHAS", "k", "URLS", *seen) == [0] * 5
    assert sum(node.ask("DBSIZE") for node in cluster.primaries()) == 1


def test_a_primary_that_was_killed_is_replaced(cluster):
    primary = cluster.owner("k")
    worker = Worker(primary, VIDI_PATH=address(other_than(cluster, primary)))
    worker.enqueue("/a", "/b")
    worker.tick()
    cluster.await_replicas()
    cluster.kill(primary)
    assert pages(worker) == ["/a", "/b"]


def test_a_connection_knows_where_it_is(cluster):
    source = cluster.owner("k")
    connection = Connection(Address(address(source), "k"))
    assert connection.address.place is None
    target = other_than(cluster, source)
    connection = Connection(Address(address(target), "k"))
    assert connection.address.place == ("127.0.0.1", source.port, False)
