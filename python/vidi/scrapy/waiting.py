"""The requests that a spider of a fleet holds and has not handed out yet, in the order of handing out.

They are in heaps, one per download slot if the order must be fair to slots (slots.py), otherwise in one.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from .slots import Turns

Item = TypeVar("Item")
Entry = tuple[tuple[int, ...], Item]  # a place in the order, which no other entry has


class Waiting(Generic[Item]):
    """Without `turns`, the lowest place goes first; with, the lowest of the slot whose turn it is."""

    def __init__(self, turns: Turns | None, slot_of: Callable[[Item], str]) -> None:
        self._turns = Turns(lambda slot: 0) if turns is None else turns
        self._slot_of = (lambda item: "") if turns is None else slot_of
        self._heaps: dict[str, list[Entry[Item]]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Item]:
        return (item for heap in self._heaps.values() for _, item in heap)

    def add(self, place: tuple[int, ...], item: Item) -> None:
        """Adds an item at a place where no other is."""
        slot = self._slot_of(item)
        if slot not in self._heaps:
            self._heaps[slot] = []
            self._turns.add(slot)
        heapq.heappush(self._heaps[slot], (place, item))
        self._count += 1

    def pop(self) -> Item:
        """Takes out the item that is next. There must be one."""
        slot = self._turns.least_busy()
        assert slot is not None
        _, item = heapq.heappop(self._heaps[slot])
        self._turns.served(slot)
        self._count -= 1
        self._remove_if_empty(slot)
        return item

    def last(self) -> list[Item]:
        """All items, the one that will be handed out last first: slots take turns, so it is one of the longest heap."""
        ranked = [
            (rank, place, item)
            for heap in self._heaps.values()
            for rank, (place, item) in enumerate(sorted(heap, key=lambda entry: entry[0]))
        ]
        ranked.sort(key=lambda each: each[:2], reverse=True)
        return [item for _, _, item in ranked]

    def keep(self, wanted: Callable[[Item], bool]) -> None:
        """Removes all items but those that are wanted."""
        for slot in list(self._heaps):
            heap = self._heaps[slot] = [entry for entry in self._heaps[slot] if wanted(entry[1])]
            heapq.heapify(heap)
            self._remove_if_empty(slot)
        self._count = sum(map(len, self._heaps.values()))

    def clear(self) -> None:
        self.keep(lambda item: False)

    def _remove_if_empty(self, slot: str) -> None:
        if not self._heaps[slot]:
            del self._heaps[slot]
            self._turns.remove(slot)
