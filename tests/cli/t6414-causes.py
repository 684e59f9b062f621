#!/usr/bin/env python3
"""Why `store: postgres://...` has no connection: each kind has a sentence of its own, whatever language the server speaks.

The server is a few lines of this: it answers the first messages of the protocol, with TLS or without, as it is told."""
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from lib_tap import *

ROGER = Path(os.environ["ROGER"]).resolve()
if b"libpq" not in subprocess.run(["ldd", ROGER.parent / "roger-serve"], capture_output=True).stdout:
    print("ok 1 - no client # skip built without libevent or libpq\n1..1")
    sys.exit(0)
FOLDER = tempfile.TemporaryDirectory(prefix="roger-")
ENV = {name: value for name, value in os.environ.items() if not name.startswith(("ROGER", "XDG_", "PG", "SSL_"))}
ENV.update(HOME=FOLDER.name, PGCONNECT_TIMEOUT="2")
subprocess.run([ROGER, "init", FOLDER.name + "/w"], check=True, capture_output=True, env=ENV)


def certify():
    path = FOLDER.name + "/cert"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", path + ".key", "-out", path + ".pem"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path + ".pem", path + ".key")
    return context


def refusal(state, *, words="Der Einlass wird verwehrt; session is read-only, invalid \"x\""):
    """An error as a server with German messages says it."""
    fields = b"".join(kind + text.encode() + b"\0" for kind, text in ((b"S", "FATAL"), (b"V", "FATAL"), (b"C", state), (b"M", words)))
    fields = fields.replace(b"SFATAL", "SFATAL (schlimm)".encode()) + b"\0"
    return b"E" + (4 + len(fields)).to_bytes(4, "big") + fields


ASKS_PASSWORD = b"R\0\0\0\x08\0\0\0\x03"
REQUEST_TLS = (80877103).to_bytes(4, "big")


class Server:
    """Answers a request of TLS with `tls`, goes on by it if that is a context, and then says each of `answers` to what comes."""

    def __init__(self, answers=(), tls=b"N"):
        self.answers, self.tls, self.passwords = answers, tls, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            client.settimeout(60)
            said = client.recv(4096)
            while said[4:8] == REQUEST_TLS or said[4:8] == (80877104).to_bytes(4, "big"):
                if said[4:8] != REQUEST_TLS or isinstance(self.tls, bytes):
                    client.sendall(b"N" if said[4:8] != REQUEST_TLS else self.tls)
                else:
                    client.sendall(b"S")
                    client = self.tls.wrap_socket(client, server_side=True)
                said = client.recv(4096)
            for answer in self.answers:
                if not said:
                    break
                if said[:1] == b"p":
                    self.passwords.append(said)
                client.sendall(answer)
                said = client.recv(4096)
        except OSError:
            pass
        client.close()

    def end(self):
        self.listener.close()


def tell(name, status, says, *, server=None, user="me:hush-hush", host="localhost", port=None, more="", env=None):
    address = f"postgres://{user}@{host}:{port or server.port}/d?{more}#w"
    ended = subprocess.run([ROGER, "--workspace", FOLDER.name + "/w", "serve"], capture_output=True, text=True, timeout=120,
                           env={**ENV, "ROGER_STORE": address, **(env or {})})
    check(name, (ended.returncode, ended.stdout) == (status, "") and says in ended.stderr and ended.stderr.count("\n") == 1 and "hush" not in ended.stderr,
          (ended.returncode, ended.stderr))
    if server:
        server.end()


for state, status, says in (("28P01", 77, "refuses the login"), ("28000", 77, "refuses the login"), ("3D000", 77, "no database of this name"),
                            ("42501", 77, "grant it CONNECT"), ("53300", 69, "no room"), ("57P03", 69, "just starting or ending"), ("XX000", 69, "XX000")):
    tell(f"a server that says {state} in another language", status, says, server=Server([refusal(state)]))
tell("after a password, too", 77, "refuses the login", server=Server([ASKS_PASSWORD, refusal("28P01")]))
tell("a password that is asked for, and not there", 77, "asks for a password", server=Server([ASKS_PASSWORD]), user="me")

nobody = socket.create_server(("127.0.0.1", 0))
gone = nobody.getsockname()[1]
nobody.close()
tell("a port that is refused", 69, "nobody answers", port=gone)
tell("a name that no DNS has", 69, "no address is known", host="no-such-host.invalid", port=5432)
tell("a socket that is not there", 69, "nobody answers", host="", port=5432, more="host=/dev/null/none")
tell("a server that never answers", 69, "no answer in time", server=Server([b""] * 9), more="connect_timeout=2")
tell("one that is no PostgreSQL", 69, "breaks off", server=Server([]), more="sslmode=disable")
tell("a value that libpq does not take", 78, "a value", port=gone, more="sslmode=some")
tell("a number that is none", 78, "a number", port=gone, more="keepalives_idle=some")
tell("a port that is none", 78, "a number", port=99999)

context = certify()
os.symlink("cert.pem", FOLDER.name + "/link.pem")
ROOT = f"sslrootcert={FOLDER.name}/link.pem"
Path(FOLDER.name, "empty.pem").write_text("no certificate\n")
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=other", "-keyout", "/dev/null",
                        "-out", FOLDER.name + "/other.pem"], check=True, capture_output=True)


def secure():
    return Server([refusal("28P01")], tls=context)


tell("with TLS as it should be the server is heard", 77, "refuses the login", server=secure(), more="sslmode=verify-full&" + ROOT)
tell("an authority that nobody named", 69, "no authority of sslrootcert", server=secure(), more=f"sslmode=verify-full&sslrootcert={FOLDER.name}/other.pem")
tell("a certificate for another name", 69, "another host name", server=secure(), host="127.0.0.1", more="sslmode=verify-full&" + ROOT)
tell("a file of authorities that is not there", 78, "sslrootcert", server=secure(), more=f"sslmode=verify-full&sslrootcert={FOLDER.name}/none.pem")
tell("or is named by a variable", 78, "sslrootcert", server=secure(), more="sslmode=verify-full", env={"PGSSLROOTCERT": FOLDER.name + "/none.pem"})
tell("or has none in it", 78, "sslrootcert", server=secure(), more=f"sslmode=verify-full&sslrootcert={FOLDER.name}/empty.pem")
tell("a server without TLS", 69, "does without TLS", server=Server([refusal("28P01")]), more="sslmode=require")
tell("hands that are not shaken", 69, "TLS cannot be agreed on", server=Server([], tls=b"S"), more="sslmode=require")
Path(FOLDER.name, "mine.pem").write_text("no certificate\n")
tell("a certificate of one's own that is none", 78, "sslcert", server=secure(), more=f"sslmode=verify-full&{ROOT}&sslcert={FOLDER.name}/mine.pem")
tell("or has no key", 78, "sslkey", server=secure(), more=f"sslmode=require&sslcert={FOLDER.name}/cert.pem&sslkey={FOLDER.name}/none.key")
tell("who answers but is no PostgreSQL", 69, "TLS cannot be agreed on", server=Server([], tls=b"H"))
spying = Server([ASKS_PASSWORD], tls=context)
tell("and whoever is not trusted", 69, "no authority of sslrootcert", server=spying, more=f"sslmode=verify-full&sslrootcert={FOLDER.name}/other.pem")
equal("never gets the password", spying.passwords, [])
done()
