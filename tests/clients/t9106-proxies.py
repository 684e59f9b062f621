#!/usr/bin/env python3
# runner: plain
# runner: timeout 300
"""roger serve behind nginx and Caddy, which let nobody send: whatever a client writes to them, no
send comes through, and nobody else's answer is another's."""
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("ROGER", "roger")
sys.path.insert(0, str(Path(os.environ["ROGER_SOURCE"]) / "tests/cli"))
from lib_serve import *
from lib_http import hostile, odd

PROXIES = Path(os.environ["MCP_CLIENTS"]) / "proxies"
server = Server("--listen", "127.0.0.1:0", "--behind-proxy", "app.test")
token = roger("token", "new", "ann", "--right", "administer").stdout.strip()
NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; underscores_in_headers on; ignore_invalid_headers off;
  upstream roger {{ server 127.0.0.1:{port}; keepalive 4; }}
  server {{
    listen unix:{folder}/nginx.sock; client_header_timeout 1s; client_body_timeout 1s; {more}
    location /v1/send {{ return 403; }}
    location / {{ proxy_pass http://roger; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host; }}
  }}
}}
"""
CADDY = """
{{
  admin off
  auto_https off
  servers {{
    timeouts {{
      read_body 1s
      read_header 1s
    }}
  }}
}}
http:// {{
  bind unix/{folder}/caddy.sock
  @send path /v1/send /v1/send/* /v1/send*
  respond @send 403
  reverse_proxy 127.0.0.1:{port}
}}
"""


def start(name, words, config, more=""):
    path = Path(FOLDER.name) / f"{name}.conf"
    path.write_text(config.format(folder=FOLDER.name, port=server.port, more=more))
    (Path(FOLDER.name) / f"{name}.sock").unlink(missing_ok=True)
    log = open(Path(FOLDER.name) / f"{name}.out", "wb")
    process = subprocess.Popen([*words, path], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    atexit.register(process.kill)
    while True:
        try:
            connect(name).close()
            return process
        except OSError:
            if process.poll() is not None:
                check(f"{name} runs", False, (Path(FOLDER.name) / f"{name}.out").read_text())
                done()


def connect(name):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(FOLDER.name + f"/{name}.sock")
    return client


def said(name, raw):
    """All until it hangs up, as is asked for; and after a first answer, or none in a second, by hanging up ourselves."""
    with connect(name) as client:
        client.settimeout(20 if b"Connection: close" in raw else 1)
        data = b""
        try:
            client.sendall(raw)
            data = client.recv(65536)
        except OSError:
            pass
        try:
            if b"Connection: close" not in raw:
                client.shutdown(socket.SHUT_WR)
            while part := client.recv(65536):
                data += part
        except OSError:
            pass
        return data


def ask(name, path, more=b"", host=b"localhost", auth=True):
    """The status, and all of it, of a request as it should be."""
    raw = b"GET " + path + b" HTTP/1.1\r\nHost: " + host + b"\r\n" + (AUTH if auth else b"") + more + b"Connection: close\r\n\r\n"
    answer = said(name, raw)
    return answer[9:12].decode(), answer


AUTH = b"Authorization: Bearer " + token.encode() + b"\r\n"


def fitting(method, path, body=b"", more=b"", host=b"localhost"):
    return b"%b %b HTTP/1.1\r\nHost: %b\r\n%bContent-Type: application/json\r\n%bContent-Length: %d\r\n\r\n%b" % (method, path, host, AUTH, more, len(body), body)


SEND = b'{"from":"mallory","to":"victim","content":"smuggled"}'
HIDDEN = fitting(b"POST", b"/v1/send", SEND)
LOG = b'{"agent":"ann","text":"x"}'
START = b"POST /v1/log HTTP/1.1\r\nHost: localhost\r\n" + AUTH + b"Content-Type: application/json\r\n"
CHUNK = b"%x\r\n%b\r\n0\r\n\r\n"


def attacks():
    """A request that may come through, and in it, or behind it, one that may not."""
    whole, size = len(HIDDEN), b"%x" % len(HIDDEN)
    for what, raw in (*hostile(b"/v1/log", HIDDEN), *odd(b"/v1/log", HIDDEN)):
        yield what, raw.replace(b"Host: localhost\r\n", b"Host: localhost\r\n" + AUTH, 1) + HIDDEN
    for odd_coding in (b"Transfer-Encoding: chunked", b"Transfer-Encoding : chunked", b"Transfer-Encoding:\tchunked", b"Transfer-Encoding: xchunked", b"Transfer-Encoding: \x0bchunked",
                       b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x", b"Transfer-Encoding: x\r\nTransfer-Encoding: chunked", b"X: x\nTransfer-Encoding: chunked", b"X: x\r\n Transfer-Encoding: chunked",
                       b"Transfer_Encoding: chunked", b"Transfer-Encoding\0: chunked", b"transfer-encoding: identity, chunked", b"Transfer-Encoding: \"chunked\"", b"Foo: bar\r\rTransfer-Encoding: chunked"):
        yield f"CL before TE {odd_coding!r}", START + b"Content-Length: %d\r\n%b\r\n\r\n0\r\n\r\n" % (whole + 5, odd_coding) + HIDDEN
        yield f"TE before CL {odd_coding!r}", START + b"%b\r\nContent-Length: 4\r\n\r\n%b\r\n%b\r\n0\r\n\r\n" % (odd_coding, size, HIDDEN)
    for odd_length in (b"Content-Length: 0\r\nContent-Length: %d", b"Content-Length: %d\r\nContent-Length: 0", b"Content-Length: 0, %d", b"Content-Length: +%d", b"Content-Length : %d",
                       b"Content-Length: 0\x00%d", b"Content-Length:\r\n %d", b"Content-Length: %d\nContent-Length: 0", b"content_length: %d", b"Content-Length: 0x%x", b"Content-Length: 00%d", b"Content-Length: %d."):
        yield f"{odd_length!r}", START + odd_length % whole + b"\r\n\r\n" + HIDDEN
    for method in (b"GET", b"HEAD", b"DELETE", b"OPTIONS", b"TRACE", b"PATCH"):
        yield f"{method!r} with a body", fitting(method, b"/healthz", HIDDEN)
        yield f"{method!r} with chunks", b"%b /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % method + CHUNK % (whole, HIDDEN)
    for extension in (b";a=\n", b";\r", b" ;x", b"\n", b";x=\"\r\n0\r\n\r\n"):
        yield f"a chunk with {extension!r}", START + b"Transfer-Encoding: chunked\r\n\r\n" + size + extension + b"\r\n" + HIDDEN + b"\r\n0\r\n\r\n" + HIDDEN
    yield "trailers", START + b"Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: %d\r\n\r\n" % whole
    for target in (b"http://localhost/v1/send", b"http://app.test/v1/send", b"//v1/send", b"/v1//send", b"/v1/./send", b"/healthz/../v1/send", b"/v1/%73end", b"/v1/send%20HTTP/1.1", b"/V1/send", b"/v1\\send", b"/v1/send;x", b"/v1/send?x", b"/healthz HTTP/1.1\r\n\r\nPOST /v1/send", b"/healthz%0d%0aX:", b"/v1/%2e%2e/v1/send"):
        yield f"target {target!r}", fitting(b"POST", target, SEND)
    for host in (b"evil.example.com", b"localhost\r\nHost: evil.example.com", b"localhost:80/v1/send", b"app.test@evil", b"", b"localhost, evil"):
        yield f"host {host!r}", fitting(b"POST", b"/v1/send", SEND, host=host)
    for more in (b"Connection: Content-Length\r\n", b"Connection: Transfer-Encoding, Host\r\n", b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"Expect: 100-continue\r\n", b"X-Original-URL: /v1/send\r\nX-Rewrite-URL: /v1/send\r\n", b"X-HTTP-Method-Override: POST\r\n"):
        yield f"{more!r}", fitting(b"POST", b"/v1/log", LOG, more) + HIDDEN
        yield f"{more!r} with a request as body", fitting(b"POST", b"/v1/log", HIDDEN, more)


def stored():
    return server.get("/v1/count?to=victim")[2]["count"]


def run(name):
    before = stored()
    equal(f"{name}: what may come through does", ask(name, b"/v1/count?to=nobody")[0], "200")
    equal(f"{name}: a send may not", said(name, HIDDEN)[9:12], b"403")
    equal(f"{name}: a host of --behind-proxy is ours", ask(name, b"/healthz", host=b"app.test")[0], "200")
    equal(f"{name}: another is not", ask(name, b"/healthz", host=b"evil.example.com")[0], "403")
    smuggled, mixed, tried = [], [], 0
    for what, raw in attacks():
        tried += 1
        said(name, raw)
        # Somebody else, perhaps on the same connection of the proxy to the server.
        for number in (1, 2):
            status, answer = ask(name, b"/v1/count?to=other%d" % number)
            if status != "200" or b'"count":0' not in answer:
                mixed.append((what, answer[:80]))
        if stored() != before:
            smuggled.append(what)
            before = stored()
    equal(f"{name}: of {tried} attempts none smuggles a send", smuggled, [])
    equal(f"{name}: and nobody gets another's answer", mixed, [])
    for header in (b"X-Forwarded-User: ann", b"Remote-User: ann", b"X-Remote-User: ann", b"X-Forwarded-For: 127.0.0.1", b"Forwarded: for=127.0.0.1;host=localhost", b"X-Forwarded-Host: localhost", b"Roger-Agent: ann"):
        equal(f"{name}: {header.decode()} makes nobody anybody", ask(name, b"/v1/status", header + b"\r\n", auth=False)[0], "401")


equal("at the server itself the hidden request would be a send", (server.ask("POST", "/v1/send", json.loads(SEND), {"Authorization": f"Bearer {token}"}, server.tcp())[0], stored()), (200, 1))
nginx = start("nginx", [PROXIES / "usr/sbin/nginx", "-p", FOLDER.name, "-e", FOLDER.name + "/nginx.log", "-c"], NGINX)
run("nginx")
nginx.kill()
nginx.wait()
# As it stands in many guides: bodies go on as they come.
nginx = start("nginx", [PROXIES / "usr/sbin/nginx", "-p", FOLDER.name, "-e", FOLDER.name + "/nginx.log", "-c"], NGINX, "proxy_request_buffering off;")
run("nginx")
nginx.kill()
start("caddy", [PROXIES / "usr/bin/caddy", "run", "--adapter", "caddyfile", "--config"], CADDY)
run("caddy")
equal("the server ends well", server.end(), (0, ""))
done()
