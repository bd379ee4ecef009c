"""
An independent model of a set: Python's own dict of counts, a list of operations that wait to be committed, and the
previous epoch. Random operations go to a set and to the model, and every answer is compared. The URLs are canonical
already, so that no canonical form has to be modelled; the kinds are exact, or lose nothing that matters.
"""
import random
from collections import Counter

import vidi
from support.urls import url, urls


class Model:
    """What a set must hold. `multi`: it stores every add. `manual`: adds count after a commit only."""

    def __init__(self, multi=False, manual=False):
        self.multi, self.manual = multi, manual
        self.committed = Counter()
        self.waiting = []  # operations: (+1 or -1, URL), in their order
        self.done = 0  # operations that were committed before those
        self.previous = None
        self.epoch = 0
        self.note = b""

    def view(self):
        """What the set answers from: committed and waiting."""
        return self.applied(len(self.waiting))

    def applied(self, count):
        result = Counter(self.committed)
        for change, link in self.waiting[:count]:
            result[link] += change
        return +result

    def add(self, link):
        is_new = link not in self.view()
        if is_new or self.multi:
            self.operate(+1, link)
        return is_new

    def discard(self, link):
        if link not in self.view():
            return False
        self.operate(-1, link)
        return True

    def operate(self, change, link):
        self.waiting.append((change, link))
        if not self.manual:
            self.commit_to(self.mark())

    def mark(self):
        return self.done + len(self.waiting)

    def commit_to(self, mark):
        count = max(0, mark - self.done)
        self.committed = self.applied(count)
        self.done += len(self.waiting[:count])
        del self.waiting[:count]

    def rotate(self, keep):
        self.previous = Counter(self.committed) if keep else None
        self.committed, self.waiting = Counter(), []
        self.epoch += 1

    def close(self):
        self.waiting = []


class Runner:
    """Sends random operations to a set and to the model. make(path, **options) makes or opens the set."""

    def __init__(self, make, seed, path=None, kind="hashset", multi=False, manual=False):
        self.rng = random.Random(seed)
        self.make, self.path = make, path
        self.options = {"kind": kind, "manual_commit": manual, "sync": "no"} if path else {"kind": kind}
        if multi:
            self.options["params"] = "multiset=on"
        self.keeps_urls = kind != "fingerprint"
        self.seen, self.model = make(path, **self.options), Model(multi, manual)
        self.marks = []  # ours and the model's
        self.history = []
        self.steps = [(getattr(self, name), name) for name in sorted(dir(self)) if name.startswith("step_")]
        self.weights = [self.WEIGHTS.get(name, 3) for _, name in self.steps]

    WEIGHTS = {"step_add": 30, "step_add_many": 12, "step_discard": 12, "step_lookup": 10, "step_rotate": 2,
               "step_snapshot": 1, "step_reopen": 2, "step_copies": 1, "step_merge": 4, "step_mark": 8}

    def run(self, steps):
        try:
            for _ in range(steps):
                step, name = self.rng.choices(self.steps, self.weights)[0]
                self.history.append(name)
                step()
            self.compare()
        except AssertionError as failure:
            raise AssertionError(f"{failure}\nlast steps: {self.history[-12:]}, {len(self.history)} in all") from None
        finally:
            self.seen.close()

    def link(self):
        return url(int(self.rng.paretovariate(0.4)) % 300)

    def links(self):
        return [self.link() for _ in range(self.rng.choice((0, 1, 3, 20, 100)))]

    def compare(self):
        """Everything that can be asked."""
        every, view = urls(300), self.model.view()
        assert self.seen.has_many(every) == [link in view for link in every], "has_many"
        assert self.seen.stats.epoch == self.model.epoch
        if not self.model.waiting:
            assert len(self.seen) == len(view), "len"
            if self.keeps_urls:
                found = list(self.seen)
                assert len(found) == len(set(found)) and set(found) == set(view), "iteration"
        if self.path:
            assert self.seen.note == self.model.note, "note"
            assert self.seen.stats.staged == len(self.model.waiting), "staged"

    def step_add(self):
        link = self.link()
        assert self.seen.add(link) == self.model.add(link), f"add {link}"

    def step_add_many(self):
        links = self.links()
        assert self.seen.add_many(links) == [self.model.add(link) for link in links], "add_many"

    def step_lookup(self):
        link = self.link()
        assert (link in self.seen) == (link in self.model.view()), f"in {link}"

    def step_has_many(self):
        links, view = self.links(), self.model.view()
        assert self.seen.has_many(links) == [link in view for link in links], "has_many"

    def step_count(self):
        link = self.link()
        assert self.seen.count(link) == self.model.view()[link], f"count {link}"

    def step_discard(self):
        link = self.link()
        assert self.seen.discard(link) == self.model.discard(link), f"discard {link}"

    def step_remove(self):
        link = self.link()
        try:
            self.seen.remove(link)
            was_there = True
        except KeyError:
            was_there = False
        assert was_there == self.model.discard(link), f"remove {link}"

    def step_new(self):
        """Some items of new(), and the last one dropped or not."""
        links = self.links()
        stop = self.rng.randrange(len(links) + 1)
        walk = self.seen.new(links)
        taken = [item for item, _ in zip(walk, range(stop))] if stop else []
        # zip asks for one more item than it gives, if there is one
        walk.close()
        expected = self.expected_new(links, stop)
        assert taken == expected, "new"

    def expected_new(self, links, stop):
        taken, pending = [], None
        if not stop:
            return taken
        for link in links:
            if pending is not None:  # the next one is asked for
                self.model.add(pending)
                pending = None
            if link in self.model.view():
                if self.model.multi:
                    self.model.add(link)
                continue
            if self.model.manual:
                self.model.add(link)
            else:
                pending = link
            if len(taken) == stop:
                return taken
            taken.append(link)
        if pending is not None:
            self.model.add(pending)
        return taken

    def step_mark(self):
        if self.path:
            self.marks.append((self.seen.mark(), self.model.mark()))

    def step_commit(self):
        self.seen.commit()
        self.model.commit_to(self.model.mark())

    def step_commit_to(self):
        if self.marks:
            ours, models = self.rng.choice(self.marks)
            self.seen.commit_to(ours)
            self.model.commit_to(models)

    def step_commit_note(self):
        if self.path:
            ours, models = self.rng.choice(self.marks) if self.marks else (self.seen.mark(), self.model.mark())
            note = self.rng.randbytes(self.rng.randrange(20))
            self.seen.commit_note(ours, note)
            self.model.commit_to(models)
            self.model.note = note

    def step_sync(self):
        if self.path:
            self.seen.sync()

    def step_snapshot(self):
        if self.path:
            self.seen.snapshot()

    def step_rotate(self):
        keep = self.rng.random() < 0.7
        self.seen.rotate(keep_previous=keep)
        self.model.rotate(keep)
        self.marks = []

    def step_previous(self):
        link = self.link()
        if self.model.previous is not None:
            assert self.seen.seen_previously(link) == (link in self.model.previous), "seen_previously"

    def step_reopen(self):
        self.compare()
        if self.path:
            self.seen.close()
            self.model.close()
            self.seen = self.make(self.path, **self.options)
            self.marks = []
            self.compare()

    def step_copies(self):
        """A copy and a stream hold what is committed."""
        for twin in (self.seen.copy(), vidi.Set.from_bytes(self.seen.to_bytes())):
            every = urls(300)
            assert twin.has_many(every) == [link in self.model.committed for link in every], "copy"

    def step_merge(self):
        """In a set that is committed, so that the order of staged adds is out of the question."""
        if self.model.manual or self.model.multi:
            return
        other = vidi.Set.like(getattr(self.seen, "inner", self.seen))  # a wrapped set with a fault, or a real one
        links = [*self.links(), self.link()]
        other.add_many(links)
        self.seen.merge(other)
        for link in links:
            self.model.add(link)

    def step_compare(self):
        self.compare()
