"""Sets with a fault each. The checkers must notice every one of them (test_checkers.py)."""
import vidi

hidden = []  # what HoldsMemory does not give back


class Wrapper:
    """A set that passes everything on; the faults change one thing of it."""

    calls = 0

    def __init__(self, *arguments, **options):
        self.inner = vidi.Set(*arguments, **options)

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __contains__(self, link):
        return link in self.inner

    def __len__(self):
        return len(self.inner)

    def __iter__(self):
        return iter(self.inner)

    def add(self, link):
        return self.inner.add(link)

    def turn(self, every):
        """True at every so many calls, of all sets with this fault: one that is opened again goes on counting."""
        type(self).calls += 1
        return self.calls % every == 0


class AnswersTrueTwice(Wrapper):
    def add(self, link):
        return self.inner.add(link) or self.turn(300)

    def add_many(self, links):
        answers = self.inner.add_many(links)
        if answers and self.turn(4):
            answers[-1] = True
        return answers


class LosesAnItem(Wrapper):
    def add(self, link):
        return link not in self.inner if self.turn(300) else self.inner.add(link)

    def add_many(self, links):
        links = list(links)
        return self.inner.add_many(links[:-1]) + [link not in self.inner for link in links[-1:]]


class NeverAnswersTrueForOne(Wrapper):
    def add(self, link):
        return self.inner.add(link) and not self.turn(100)

    def add_many(self, links):
        return [answer and not self.turn(100) for answer in self.inner.add_many(links)]


class AsksBeforeItAdds(Wrapper):
    """Looks right in one thread, but two threads can both be told True. It waits for that only until it has happened."""

    happened = False

    def add(self, link):
        answer = link not in self.inner
        if answer and not self.happened:
            pause()
        if not self.inner.add(link) and answer:
            self.happened = True
        return answer


class CommitsEarly(Wrapper):
    def add_many(self, links):
        answers = self.inner.add_many(links)
        self.inner.commit()
        self.inner.sync()
        return answers


class CommitsBehindTheMark(Wrapper):
    def commit_to(self, mark):
        self.inner.commit()


class ForgetsToCommit(Wrapper):
    def commit_to(self, mark):
        pass


class AddsBeforeItYields(Wrapper):
    def new(self, iterable):
        return (link for link in iterable if self.inner.add(link))


class YieldsRepeats(Wrapper):
    def new(self, iterable):
        for link in iterable:
            if link not in self.inner or self.turn(5):
                yield link
                self.inner.add(link)


class HoldsMemory(Wrapper):
    def add(self, link):
        if self.turn(3):
            hidden.append(vidi.Set())
        return self.inner.add(link)


def pause():
    """Lets another thread run here: what a thread switch at the worst moment would do."""
    import time

    time.sleep(0.0001)
