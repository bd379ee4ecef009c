"""The scenario that every client runs, and the answers that each of them must get.

A step is (command, arguments, options, answer). Arguments that are lists are items. The command BF.COPY stands for
reading all chunks of SCANDUMP and loading each with LOADCHUNK into another key. Answers are written down alike for all
clients: booleans as 1 and 0, bytes as text, an error as {"error": text} without "ERR", INFO as a map without the size.
In expected answers, Says(words…) is an error that has these words.
"""


class Says:
    """An error whose text has these words."""

    def __init__(self, *words):
        self.words = words

    def fits(self, answer):
        return isinstance(answer, dict) and set(answer) == {"error"} and all(w in answer["error"] for w in self.words)

    def __repr__(self):
        return f"an error that says {self.words}"


BLOOM = [
    ("BF.RESERVE", ["b", 0.001, 1000], {}, "OK"),
    ("BF.RESERVE", ["b", 0.001, 1000], {}, Says("item exists")),
    ("BF.ADD", ["b", "one"], {}, 1),
    ("BF.ADD", ["b", "one"], {}, 0),
    ("BF.MADD", ["b", ["one", "two", "three"]], {}, [0, 1, 1]),
    ("BF.EXISTS", ["b", "one"], {}, 1),
    ("BF.EXISTS", ["b", "none"], {}, 0),
    ("BF.MEXISTS", ["b", ["one", "none", "two"]], {}, [1, 0, 1]),
    ("BF.CARD", ["b"], {}, 3),
    ("BF.CARD", ["missing"], {}, 0),
    ("BF.INFO", ["b"], {}, {"Capacity": 1000, "Number of filters": 1, "Number of items inserted": 3,
                            "Expansion rate": 2}),
    ("BF.INFO", ["missing"], {}, Says("not found")),
    ("BF.INSERT", ["i", ["x", "y", "x"]], {"CAPACITY": 500, "ERROR": 0.01, "EXPANSION": 4}, [1, 1, 0]),
    ("BF.INFO", ["i"], {}, {"Capacity": 500, "Number of filters": 1, "Number of items inserted": 2,
                            "Expansion rate": 4}),
    ("BF.INSERT", ["missing", ["x"]], {"NOCREATE": True}, Says("not found")),
    ("BF.RESERVE", ["n", 0.000001, 2], {"NONSCALING": True}, "OK"),  # "c" must not be there by chance
    ("BF.ADD", ["n", "a"], {}, 1),
    ("BF.ADD", ["n", "b"], {}, 1),
    ("BF.ADD", ["n", "c"], {}, Says("non scaling filter is full")),
    ("BF.EXISTS", ["n", "c"], {}, 0),
    ("BF.COPY", ["b", "copy"], {}, "OK"),
    ("BF.MEXISTS", ["copy", ["one", "two", "three", "none"]], {}, [1, 1, 1, 0]),
    ("BF.CARD", ["copy"], {}, 3),
    ("BF.RESERVE", ["bad", 2, 1000], {}, Says("error rate")),
    ("BF.ADD", ["text", "a"], {}, Says("wrong kind of value")),
    ("BF.EXISTS", ["text", "a"], {}, 0),
]

CUCKOO = [
    ("CF.RESERVE", ["c", 1000], {}, "OK"),
    ("CF.RESERVE", ["c", 1000], {}, Says("item exists")),
    ("CF.ADD", ["c", "one"], {}, 1),
    ("CF.ADD", ["c", "one"], {}, 1),
    ("CF.ADDNX", ["c", "one"], {}, 0),
    ("CF.ADDNX", ["c", "two"], {}, 1),
    ("CF.INSERT", ["c", ["three", "four"]], {"NOCREATE": True}, [1, 1]),
    ("CF.INSERTNX", ["c", ["three", "five"]], {}, [0, 1]),
    ("CF.INSERT", ["ci", ["x"]], {"CAPACITY": 2000}, [1]),
    ("CF.INSERT", ["missing", ["x"]], {"NOCREATE": True}, Says("not found")),
    ("CF.EXISTS", ["c", "one"], {}, 1),
    ("CF.EXISTS", ["c", "none"], {}, 0),
    ("CF.MEXISTS", ["c", ["one", "none"]], {}, [1, 0]),
    ("CF.COUNT", ["c", "one"], {}, 2),
    ("CF.COUNT", ["c", "none"], {}, 0),
    ("CF.DEL", ["c", "one"], {}, 1),
    ("CF.COUNT", ["c", "one"], {}, 1),
    ("CF.DEL", ["c", "none"], {}, 0),
    ("CF.DEL", ["missing", "one"], {}, Says("ot found")),
    ("CF.COPY", ["c", "ccopy"], {}, "OK"),
    ("CF.MEXISTS", ["ccopy", ["one", "two", "three", "four", "five", "none"]], {}, [1, 1, 1, 1, 1, 0]),
]

CUCKOO_INFO = {"Number of filters": 1, "Number of items inserted": 5, "Number of items deleted": 1, "Bucket size": 2,
               "Expansion rate": 1, "Max iterations": 20}

PLAIN = [
    ("VIDI.RESERVE", ["v"], {"CAPACITY": 1000, "ERROR": 0.001}, "OK"),
    ("VIDI.ADD", ["v", "http://example.org/"], {}, 1),
    ("VIDI.ADD", ["v", "HTTP://EXAMPLE.org:80/"], {}, 0),
    ("VIDI.MADD", ["v", ["http://example.org/", "http://example.org/a", "http://example.org/b"]], {}, [0, 1, 1]),
    ("VIDI.MHAS", ["v", ["http://example.org/b", "http://example.org/c"]], {}, [0, 1]),
    ("VIDI.ADD", ["text", "http://example.org/"], {}, Says("wrong kind of value")),
]

STEPS = [*BLOOM, *CUCKOO, *PLAIN]


def matches(answer, wanted):
    """True if an answer is the expected one."""
    return wanted.fits(answer) if isinstance(wanted, Says) else answer == wanted


def simplify(answers):
    """Answers without what is not comparable: sizes and numbers of buckets are each implementation's own."""
    def without(answer):
        if isinstance(answer, dict):
            return {k: v for k, v in answer.items() if k not in ("Size", "Number of buckets")}
        return answer
    return [without(a) for a in answers]
