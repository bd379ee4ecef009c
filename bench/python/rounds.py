"""Subjects that take turns, and the table and rows that come of them."""
import gc
import json
import statistics
import time


def urls(n):
    """URLs of 60 to 80 characters on a thousand hosts."""
    return [f"https://www.host{i % 1000}.example/section/{i % 97}/archive/2026/article-{i}.html" for i in range(n)]


class Subject:
    """What is measured: `prepare(n)` makes what it works on; `run(prepared)` is timed and returns what it filled."""

    def __init__(self, name, prepare, run, bytes_of=None):
        self.name, self.prepare, self.run, self.bytes_of = name, prepare, run, bytes_of
        self.ns, self.bytes = [], None


def measure(subjects, n, rounds):
    """Each round runs every subject once. Processor time of this thread, in nanoseconds for each of the n items."""
    for _ in range(rounds):
        for subject in subjects:
            prepared = subject.prepare(n)
            gc.collect()
            gc.disable()
            begin = time.thread_time_ns()
            filled = subject.run(prepared)
            subject.ns.append((time.thread_time_ns() - begin) / n)
            gc.enable()
            if subject.bytes_of:
                subject.bytes = subject.bytes_of(filled, prepared) / n
            del prepared, filled


def report(subjects, peer, n, rounds, file):
    """Prints a table, and appends rows for bench.json. Ratios are the peer's time divided by the subject's."""
    print(f"{'':<34} {'ns':>9} {'median':>9} {'peer/it':>9} {'(median)':>9} {'bytes':>7}")
    base = next(subject for subject in subjects if subject.name == peer)
    for subject in subjects:
        best, median = min(subject.ns), statistics.median(subject.ns)
        ratio, middle = min(base.ns) / best, statistics.median(a / b for a, b in zip(base.ns, subject.ns))
        size = "" if subject.bytes is None else f"{subject.bytes:7.1f}"
        print(f"{subject.name:<34} {best:9.1f} {median:9.1f} {ratio:9.2f} {middle:9.2f} {size:>7}", flush=True)
        file.write(json.dumps({
            "name": "python", "subject": subject.name, "peer": None if subject is base else peer, "n": n,
            "ns_per_op": round(best, 2), "bytes_per_op": subject.bytes and round(subject.bytes, 2),
            "ratio": None if subject is base else round(ratio, 3), "note": "processor time",
            "ns_median": round(median, 2), "rounds": rounds}, separators=(",", ":")) + "\n")
