"""What a crawl of a site must have done, judged from the site's log and the spiders' journal.

Every page is linked once, so a whole crawl asks for each page once, and twice for a flaky page, whose first answer is
503. After kills the promise is:

    nothing lost   Every page was answered, and its item came through the pipeline.
    at most twice  A page may be asked for again only if it was in flight when a life was killed. It is in flight from
                   the moment it is asked for until a transaction has been committed whose first row was deleted after
                   the request had left the engine. Of a commit, the journal sees the beginning; whatever the same life
                   notes next proves its end.

So within a life no page is asked for twice, and in all lives but the last that asked for it, it must have been in
flight at the life's end, which must have been a kill.
"""
import collections

from .site import Event

ENDS = {"plain": "parsed", "form": "parsed", "flaky": "parsed", "redirect": "passed"}
ANSWERS = {"plain": "200", "form": "200", "flaky": "200", "redirect": "302"}

# What is wrong with a crawl, how many requests were repeated, and how many pages were finished before a kill.
Verdict = collections.namedtuple("Verdict", "lost without_item again wrong repeated finished")


def read_journal(path):
    with open(path, encoding="utf-8") as lines:
        return [Event(*line.rstrip("\n").split(" ", 2)) for line in lines if line.endswith("\n")]


def finished(journal, kinds):
    """Of each life, the pages that were no longer in flight when it ended."""
    result = collections.defaultdict(set)
    left, deleting, sure = collections.defaultdict(set), {}, {}
    for event in journal:
        if event.what == "kill":
            continue  # it may have come before the commit
        result[event.life] |= sure.pop(event.life, set())
        if event.what == ENDS.get(kinds.get(event.name)):
            left[event.life].add(event.name)
        elif event.what == "delete":
            deleting[event.life] = set(left[event.life])
        elif event.what == "commit":
            sure[event.life] = deleting.pop(event.life, set())
    return result


def asks_by_life(log):
    """Of each page, the lives that asked for it, in order. An ask that was answered with 503 is not counted."""
    asks = collections.defaultdict(list)
    for event in log:
        if event.what == "ask":
            asks[event.name].append(event.life)
        elif event.what == "503":
            asks[event.name].remove(event.life)
    return asks


def asked_again(log, journal, kinds, killed):
    """What breaks the promise that only pages in flight are asked for again, a sentence each."""
    done, sentences = finished(journal, kinds), []
    for name, lives in asks_by_life(log).items():
        for life, times in collections.Counter(lives).items():
            if times > 1:
                sentences.append(f"{name} was asked for {times} times in life {life}")
        for life in dict.fromkeys(lives[:-1]):
            if life != lives[-1] and life not in killed:
                sentences.append(f"{name} was asked for again after life {life}, which was not killed")
            elif life != lives[-1] and name in done[life]:
                sentences.append(f"{name} was asked for again although life {life} had finished it")
    return sentences


def judge(tree, log, journal, killed):
    """The verdict on a crawl that has ended by itself. Lives are named; killed are those that were killed."""
    kinds = tree.names()
    answered = {event.name for event in log if event.what == ANSWERS.get(kinds.get(event.name))}
    items = {event.name for event in journal if event.what == "item"}
    return Verdict(
        lost=sorted(set(kinds) - answered),
        without_item=sorted(name for name, kind in kinds.items() if kind != "redirect" and name not in items),
        again=asked_again(log, journal, kinds, killed),
        wrong=[f"{event.what} {event.name}" for event in journal if event.what in ("wrong", "failed", "error")] +
              [f"unknown page {event.name}" for event in log if event.what == "ask" and event.name not in kinds],
        repeated=sum(max(len(lives) - 1, 0) for lives in asks_by_life(log).values()),
        finished=sum(len(pages) for life, pages in finished(journal, kinds).items() if life in killed))


def complaints(verdict):
    """The verdict as sentences; an empty list is a good crawl."""
    sentences = list(verdict.again) + list(verdict.wrong)
    if verdict.lost:
        sentences.append(f"{len(verdict.lost)} pages were lost, among them {verdict.lost[:5]}")
    if verdict.without_item:
        sentences.append(f"{len(verdict.without_item)} pages have no item, among them {verdict.without_item[:5]}")
    return sentences
