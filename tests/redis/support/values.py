"""Values of every sort, for tests that move them: through RDB, AOF, replicas, DUMP and COPY.

`fill` makes them. `look` asks everything that a user can ask about them; two servers, or one before and after, are alike
if it gives the same.
"""
from .resp import Error, Map

KINDS = ["fingerprint", "classic", "blocked", "scalable", "counting", "multilayer", "eigen", "spatial", "list", "sorted",
         "hashset"]
PARAMS = {"spatial": ["PARAM", "inner", "classic"]}
HOUR = 3600 * 1000  # milliseconds
ITEMS = 300  # per value


def url(number, of="site"):
    return f"http://{of}.example/{number % 7}/page{number}?q={number}"


def urls(count, of="site", start=0):
    return [url(n, of) for n in range(start, start + count)]


def fill(client, items=ITEMS):
    """Makes keys of every role and kind, with a previous epoch, claims and removals where they can have them."""
    for kind in KINDS:
        key = "kind:" + kind
        client("VIDI.RESERVE", key, "KIND", kind, "CAPACITY", 1000, "ERROR", 0.001, *PARAMS.get(kind, []))
        client("VIDI.MADD", key, *urls(items))
    client("VIDI.RESERVE", "rotated", "CAPACITY", 1000)
    client("VIDI.MADD", "rotated", *urls(items, "old"))
    client("VIDI.ROTATE", "rotated")
    client("VIDI.MADD", "rotated", *urls(items, "new"))
    client("VIDI.RESERVE", "claimed", "CAPACITY", 1000)
    client("VIDI.MADD", "claimed", *urls(items))
    claim(client, "claimed", "worker1", 24 * HOUR, urls(20, "claimed"))
    given_up = claim(client, "claimed", "worker2", 24 * HOUR, urls(10, "also"))
    client("VIDI.RELEASE", "claimed", "worker2", *given_up[:5])
    client("VIDI.RESERVE", "late", "CAPACITY", 1000)
    claim(client, "late", "worker1", 24 * HOUR, urls(10, "claimed"))
    client("VIDI.ROTATE", "late")
    claim(client, "late", "worker1", 24 * HOUR, urls(10, "also"))
    fill_bloom(client, items)


def fill_bloom(client, items=ITEMS):
    client("BF.RESERVE", "bf", 0.001, 50)
    client("BF.MADD", "bf", *range(items))
    client("BF.RESERVE", "bf:fixed", 0.01, 1000, "NONSCALING")
    client("BF.MADD", "bf:fixed", *range(items))
    client("CF.RESERVE", "cf", 1000, "BUCKETSIZE", 4, "EXPANSION", 2)
    for _ in range(2):
        client("CF.INSERT", "cf", "ITEMS", *range(items))
    for n in range(0, items, 3):
        client("CF.DEL", "cf", n)


def claim(client, key, owner, lease, list_of_urls):
    """Claims URLs, with their own text as payload; gives the tokens."""
    if not list_of_urls:
        return []
    words = [w for u in list_of_urls for w in (u, "payload of " + u)]
    replies = client("VIDI.CLAIM", key, owner, lease, *words)
    return [reply[1] for reply in replies]


def pairs(reply):
    """A map, whichever version of the protocol it came with; its names as text."""
    entries = reply if isinstance(reply, Map) else zip(reply[::2], reply[1::2])
    return {k.decode() if isinstance(k, bytes) else str(k): v for k, v in entries}


def look(client, items=ITEMS):
    """Everything that can be asked about the keys of `fill`, as a dict."""
    seen = {}
    for key in sorted(client("KEYS", "*")):
        name = key.decode()
        if name.startswith("bf"):
            seen[name] = [client("BF.MEXISTS", key, *range(2 * items)), client("BF.CARD", key),
                          without_size(client("BF.INFO", key))]
        elif name.startswith("cf"):
            seen[name] = [client("CF.MEXISTS", key, *range(2 * items)),
                          [client("CF.COUNT", key, n) for n in range(0, items, 7)],
                          without_size(client("CF.INFO", key))]
        else:
            seen[name] = [client("VIDI.MHAS", key, *urls(2 * items)), client("VIDI.MHAS", key, *urls(items, "new"))]
        if name in ("claimed", "late"):
            seen["claims of " + name] = claims_of(client, key)
    return seen


def claims_of(client, key):
    """How many claims live, and all of them without the time that they have left."""
    counts, listed, cursor = None, [], b"0"
    while True:
        reply = pairs(client("VIDI.CLAIMS", key, "CURSOR", cursor))
        counts = counts or (reply["live"], reply["expired"])
        listed += [entry[:-1] for entry in reply["claims"]]
        cursor = reply["cursor"]
        if cursor == b"0":
            return [counts, listed]


def without_size(info):
    return {k: v for k, v in pairs(info).items() if k not in ("Size", "Number of buckets")}


def differences(one, other):
    """What is not alike in two looks, in words; empty if nothing."""
    return [f"{name}: {shorten(one.get(name))} / {shorten(other.get(name))}"
            for name in sorted({*one, *other}) if one.get(name) != other.get(name)]


def shorten(value):
    text = str(value)
    return text if len(text) < 120 else text[:60] + "..." + text[-60:]


def no_errors(replies):
    """Fails at the first error among the replies of a pipeline."""
    for reply in replies:
        if isinstance(reply, Error):
            raise AssertionError(reply)
    return replies
