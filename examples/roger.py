"""roger - libroger in Python by ctypes, made from what the library itself says of its verbs.

    import roger
    with roger.open(".") as mail:
        mail.send(from_="plan", to=["bob"], content="start here")
        print(mail.receive(agent="bob")["messages"])

Each verb of docs/API.md is a method: it takes the members of its request, and gives its reply as a
dict.  Spans are in ms, instants in ms since 1970.  What goes wrong is a roger.Error.
"""
import ctypes
import itertools
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint, c_void_p

TEXT, NAME, INT, BOOL, ENUM, TIME, INSTANT, SPAN, OBJECT, MEMBERS, TEXTS, RECORDS = range(12)


class Pair(Structure):  # struct roger_str, and a list: where it is, and how long
    _fields_ = [("at", c_void_p), ("count", c_size_t)]


class Err(Structure):
    _fields_ = [("code", c_int), ("system_errno", c_int), ("member", c_char * 48), ("message", c_char * 464), ("item", c_int)]


Record = type("Record", (Structure,), {})


class Field(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("offset", c_size_t), ("flags", c_uint), ("names", POINTER(c_char_p)),
                ("record", POINTER(Record)), ("help", c_char_p), ("file", c_char_p), ("was", c_char_p), ("most", c_int64), ("value", c_char_p), ("model", c_char_p), ("labels", POINTER(c_char_p))]
    size = property(lambda self: ctypes.sizeof(Pair) if self.kind == TEXTS else self.record.contents.size)


class Op(Structure):
    _fields_ = [("name", c_char_p), ("summary", c_char_p), ("examples", c_char_p), ("flags", c_uint),
                ("request", POINTER(Record)), ("reply", POINTER(Record)), ("run", c_void_p), ("tool", c_char_p)]


Error = type("Error", (Exception,), {})  # its args: an enum roger_code, the member at fault or "", what went wrong
Record._fields_ = [("name", c_char_p), ("size", c_size_t), ("fields", POINTER(Field))]
library = ctypes.CDLL(os.environ.get("LIBROGER", "libroger.so"))
library.roger_ops.restype = POINTER(POINTER(Op))


def until(is_end, array):
    return itertools.takewhile(lambda item: not is_end(item), map(array.__getitem__, itertools.count()))


OPS = {op.contents.name.decode(): op for op in until(lambda op: not op, library.roger_ops())}


def put(kind, field, at, value, kept):
    """A value into a request; kept holds what it points to."""
    if kind in (TEXTS, RECORDS):
        items = ctypes.create_string_buffer(field.size * len(value) + 1)
        kept.append(items)
        Pair.from_address(at).at, Pair.from_address(at).count = ctypes.addressof(items), len(value)
        for i, item in enumerate(value):
            place = ctypes.addressof(items) + i * field.size
            put(TEXT, None, place, item, kept) if kind == TEXTS else fill(field.record.contents, place, item, kept)
    elif kind in (TEXT, NAME, OBJECT, MEMBERS):
        kept.append(ctypes.create_string_buffer(value.encode()))
        Pair.from_address(at).at, Pair.from_address(at).count = ctypes.addressof(kept[-1]), len(kept[-1]) - 1
    elif kind == ENUM:
        c_int.from_address(at).value = list(until(lambda name: name is None, field.names)).index(value.encode())
    else:
        (c_bool if kind == BOOL else c_int64).from_address(at).value = value


def fill(record, at, values, kept):
    known = {field.name.decode(): field for field in until(lambda field: field.name is None, record.fields)}
    for name, value in values.items():  # a KeyError names a member that there is not
        field = known[name.rstrip("_")]
        put(field.kind, field, at + field.offset, value, kept)


def get(kind, field, at):
    pair = Pair.from_address(at) if kind not in (BOOL, ENUM) else None
    if kind == TEXTS:
        return [get(TEXT, None, pair.at + i * field.size) for i in range(pair.count)]
    if kind == RECORDS:
        return [read(field.record.contents, pair.at + i * field.size) for i in range(pair.count)]
    if kind in (TEXT, NAME, OBJECT, MEMBERS):
        return ctypes.string_at(pair.at, pair.count).decode() if pair.count else ""
    return field.names[c_int.from_address(at).value].decode() if kind == ENUM else (c_bool if kind == BOOL else c_int64).from_address(at).value


def read(record, at):
    return {field.name.decode(): get(field.kind, field, at + field.offset) for field in until(lambda field: field.name is None, record.fields)}


def call(handle, verb, members):
    op, err, kept = OPS[verb].contents, Err(), []
    request, reply = (ctypes.create_string_buffer(record.contents.size) for record in (op.request, op.reply))
    fill(op.request.contents, ctypes.addressof(request), members, kept)
    if library.roger_call(handle, OPS[verb], request, reply, byref(err)) < 0:
        raise Error(err.code, err.member.decode(), err.message.decode())
    answer = read(op.reply.contents, ctypes.addressof(reply))
    library.roger_reply_free(reply)
    return answer


class open:
    def __init__(self, path=None):
        self.handle, err = c_void_p(), Err()
        if library.roger_open(path and path.encode(), byref(self.handle), byref(err)) < 0:
            raise Error(err.code, err.member.decode(), err.message.decode())

    def __getattr__(self, verb):
        if verb in OPS:
            return lambda **members: call(self.handle, verb, members)
        raise AttributeError(f"roger has no verb '{verb}'")

    __enter__ = lambda self: self

    def __exit__(self, *_):
        library.roger_close(self.handle)
