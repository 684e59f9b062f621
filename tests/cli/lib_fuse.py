"""A file system in memory by FUSE, spoken to the kernel without a library: what mounts of FUSE are tried with.

Serves in a child, until it is unmounted.  direct: files cannot be mapped by several processes; fold: case
does not count in names; everybody: modes are not kept, and everybody may do all.
"""
import ctypes
import errno
import os
import stat
import struct
import time

LIBC = ctypes.CDLL(None, use_errno=True)
HEAD, REPLY = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
REPLACE_NOT, EXCHANGE = 1, 2


class Node:
    def __init__(self, mode):
        self.mode, self.uid, self.gid = mode, os.geteuid(), os.getegid()
        self.data, self.names, self.links, self.changed = bytearray(), {}, 1, time.time_ns()


class Served:
    def __init__(self, direct, fold, everybody):
        self.direct, self.key, self.mode = direct, str.lower if fold else str, 0o777 if everybody else 0
        self.nodes = {1: Node(stat.S_IFDIR | 0o700)}

    # --- what the kernel is told of a file
    def attributes(self, number):
        node = self.nodes[number]
        size, seconds, rest = len(node.data), *divmod(node.changed, 10 ** 9)
        return struct.pack("<6Q3I7I", number, size, (size + 511) // 512, seconds, seconds, seconds, rest, rest, rest,
                           node.mode | self.mode, node.links, node.uid, node.gid, 0, 4096, 0)

    def entry(self, number):
        return struct.pack("<4QII", number, 0, 0, 0, 0, 0) + self.attributes(number)

    def opened(self):
        return struct.pack("<QII", 0, 1 if self.direct else 0, 0)

    def find(self, folder, name):
        number = self.nodes[folder].names.get(self.key(name), (None, None))[1]
        if number is None:
            raise OSError(errno.ENOENT, name)
        return number

    def make(self, folder, name, mode):
        if self.key(name) in self.nodes[folder].names:
            raise OSError(errno.EEXIST, name)
        number = max(self.nodes) + 1
        self.nodes[number] = Node(mode)
        self.nodes[folder].names[self.key(name)] = (name, number)
        return number

    def drop(self, folder, name):
        number = self.find(folder, name)
        if self.nodes[number].names:
            raise OSError(errno.ENOTEMPTY, name)
        del self.nodes[folder].names[self.key(name)]
        self.nodes[number].links -= 1

    def rename(self, folder, to, flags, old, new):
        number = self.find(folder, old)
        other = self.nodes[to].names.get(self.key(new))
        if flags & REPLACE_NOT and other:
            raise OSError(errno.EEXIST, new)
        if other and other[1] != number and not flags & EXCHANGE:
            self.drop(to, new)
        del self.nodes[folder].names[self.key(old)]
        self.nodes[to].names[self.key(new)] = (new, number)
        if flags & EXCHANGE:
            self.nodes[folder].names[self.key(old)] = (old, other[1])

    # --- what it asks
    def answer(self, opcode, number, body):
        words = [w.decode() for w in body.split(b"\0")[:-1]] if opcode in (1, 10, 11) else []
        if opcode == 26:
            return struct.pack("<4IHHIIHH8I", 7, 31, 65536, 1 << 5, 12, 9, 65536, 1, 0, 0, *[0] * 8)
        if opcode == 1:
            return self.entry(self.find(number, words[0]))
        if opcode == 3:
            return struct.pack("<QII", 0, 0, 0) + self.attributes(number)
        if opcode == 4:
            return self.change(number, body)
        if opcode == 9:
            return self.entry(self.make(number, body[8:-1].decode(), stat.S_IFDIR | struct.unpack_from("<I", body)[0]))
        if opcode in (10, 11):
            self.drop(number, words[0])
            return b""
        if opcode in (12, 45):
            to, flags = struct.unpack_from("<QI", body) if opcode == 45 else (struct.unpack_from("<Q", body)[0], 0)
            old, new = body[16 if opcode == 45 else 8:].split(b"\0")[:2]
            self.rename(number, to, flags, old.decode(), new.decode())
            return b""
        if opcode == 35:
            made = self.make(number, body[16:-1].decode(), stat.S_IFREG | struct.unpack_from("<II", body)[1] & 0o7777)
            return self.entry(made) + self.opened()
        if opcode in (14, 27):
            return self.opened()
        if opcode == 15:
            at, size = struct.unpack_from("<QI", body, 8)
            return bytes(self.nodes[number].data[at:at + size])
        if opcode == 16:
            return self.write(number, *struct.unpack_from("<QI", body, 8), body[40:])
        if opcode == 17:
            return struct.pack("<5Q4I6I", 1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, 4096, 255, 4096, 0, *[0] * 6)
        if opcode == 28:
            return self.folder(number, *struct.unpack_from("<QI", body, 8))
        if opcode in (18, 20, 25, 29, 30, 34):
            return b""
        raise OSError(errno.ENOSYS, str(opcode))

    def change(self, number, body):
        valid, size = struct.unpack_from("<I12xQ", body)
        node = self.nodes[number]
        if valid & 1:
            node.mode = stat.S_IFMT(node.mode) | struct.unpack_from("<I", body, 68)[0] & 0o7777
        if valid & 8:
            node.data = node.data[:size] + bytes(max(0, size - len(node.data)))
        node.changed = time.time_ns()
        return struct.pack("<QII", 0, 0, 0) + self.attributes(number)

    def write(self, number, at, size, data):
        node = self.nodes[number]
        node.data += bytes(max(0, at - len(node.data)))
        node.data[at:at + size] = data[:size]
        node.changed = time.time_ns()
        return struct.pack("<II", size, 0)

    def folder(self, number, at, size):
        out = b""
        for i, (name, of) in enumerate(list(self.nodes[number].names.values())[at:], at + 1):
            entry = struct.pack("<QQII", of, i, len(name.encode()), self.nodes[of].mode >> 12) + name.encode()
            entry += bytes(-len(entry) % 8)
            if len(out) + len(entry) > size:
                break
            out += entry
        return out

    def serve(self, device):
        while True:
            try:
                asked = os.read(device, 1 << 18)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                return
            _, opcode, unique, number, *_ = HEAD.unpack_from(asked)
            if opcode in (2, 36, 42):
                continue
            try:
                body, code = self.answer(opcode, number, asked[HEAD.size:]), 0
            except OSError as error:
                body, code = b"", -error.errno
            os.write(device, REPLY.pack(REPLY.size + len(body), code, unique) + body)


def mount(folder, kind="fuse", direct=False, fold=False, everybody=False):
    """Mount it there; end it by unmounting."""
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={os.geteuid()},group_id={os.getegid()},allow_other"
    if LIBC.mount(b"roger-test", folder.encode(), kind.encode(), 0, options.encode()):
        error = ctypes.get_errno()
        os.close(device)
        raise OSError(error, f"mount {kind}")
    if os.fork() == 0:
        try:
            Served(direct, fold, everybody).serve(device)
        finally:
            os._exit(0)
    os.close(device)
