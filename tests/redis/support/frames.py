"""Payloads of the module, taken apart and put together again with correct checksums.

Two containers have checksums: what DUMP gives (a CRC-64 of the server, see its rdb.c), and vidi's streams and pieces
(docs/FORMAT.md). seal.c computes both.
"""
import ctypes
import struct

from .server import built

MAGIC = b"vidi\r\n\x1a\n"
HEAD, FOOT = 64, 32
MODULE_TYPE = 7  # RDB_TYPE_MODULE_2
OP_END, OP_SIGNED, OP_UNSIGNED, OP_FLOAT, OP_DOUBLE, OP_STRING = range(6)

CLAIMS_FACTOR = 0x9e3779b97f4a7c15

library = None


def seal():
    """seal.c, loaded when it is first used."""
    global library
    if not library:
        library = ctypes.CDLL(built("tests", "libredis_seal.so"))
        library.seal_crc64.restype = ctypes.c_uint64
        library.seal_crc64.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        library.seal_size.restype = ctypes.c_size_t
        library.seal_size.argtypes = [ctypes.c_size_t]
        library.seal_frame.restype = None
        library.seal_frame.argtypes = [ctypes.c_char_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint64,
                                       ctypes.c_char_p, ctypes.c_size_t]
        library.seal_piece_generation.restype = ctypes.c_uint64
        library.seal_piece_generation.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
    return library


def frame(kind, generation, payload):
    """A stream or piece with this payload. kind: (version, True if it is a piece)."""
    payload = bytes(payload)
    out = ctypes.create_string_buffer(seal().seal_size(len(payload)))
    seal().seal_frame(out, kind[0] & 0xffffffff, kind[1], generation, payload, len(payload))
    return out.raw


def piece_generation(payload):
    """The generation that the frame of a piece with this payload must have."""
    return seal().seal_piece_generation(*struct.unpack_from("<QQ", bytes(payload[:16]).ljust(16, b"\0")))


def unframe(data):
    """(kind, generation, payload) of a stream or piece that is all of the data, as frame() takes them."""
    if not data.startswith(MAGIC) or len(data) < HEAD + 8 + FOOT:
        raise ValueError("no frame")
    size, = struct.unpack_from("<Q", data, len(data) - FOOT)
    if seal().seal_size(size) != len(data):
        raise ValueError("not one whole frame")
    version, _, generation, length = struct.unpack_from("<IIQQ", data, 8)
    return (version, length != 0), generation, data[HEAD:HEAD + size]


def split(data):
    """The frames of a file: one stream, or pieces one behind the other, each of which tells its length."""
    found = []
    while data:
        length = struct.unpack_from("<Q", data, 24)[0] or len(data)
        found.append(data[:length])
        data = data[length:]
    return found


class Reader:
    """Numbers and strings as the server's rdb.c writes them."""

    def __init__(self, data, at=0):
        self.data = data
        self.at = at

    def take(self, size):
        if size > len(self.data) - self.at:
            raise ValueError("the payload ends too early")
        self.at += size
        return self.data[self.at - size:self.at]

    def length(self):
        """(number, True if it is an encoding of a string)."""
        first = self.take(1)[0]
        if first >> 6 == 0:
            return first, False
        if first >> 6 == 1:
            return (first & 63) << 8 | self.take(1)[0], False
        if first >> 6 == 3:
            return first & 63, True
        return int.from_bytes(self.take(4 if first == 0x80 else 8), "big"), False

    def string(self):
        number, encoded = self.length()
        if not encoded:
            return self.take(number)
        if number < 3:
            return b"%d" % int.from_bytes(self.take(1 << number), "little", signed=True)
        raise ValueError("a compressed string: set rdbcompression to no")


def put_length(number):
    if number < 64:
        return bytes([number])
    if number < 1 << 14:
        return bytes([64 | number >> 8, number & 255])
    if number < 1 << 32:
        return b"\x80" + number.to_bytes(4, "big")
    return b"\x81" + (number & (1 << 64) - 1).to_bytes(8, "big")


def open_dump(dump):
    """(module id, [[opcode, value], …]) of what DUMP gave; strings are bytes, all else numbers or raw bytes."""
    reader = Reader(dump[:-10])
    if reader.take(1)[0] != MODULE_TYPE:
        raise ValueError("no value of a module")
    module, _ = reader.length()
    parts = []
    while True:
        code, _ = reader.length()
        if code == OP_END:
            break
        if code in (OP_SIGNED, OP_UNSIGNED):
            parts.append([code, reader.length()[0]])
        elif code == OP_STRING:
            parts.append([code, reader.string()])
        elif code in (OP_FLOAT, OP_DOUBLE):
            parts.append([code, reader.take(4 if code == OP_FLOAT else 8)])
        else:
            raise ValueError(f"unknown opcode {code}")
    if reader.at != len(reader.data):
        raise ValueError("bytes after the end")
    return module, parts


def close_body(module, parts, end=True):
    """The payload without version and checksum."""
    out = [bytes([MODULE_TYPE]), put_length(module)]
    for code, value in parts:
        out.append(put_length(code))
        if isinstance(value, int):
            out.append(put_length(value))
        elif code in (OP_FLOAT, OP_DOUBLE):
            out.append(value)
        else:
            out.append(put_length(len(value)) + bytes(value))
    if end:
        out.append(b"\0")
    return b"".join(out)


def close_dump(body, version=b"\x0a\0"):
    """A payload for RESTORE: the body with the RDB version and a correct CRC-64."""
    data = bytes(body) + version
    return data + struct.pack("<Q", seal().seal_crc64(data, len(data)))


def find_stream(parts):
    """The places (first, behind the last) of the strings that together are vidi's stream; None if there is none."""
    for first, (code, value) in enumerate(parts):
        if code == OP_STRING and value.startswith(MAGIC):
            joined = b""
            for last in range(first, len(parts)):
                if parts[last][0] != OP_STRING:
                    break
                joined += parts[last][1]
                try:
                    unframe(joined)
                    return first, last + 1
                except ValueError:
                    pass
    return None


def claims_sum(total, data):
    """The checksum of a string of claims that goes on from `total`: claim_io.c."""
    for at in range(0, len(data), 8):
        total = (total ^ int.from_bytes(data[at:at + 8], "little")) * CLAIMS_FACTOR % 2**64
        total ^= total >> 32
    return (total ^ len(data)) * CLAIMS_FACTOR % 2**64


def seal_claims(count, strings):
    """The parts of so many claims in these strings: what comes after a stream."""
    parts, total = [[OP_UNSIGNED, count]], count
    for string in strings:
        total = claims_sum(total, string)
        parts += [[OP_STRING, bytes(string)], [OP_UNSIGNED, total]]
    return parts


def open_claims(parts):
    """(count, strings) from such parts."""
    return parts[0][1], [value for code, value in parts if code == OP_STRING]
