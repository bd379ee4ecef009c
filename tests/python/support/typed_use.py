"""Uses everything that vidi offers, as a program with type hints would. test_types.py checks it with mypy, and runs it.

assert_type does nothing when it is run: it tells mypy which type an expression must have.
"""
import array
from pathlib import Path
from typing import FrozenSet, Iterator, List, Optional, assert_type
from urllib.parse import urlsplit

import vidi


class Link:
    """A URL as other packages have them."""

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def scheme(self) -> str:
        return self.text.partition(":")[0]

    def __str__(self) -> str:
        return self.text


def functions() -> None:
    assert_type(vidi.version, str)
    assert_type(vidi.__version__, str)
    assert_type(vidi.cpu(), str)
    assert_type(vidi.canon("http://a/"), str)
    assert_type(vidi.canon(b"?ref=1&b=2", "crawl", base="http://a/", tracking="ref"), bytes)
    assert_type(vidi.urljoin(b"http://a/", "b"), str)
    assert_type(vidi.urljoin(base="http://a/", ref=b"b"), bytes)
    assert_type(vidi.canon(bytearray(b"http://a/")), bytes)
    assert_type(vidi.canon(urlsplit("http://a/"), base=Link("http://b/")), str)


def plans() -> None:
    plans = vidi.plan(urls=1e6, lost=1)
    assert_type(plans, List[vidi.Plan])
    vidi.plan(memory=2**30, error=1e-4, kind="blocked", params=None, exact=False, url_bytes=70.5)
    plan = plans[0]
    assert_type(plan.expected_lost + plan.bytes_per_url + plan.error + plan.lines_per_url, float)
    assert_type(plan.urls + plan.bytes, int)
    assert_type(plan.kind + plan.params + plan.fp_meaning, str)
    assert_type(plan.can, FrozenSet[str])
    kind: vidi.Kind = vidi.kinds()[0]
    assert_type(kind.name + kind.summary, str)
    assert "merge" in kind.can


def asking(s: vidi.Set) -> None:
    assert_type(s.add("http://a/"), bool)
    assert_type(s.add_many(["http://a/", b"http://b/"]), List[bool])
    assert_type(s.has_many(url for url in ("http://a/", "http://c/")), List[bool])
    assert_type("http://a/" in s, bool)
    assert_type(s.add(Link("http://f/")) and urlsplit("http://f/") in s, bool)
    assert_type(s.add_many(["http://a/", None, 1.5 * float("nan")], missing="skip"), List[bool])
    assert_type(s.has_many(urls=["http://a/", None], missing="skip"), List[bool])
    s.update(["http://a/"], (b"http://b/" for _ in range(2)))
    s.update(["http://a/", None], missing="skip")
    s |= {"http://a/", "http://b/"}
    for link in s.new([Link("http://g/")], missing="fail"):
        assert_type(link, Link)
    for url in s.new(["http://d/", None], missing="skip"):
        assert_type(url, str)
    new = s.new([b"http://e/"])
    assert_type(next(new), bytes)
    new.close()
    assert_type(s.count("http://a/"), int)
    assert_type(s.discard(b"http://a/"), bool)
    s.remove("http://b/")
    assert_type(len(s), int)
    assert_type(iter(s), Iterator[str])
    assert_type(next(s.hashes()), int)
    s.expect(1e6)


def durable(folder: Path) -> None:
    with vidi.Set(folder / "set", kind="hashset", manual_commit=True, sync="always", invalid="drop", headroom=2) as s:
        s.add("http://a/")
        mark = s.mark()
        assert_type(mark, int)
        s.commit_to(mark)
        s.commit_note(mark, b"length=7")
        assert_type(s.note, bytes)
        s.commit()
        s.sync()
        s.snapshot()
        assert_type(s.path, Optional[str])
        assert_type(s.closed, bool)
    with vidi.Set(str(folder / "set"), read_only=True, accept_damage=True) as reader:
        reader.verify()
        assert_type(reader.read_only, bool)
        found = reader.recovered
        assert found and found.is_whole
        assert_type(found, vidi.Recovery)
        assert_type(found.damaged_bytes + found.missing_files + found.unfinished_bytes + found.urls, int)
        assert_type(found.damaged_log + found.missing_file, str)


def on_a_server(folder: Path) -> None:
    with vidi.Set.create(folder / "made", capacity=1e3, sync="no") as made:
        assert_type(made, vidi.Set)
        cluster = made.stats.cluster
        assert_type(cluster, Optional[vidi.ClusterStats])
        if cluster:
            assert_type(cluster.shards + cluster.nodes + cluster.claims + cluster.expired + cluster.stale, int)
        try:
            assert_type(made.check(), List[str])
        except vidi.CannotError:
            pass
    try:
        vidi.Set.drop("redis://127.0.0.1:1/a", patience=0.01)
        vidi.Set.create("redis://127.0.0.1:1/a", shards=3, patience=0.01, owner="me")
        vidi.Set("redis://127.0.0.1:1/a", lease=60, patience=0.01, wait_replicas=1, ca_file=None)
    except (vidi.ServerError, vidi.CannotError) as error:
        assert_type(error.code, int)


def whole(folder: Path) -> None:
    a = vidi.Set(capacity=1000, lost=0.5, canon="crawl", tracking="x", key=bytes(16), memory_limit=2**30)
    b = vidi.Set.like(a, folder / "b", sync="no")
    b.add("http://a/")
    a.merge(b, force=True)
    a |= b
    assert_type(a.copy(), vidi.Set)
    assert_type(vidi.Set(["http://a/", b"http://b/"]), vidi.Set)
    vidi.Set(folder / "c", urls=(f"http://a/{number}" for number in range(3))).clear()
    data = a.to_bytes(previous=True)
    assert_type(data, bytes)
    vidi.Set.from_bytes(bytearray(data))
    vidi.Set.from_bytes(memoryview(data))
    vidi.Set.from_bytes(array.array("B", data), None)
    assert_type(vidi.Set.from_bytes(data, invalid="fail").content_digest(), bytes)
    a.rotate(kind="classic", params="k=5", capacity=1e4, error=1e-3, headroom=1.5, keep_previous=True)
    assert_type(a.seen_previously("http://a/"), bool)
    a.drop_previous()
    assert_type(a.kind + a.canon, str)
    vidi.Set(like=b, keep_previous=False, error=0.0, params=None).close()


def statistics(s: vidi.Set) -> None:
    s.rotate(force=False)
    stats: vidi.Stats = s.stats
    assert_type(stats.expected_lost + stats.fill + stats.fp_now, float)
    assert_type(stats.count + stats.bytes + stats.staged, int)
    assert_type(stats.hash_trust, str)
    epochs = s.epochs
    assert_type(epochs, List[vidi.EpochStats])
    assert_type(epochs[0].fp_end, float)


class Mine(vidi.Set):
    def first(self) -> "Mine":
        return self.copy()


def derived() -> None:
    assert_type(Mine.like(Mine()), Mine)
    assert_type(Mine.from_bytes(Mine().to_bytes()).first(), Mine)
    with Mine() as s:
        assert_type(s, Mine)


def errors(s: vidi.Set) -> None:
    try:
        vidi.canon("no URL")
    except vidi.InvalidURL as error:
        assert_type(error.code, int)
    try:
        s.add_many(["http://a/"])
    except vidi.Error as error:
        assert_type(error.answers, Optional[List[Optional[bool]]])


def main(folder: Path) -> None:
    functions()
    plans()
    s = vidi.Set(kind="hashset", params="multiset=on")
    asking(s)
    durable(folder)
    on_a_server(folder)
    whole(folder)
    statistics(s)
    derived()
    errors(s)
