"""The canonical form w3lib is that of w3lib's canonicalize_url; docs/CANON.md says where the two differ, and why."""
import os
import pathlib
import random
import re
import subprocess

import pytest

import vidi

w3lib = pytest.importorskip("w3lib.url", reason="w3lib is not installed")

SOURCE = pathlib.Path(os.environ.get("VIDI_SOURCE", pathlib.Path(__file__).parents[2]))
CORPUS = pathlib.Path(os.environ.get("VIDI_TESTDATA", "/nowhere")) / "corpus"
IS_LONG = os.environ.get("VIDI_TEST_LONG") == "1"
EVERY, LARGEST = (1, 1 << 40) if IS_LONG else (100, 2_000_000)  # lines, and bytes of a file
PIECES = ["/", "a", "B", ".", ";", "?", "&", "=", "+", "%20", "%2B", "%", "%25", "%41", "%7e", "%2f", "%3F", "%c3%a9",
          "é", "~", "!", "'", "[", "|", "^", "\\", "%5c", "%00", "a=1", "&b", "&a=2", "z=%ff", ":", "@", "*", "\"", "{",
          "%3B", "%26", "%3D", "12345678", "%23"]


PARTS = re.compile(r"(\w+://[^/]*)(/(?:.*/)?[^/;]*)([^/]*)")  # of a URL without query: "a/b" and ";c" of "a/b;c"
PERCENT = re.compile(r"%25|%(?![0-9A-Fa-f]{2})")


def expected(url):
    """What w3lib makes of a URL, except for what docs/CANON.md says.

    A '%' that is escaped once more stays "%25" in its path, and a ';' that is escaped is no '&' in its query.
    """
    head, sign, query = url.partition("?")
    origin, path, parameters = PARTS.fullmatch(head).groups()
    return w3lib.canonicalize_url(origin + PERCENT.sub("%2525", path) + parameters + sign + query.replace(";", "%3B"))


def check(text):
    url = vidi.canon(text)
    if not url.startswith(("http:", "https:", "ftp:")):
        assert vidi.canon(text, "w3lib") == url
        return False
    form = vidi.canon(text, "w3lib")
    path = url.partition("?")[0]
    if path.upper().endswith(("/.;", "/..;", "%3B", "%3B;")):  # the form of these would not be its own form
        return False
    assert form == expected(url), text
    assert vidi.canon(form, "w3lib") == form == vidi.canon(form), text
    return True


@pytest.mark.parametrize(("text", "form"), [
    ("http://www.example.com/do?c=3&b=5&b=2&a=50", "http://www.example.com/do?a=50&b=2&b=5&c=3"),
    ("http://www.example.com/résumé", "http://www.example.com/r%C3%A9sum%C3%A9"),
    ("http://example.org/?a", "http://example.org/?a="),
    ("http://example.org/%7Euser", "http://example.org/~user"),
    ("http://example.org/?q=a%20b", "http://example.org/?q=a+b"),
    ("http://example.org/?q=a+b", "http://example.org/?q=a+b"),
    ("http://example.org/?#top", "http://example.org/"),
])
def test_both_give_the_form_of_these(text, form):
    assert vidi.canon(text, "w3lib") == form == w3lib.canonicalize_url(text)


def test_random_urls_have_the_same_form():
    rng = random.Random(27)
    starts = ("http://h/", "https://h/", "ftp://h//", "http://u@h/?", "x://h/")
    texts = [rng.choice(starts) + "".join(rng.choices(PIECES, k=rng.randrange(14))) for _ in range(10_000)]
    assert sum(map(check, texts)) > 7_000


@pytest.mark.skipif(not CORPUS.is_dir(), reason="VIDI_TESTDATA is not set")
def test_real_urls_have_the_same_form():
    """Some of the smaller files, or all in the long run. Requests that Scrapy takes for one are one here, too."""
    ours, compared = {}, 0
    for file in (path for path in sorted(CORPUS.glob("*.txt.zst")) if path.stat().st_size < LARGEST):
        lines = subprocess.run(["zstdcat", file], capture_output=True, check=True).stdout.split(b"\n")
        for line in lines[::EVERY]:
            text = line.decode(errors="replace")
            try:
                is_compared = check(text)
            except vidi.InvalidURL:
                continue
            if is_compared:
                request = w3lib.safe_url_string(text)
                form = vidi.canon(request, "w3lib")
                assert ours.setdefault(w3lib.canonicalize_url(request), form) == form, text
                compared += 1
    assert compared > 5_000


def test_what_differs_is_what_the_documentation_says():
    for ours, theirs, text in [
        ("http://h/", "http://h:80/", "http://h:80/"),
        ("http://h/b", "http://h/a/../b", "http://h/a/../b"),
        ("http://127.0.0.1/", "http://0x7f.1/", "http://0x7f.1/"),
        ("http://h/%2541", "http://h/%41", "http://h/%2541"),
        ("http://h/%252F", "http://h/%2F", "http://h/%252F"),
    ]:
        assert (vidi.canon(text, "w3lib"), w3lib.canonicalize_url(text)) == (ours, theirs)


def page_rows():
    """The table of docs/PYTHON.md: two URLs, and whether Scrapy and our forms take them for one page."""
    text = (SOURCE / "docs" / "PYTHON.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| `(\S+)` and `(\S+)` \| (yes|no)[^|]* \| (yes|no) \| (yes|no) \| (yes|no) \|$", re.MULTILINE)
    return row.findall(text)


@pytest.mark.parametrize("row", page_rows(), ids=lambda row: f"{row[0]} {row[1]}")
def test_the_table_of_examples_is_true(row):
    pair = ["http://a.org" + path for path in row[:2]]
    forms = [lambda url: w3lib.canonicalize_url(w3lib.safe_url_string(url)),
             *(lambda url, form=form: vidi.canon(url, form) for form in ("w3lib", "whatwg", "crawl"))]
    assert [len(set(map(form, pair))) == 1 for form in forms] == [word == "yes" for word in row[2:]]


def test_there_is_such_a_table():
    assert len(page_rows()) >= 10
