"""Derives the figures of a link graph again, from its file and from nothing else of vidi.

usage: graph_again.py make               prints a small graph, a page and one of its links on each line
       graph_again.py check GRAPH CSV    compares what `vidi lab run graph-properties graph-order graph-errors` prints

Seeds are the pages that no other page links to, and the first page of each circle that nothing else leads to. A page is
missing if it is lost, or one of its dominators: the pages that every way from the seeds to it leads through. Whether
one page dominates another is found out by leaving it out of the graph. The page that is met after i others is lost with
probability E f^k, f being the share of bits that are set by then.
"""
import csv
import heapq
import math
import random
import sys
from collections import Counter, deque
from urllib.parse import urljoin, urlsplit

PAGES = 120


def make() -> None:
    draw = random.Random(4)
    pages = [f"http://{draw.choice('aab')}.example/{i}" for i in range(PAGES)]
    for i, page in enumerate(pages):
        for _ in range(draw.choice((0, 0, 1, 1, 2, 3))):
            other = draw.choice(pages[max(0, i - 3):i + 20] if draw.random() < 0.8 else pages)
            near = urlsplit(other).netloc == urlsplit(page).netloc
            print(page, urlsplit(other).path if near and draw.random() < 0.5 else other, sep='\t')
    for page, other in ((1, 2), (2, 3), (3, 1), (3, 4), (5, 5)):
        print(f'http://circle.example/{page}', f'/{other}', sep='\t')
    print('http://alone.example/')


class Graph:
    def __init__(self, lines: list[str]):
        numbers: dict[str, int] = {}
        self.links: list[list[int]] = []
        for line in lines:
            page, _, link = line.partition('\t')
            ends = [page, urljoin(page, link)] if link else [page]
            for end in ends:
                if end not in numbers:
                    numbers[end] = len(numbers)
                    self.links.append([])
            if link:
                self.links[numbers[page]].append(numbers[ends[1]])
        self.hosts = [urlsplit(url).netloc for url in numbers]
        self.pages = range(len(numbers))
        linked = {to for page in self.pages for to in self.links[page] if to != page}
        self.seeds = [page for page in self.pages if page not in linked]
        reached = self.reach(None)
        for page in self.pages:
            if page not in reached:
                self.seeds.append(page)
                reached = self.reach(None)
        # dominators[p]: the pages without which p is out of reach, p itself among them.
        self.dominators: list[list[int]] = [[] for _ in self.pages]
        for without in self.pages:
            still = self.reach(without)
            for page in self.pages:
                if page not in still:
                    self.dominators[page].append(without)

    def reach(self, without: int | None) -> set[int]:
        reached: set[int] = set()
        waiting = list(self.seeds)
        while waiting:
            page = waiting.pop()
            if page not in reached and page != without:
                reached.add(page)
                waiting += self.links[page]
        return reached

    def crawl(self, frontier: 'Frontier', at_once: bool) -> dict[int, int]:
        """The pages in the order in which they are met, with their depths."""
        depths: dict[int, int] = {}

        def meet(page: int, depth: int) -> None:
            if page in depths:
                frontier.again(page)
            else:
                depths[page] = depth
                frontier.push(page)

        seeds = iter(self.seeds)
        if at_once:
            for seed in seeds:
                meet(seed, 0)
        while True:
            page = frontier.pop()
            if page is None:
                page = next(seeds, None)
                if page is None:
                    return depths
                meet(page, 0)
                continue
            for link in self.links[page]:
                meet(link, depths[page] + 1)

    def missing_per_lost(self, order: list[int], bits: float) -> float:
        m = round(bits * len(self.pages))
        fetched = [0.0] * len(self.pages)
        for before, page in enumerate(order):
            fetched[page] = 1 - loss(3, before, m)
        lost = missing = 0.0
        for page in self.pages:
            reached = math.prod(fetched[other] for other in self.dominators[page] if other != page)
            lost += reached * (1 - fetched[page])
            missing += 1 - reached * fetched[page]
        return missing / lost


def loss(k: int, before: int, m: int) -> float:
    """E f^k, up to the second moment of the share of zero bits."""
    zero, both = (1 - 1 / m)**(k * before), (1 - 2 / m)**(k * before)
    variance = zero / m + (1 - 1 / m) * both - zero * zero
    return (1 - zero)**k + k * (k - 1) / 2 * (1 - zero)**(k - 2) * variance


class Frontier:
    """Breadth first."""

    def __init__(self, hosts: list[str]):
        self.hosts = hosts
        self.waiting: deque = deque()

    def push(self, page: int) -> None:
        self.waiting.append(page)

    def again(self, page: int) -> None:
        pass

    def pop(self) -> int | None:
        return self.waiting.popleft() if self.waiting else None


class PerHost(Frontier):
    """`waiting` are the hosts with pages, in turn."""

    def __init__(self, hosts: list[str]):
        super().__init__(hosts)
        self.of: dict[str, deque] = {}

    def push(self, page: int) -> None:
        own = self.of.setdefault(self.hosts[page], deque())
        if not own:
            self.waiting.append(own)
        own.append(page)

    def pop(self) -> int | None:
        own = super().pop()
        if own is None:
            return None
        page = own.popleft()
        if own:
            self.waiting.append(own)
        return page


class BestFirst(Frontier):
    def __init__(self, hosts: list[str]):
        super().__init__(hosts)
        self.heap: list[tuple[int, int, int]] = []
        self.found: Counter = Counter()
        self.gone: set[int] = set()

    def push(self, page: int) -> None:
        self.found[page] += 1
        heapq.heappush(self.heap, (-self.found[page], sum(self.found.values()), page))

    def again(self, page: int) -> None:
        if page not in self.gone:
            self.push(page)

    def pop(self) -> int | None:
        while self.heap:
            page = heapq.heappop(self.heap)[2]
            if page not in self.gone:
                self.gone.add(page)
                return page
        return None


def facts(graph: Graph) -> dict[str, float]:
    count = len(graph.pages)
    links = [(page, to) for page in graph.pages for to in graph.links[page]]
    to = Counter(link[1] for link in links)
    most, tail = sorted((to[page] for page in graph.pages), reverse=True), -(-count // 100)
    depths = graph.crawl(Frontier(graph.hosts), False).values()
    return {
        'pages in reach': count,
        'links per page': len(links) / count,
        'links within the host, %': 100 * sum(graph.hosts[a] == graph.hosts[b] for a, b in links) / len(links),
        'pages with one link to them, %': 100 * sum(to[page] == 1 for page in graph.pages) / count,
        'pages without links, %': 100 * sum(not own for own in graph.links) / count,
        'largest host, % of the pages': 100 * max(Counter(graph.hosts).values()) / count,
        'exponent of the links to a page': 1 + tail / sum(math.log(one / most[tail]) for one in most[:tail]),
        'mean depth': sum(depths) / count,
        'greatest depth': max(depths),
    }


def check(graph: Graph, rows: list[dict[str, str]]) -> int:
    given = {(row['experiment'], row['row'], row['column']): row for row in rows}
    wanted = {('graph-properties', 'from files', fact): (value, 'measured') for fact, value in facts(graph).items()}
    orders = {'breadth first': Frontier, 'per host': PerHost, 'best first': BestFirst}
    for column, at_once in (('from files', False), ('from files, seeds first', True)):
        for name, frontier in orders.items():
            order = list(graph.crawl(frontier(graph.hosts), at_once))
            wanted['graph-order', name, column] = (graph.missing_per_lost(order, 6), 'theory')
            for bits in (4, 6, 8, 12) if frontier is Frontier else ():
                wanted['graph-errors', f'{bits} bits', column] = (graph.missing_per_lost(order, bits), 'theory')
    wrong = 0
    for cell, (value, field) in wanted.items():
        if not math.isclose(value, float(given[cell][field]), rel_tol=1e-5):
            print(f'{" ".join(cell)}: {given[cell][field]} of the lab, {value:.9g} derived again')
            wrong += 1
    return 1 if wrong else 0


def main() -> int:
    if sys.argv[1] == 'make':
        make()
        return 0
    with open(sys.argv[2], encoding='utf-8') as file:
        graph = Graph(file.read().splitlines())
    with open(sys.argv[3], newline='', encoding='utf-8') as file:
        return check(graph, list(csv.DictReader(file)))


if __name__ == '__main__':
    sys.exit(main())
