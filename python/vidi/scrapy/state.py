"""The set of a crawl: opened, checked, and brought to where this crawl begins."""

from __future__ import annotations

import logging
import os
from itertools import islice
from typing import Any

import vidi

from .note import Note
from .settings import Settings

logger = logging.getLogger(__name__)

_IMPORT_BATCH = 10_000
_OWNER = "scrapy"


class State:
    """An open set with its note. The note of a set in memory is never written."""

    set: vidi.Set
    note: Note
    is_new: bool  # no crawl has used the set before, or a new epoch has begun

    def __init__(self, settings: Settings, fingerprint: str, *, staged: bool = False) -> None:
        """Opens or makes the set. `staged`: a key counts only after `commit`, which waits for the disk."""
        self.settings = settings
        self.path = settings.path
        form = form_of(settings, fingerprint)
        self.set = self._open(form, staged)
        try:
            note = self._read_note(fingerprint)
            self._check_form(form)
            self.is_new = note is None
            self.note = note or Note(fingerprint)
            self._revisit()
            self._check_kind()
            self._import_seen()
            self.note.finished = None
            self.commit()
        except BaseException:
            self.set.close()
            raise

    def _open(self, form: str, staged: bool) -> vidi.Set:
        settings = self.settings
        options: dict[str, Any] = {"kind": settings.kind, "capacity": settings.capacity, "canon": form}
        if settings.lost is not None and settings.capacity:
            options["lost"] = settings.lost
        elif settings.lost == 0 and not settings.kind:
            options["kind"] = "hashset"  # exact, and grows
        access: dict[str, Any] = {}
        if staged and self.path is not None:
            access.update(manual_commit=True, sync="always")
        try:
            return self._open_owned(**options, **access)
        except vidi.DiffersError:
            return self._open_owned(**access)  # the checks below name the setting that differs
        except BlockingIOError as error:
            raise BlockingIOError(f"another crawl is using {self.path}: {error}") from error
        except vidi.OptionError as error:
            raise ValueError(f"cannot make the set that {_asked(settings)} asks for: {error}") from error

    def _open_owned(self, **options: Any) -> vidi.Set:
        """A new set belongs to Scrapy, so that no other program writes to it. One without an owner stays without."""
        try:
            return vidi.Set(self.path, owner=_OWNER, **options)
        except vidi.OwnedError:
            return vidi.Set(self.path, **options)  # fails again if it belongs to another program

    def _read_note(self, fingerprint: str) -> Note | None:
        """The note of a set that a crawl has used before, otherwise None."""
        data = self.set.note if self.path is not None else b""
        if not data:
            if fingerprint == "scrapy" and len(self.set) > 0:
                raise ValueError(f"{self.path} holds URLs, not fingerprints of Scrapy; choose another folder")
            return None
        try:
            note = Note.from_bytes(data)
        except ValueError as error:
            raise ValueError(f"cannot use {self.path}: {error}; choose another folder") from error
        if note.fingerprint != fingerprint:
            raise ValueError(
                f"{self.path} was filled with VIDI_FINGERPRINT = {note.fingerprint!r}, but this crawl uses "
                f"{fingerprint!r}; go back to that, or choose another folder"
            )
        return note

    def _check_form(self, form: str) -> None:
        """Refuses a set with another canonical form, in which every URL may be new."""
        with vidi.Set(canon=form) as example:
            same = example.canon == self.set.canon
        if not same:
            raise ValueError(
                f"{self.path} compares URLs in the canonical form {self.set.canon!r}, but VIDI_CANON asks for "
                f"{form!r}; go back to that, or choose another folder"
            )

    def _check_kind(self) -> None:
        kind = self.settings.kind
        if kind and kind != self.set.kind:
            raise ValueError(
                f"{self.path} is a set of kind {self.set.kind!r}, but VIDI_KIND asks for {kind!r}; go back to that, or "
                "choose another folder"
            )

    def _revisit(self) -> None:
        """Begins a new epoch if the last crawl finished and the settings ask to visit all pages again.

        The note names the epoch that was finished, so a crash right after the rotation does not repeat it.
        """
        if not self.settings.revisit or self.note.finished != self.set.stats.epoch:
            return
        kind = self.settings.kind
        self.set.rotate(kind=kind if kind != self.set.kind else None)
        self.note.row = 0  # the new epoch has no keys
        self.is_new = True
        logger.info("VIDI_REVISIT: the last crawl finished, so this one visits all pages again")

    def _import_seen(self) -> None:
        """Takes over, once, the fingerprints that Scrapy's own filter left in JOBDIR.

        A crash meanwhile only means that the next crawl begins with the file again.
        """
        path = os.path.join(self.settings.jobdir, "requests.seen") if self.settings.jobdir else ""
        if self.path is None or self.note.imported or not os.path.exists(path):
            return
        if self.note.fingerprint != "scrapy":
            if self.is_new:
                logger.warning(
                    "%s holds fingerprints, which tell nothing about URLs, so pages that are known there will be "
                    "fetched again; VIDI_FINGERPRINT = 'scrapy' takes them over",
                    path,
                )
            return
        with open(path, encoding="utf-8", errors="replace") as lines:
            while batch := [line.rstrip() for line in islice(lines, _IMPORT_BATCH)]:
                self.set.add_many([fingerprint for fingerprint in batch if fingerprint])
                self.commit()
        self.note.imported = True
        logger.info("Took over the fingerprints in %s", path)

    def commit(self, mark: int | None = None) -> None:
        """Commits the note and all keys, or those before the mark."""
        if self.path is not None:
            self.set.commit_note(self.set.mark() if mark is None else mark, self.note.to_bytes())

    def close(self, reason: str) -> None:
        """Closes the set; after the reason "finished", VIDI_REVISIT may begin a new epoch."""
        try:
            if reason == "finished" and not self.note.rows:
                self.note.finished = self.set.stats.epoch
            self.commit()
        finally:
            self.set.close()

    def abandon(self) -> None:
        """Closes the set without committing anything."""
        self.set.close()


def form_of(settings: Settings, fingerprint: str) -> str:
    """The canonical form of a set for this sort of keys."""
    if fingerprint != "scrapy":
        return settings.canon or "w3lib"
    if settings.canon not in (None, "none"):
        raise ValueError(
            "VIDI_CANON says how URLs are compared, but this crawl compares fingerprints; leave it out, or set "
            "VIDI_FINGERPRINT = 'url'"
        )
    return "none"


def _asked(settings: Settings) -> str:
    """The settings that a new set is made from, for messages."""
    asked = {
        "VIDI_CANON": settings.canon,
        "VIDI_KIND": settings.kind,
        "VIDI_CAPACITY": settings.capacity or None,
        "VIDI_LOST": settings.lost,
    }
    return ", ".join(f"{name} = {value!r}" for name, value in asked.items() if value is not None) or "VIDI_PATH"
