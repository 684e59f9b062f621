"""What a hostile client may write to any server of ours over HTTP."""
import socket


def converse(connect, raw, half_close=False):
    """All that the server says to these bytes until it closes the connection, which it must."""
    with connect() as client:
        try:
            client.sendall(raw)
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
        ("a target of another host", b"POST http://evil.example.com" + path + b" HTTP/1.1\r\n" + start + fits),
        ("an odd expectation", plain + b"Expect: 200-ok\r\n" + fits),
        ("hundreds of headers", plain + b"".join(b"X-%d: 1\r\n" % i for i in range(200)) + fits),
    )
