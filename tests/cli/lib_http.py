"""What a hostile client may write to any server of ours over HTTP."""
import re
import socket


def converse(connect, raw, half_close=False):
    """All that the server says to these bytes, or pieces, until it closes the connection, which it must."""
    with connect() as client:
        try:
            for piece in [raw] if isinstance(raw, bytes) else raw:
                client.sendall(piece)
            if half_close:
                client.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before all of it was read
        said = b""
        try:
            while part := client.recv(65536):
                said += part
        except ConnectionResetError:
            pass
        return said


def hostile(path, body):
    """(what, bytes) of requests whose end, or whose server, two readers could see differently."""
    start = b"Host: localhost\r\nContent-Type: application/json\r\n"
    plain = b"POST " + path + b" HTTP/1.1\r\n" + start
    fits = b"Content-Length: %d\r\n\r\n" % len(body) + body
    return (
        ("two lengths", plain + b"Content-Length: 0\r\n" + fits),
        ("two lengths that agree", plain + b"Content-Length: %d\r\n" % len(body) + fits),
        ("a length with a sign", plain + b"Content-Length: +%d\r\n\r\n" % len(body) + body),
        ("a length in hex", plain + b"Content-Length: 0x2\r\n\r\n{}"),
        ("a length below nothing", plain + b"Content-Length: -1\r\n\r\n"),
        ("a list of lengths", plain + b"Content-Length: 2, 2\r\n\r\n{}"),
        ("a length and chunks", plain + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("an odd coding", plain + b"Transfer-Encoding: xchunked\r\n" + fits),
        ("two codings", plain + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
        ("a coding in HTTP/1.0", b"POST " + path + b" HTTP/1.0\r\n" + start + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("a blank before the colon", plain + b"Content-Length : 0\r\n" + fits),
        ("a name that is no token", plain + b"X(y): 1\r\n" + fits),
        ("a control character in a value", plain + b"X: a\x01b\r\n" + fits),
        ("two hosts", plain + b"Host: localhost\r\n" + fits),
        ("no host", b"POST " + path + b" HTTP/1.1\r\nContent-Type: application/json\r\n" + fits),
        ("a later HTTP", b"POST " + path + b" HTTP/1.9\r\n" + start + fits),
        ("a target with a host", b"POST http://localhost" + path + b" HTTP/1.1\r\n" + start + fits),
        ("a target whose path begins with a host", b"POST //evil.example.com" + path + b" HTTP/1.1\r\n" + start + fits),
        ("a target of another host", b"POST http://evil.example.com" + path + b" HTTP/1.1\r\n" + start + fits),
        ("a blank in the target", b"POST " + path + b" HTTP/1.1 HTTP/1.1\r\n" + start + fits),
        ("an odd expectation", plain + b"Expect: 200-ok\r\n" + fits),
        ("a body with HEAD", b"HEAD " + path + b" HTTP/1.1\r\n" + start + fits),
        ("a body with GET", b"GET " + path + b" HTTP/1.1\r\n" + start + fits),
        ("a body with DELETE", b"DELETE " + path + b" HTTP/1.1\r\n" + start + fits),
        ("a body with OPTIONS", b"OPTIONS " + path + b" HTTP/1.1\r\n" + start + fits),
        ("chunks with GET", b"GET " + path + b" HTTP/1.1\r\n" + start + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("hundreds of headers", plain + b"".join(b"X-%d: 1\r\n" % i for i in range(200)) + fits),
    )


def odd(path, body):
    """The same, of bytes that a reader of whole heads does not see any more."""
    start = b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    fits = b"Content-Length: %d\r\n\r\n" % len(body) + body
    chunked = start + b"Transfer-Encoding: chunked\r\n\r\n"
    size = b"%x" % len(body)
    return (
        ("a line that ends with LF", start + b"X: 1\n" + fits),
        ("a request line that ends with LF", start.replace(b"1.1\r\n", b"1.1\n") + fits),
        ("a head that ends with LF", start + b"Content-Length: 2\n\n{}"),
        ("a head whose last line is LF", start + b"Content-Length: 2\r\n\n{}"),
        ("a CR in a line", start + b"X: 1\r2\r\n" + fits),
        ("two CRs", start + b"X: 1\r\r\n" + fits),
        ("a folded line", start + b"X: 1\r\n 2\r\n" + fits),
        ("a line folded with a tab", start + b"X: 1\r\n\tTransfer-Encoding: chunked\r\n" + fits),
        ("a folded length", start + b"Content-Length:\r\n %d\r\n\r\n" % len(body) + body),
        ("a NUL in a value", start + b"X: 1\0002\r\n" + fits),
        ("a NUL in a length", start + b"Content-Length: 2\0000\r\n\r\n{}"),
        ("a NUL in a name", start + b"X\0Y: 1\r\n" + fits),
        ("a NUL in the target", start.replace(b" HTTP", b"\0 HTTP") + fits),
        ("an empty line first", b"\r\n" + start + fits),
        ("a chunk in hex as in C", chunked + b"0x" + size + b"\r\n" + body + b"\r\n0\r\n\r\n"),
        ("a chunk with a sign", chunked + b"+" + size + b"\r\n" + body + b"\r\n0\r\n\r\n"),
        ("a chunk with a blank before", chunked + b" " + size + b"\r\n" + body + b"\r\n0\r\n\r\n"),
        ("a chunk with a blank behind", chunked + size + b" \r\n" + body + b"\r\n0\r\n\r\n"),
        ("a chunk with an extension", chunked + size + b";a=b\r\n" + body + b"\r\n0\r\n\r\n"),
        ("a chunk with a word behind", chunked + size + b" x\r\n" + body + b"\r\n0\r\n\r\n"),
        ("a chunk that ends with LF", chunked + size + b"\n" + body + b"\r\n0\r\n\r\n"),
        ("a chunk without an end", chunked + size + b"\r\n" + body + b"0\r\n\r\n"),
        ("a chunk and a line too many", chunked + size + b"\r\n" + body + b"\r\n\r\n0\r\n\r\n"),
        ("a last chunk that ends with LF", chunked + size + b"\r\n" + body + b"\r\n0\n\n"),
        ("headers behind the chunks", chunked + size + b"\r\n" + body + b"\r\n0\r\nHost: evil\r\n\r\n"),
        ("a size that wraps around", chunked + b"10000000000000000" + size + b"\r\n" + body + b"\r\n0\r\n\r\n"),
    )


def pieces(raw):
    """As slow or broken networks deliver it: whole, cut in the middle of each line end, byte by byte."""
    yield [raw]
    yield re.split(rb"(?<=\r)", raw)
    yield [raw[i : i + 1] for i in range(len(raw))]
