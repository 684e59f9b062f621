#!/bin/sh
# runner: plain
# The pins of script/parts: each is whole, NOTICE has what is linked, a file that is
# another one is refused, and without a network the program goes without the parts.
. "$(dirname "$0")/lib.sh"

pins=$source_dir/script/pins
is "a day for snapshot.debian.org" "$(grep -c '^snapshot 20[0-9]\{6\}T000000Z$' "$pins")" 1
is "each pin has a name, a version, a suite, an architecture, a hash and a file" \
	"$(grep -v '^#\|^snapshot ' "$pins" | grep -v -E '^[a-z0-9-]+ [0-9][^ ]* (bookworm|trixie) (source|release|amd64|arm64) [0-9a-f]{64} debian(-security)?/pool/[^ ]+$')" ""
is "the file is of that version" "$(grep -v '^#\|^snapshot ' "$pins" |
	awk '{ version = $2; upstream = $2; sub(/-[^-]*$/, "", upstream)
	       if (!index($6, "_" version) && !index($6, "_" upstream ".orig.tar.")) print }')" ""
is "NOTICE names each with its version" "$(awk '$4 == "source" || $4 == "release" { print $1, $2 }' "$pins" | sort -u | while read -r name version; do
	tr A-Z a-z <"$source_dir/NOTICE" | grep -qF "$(printf '    %-20s %-18s ' "$name" "$version" | sed 's/^    sqlite3 /    sqlite  /')" || echo "$name $version"
done)" ""
is "and a licence for each" "$(sed -n 's/^    \([A-Za-z0-9]*\)  .* \(MIT\|ISC\|BSD\|Apache\|curl\|public domain\).*/\1/p' "$source_dir/NOTICE" | while read -r name; do
	grep -qx "$name" "$source_dir/NOTICE" || echo "$name"
done)" ""
is "each library that the program is linked with has a pin" "$(sed -n "s/.*foreach name : \[\('sqlite3'.*'yyjson'\)\].*/\1/p" "$source_dir/meson.build" |
	tr -d "', " | sed 's/sqlite3/& /; s/yaml/lib& /; s/sodium/lib& /; s/utf8proc/& /' | tr ' ' '\n' | sort)" \
	"$(awk '$4 == "source" { print $1 }' "$pins" | sort -u)"

if [ ! -x /usr/lib/apt/apt-helper ]; then
	note "no apt here: nothing is fetched"
	done_testing
	exit
fi

# A checkout of its own, and a proxy for apt that has something else in place of every file.
mkdir "$here/copy" && cp -R "$source_dir/script" "$here/copy"
cat >"$here/proxy.py" <<'END'
import http.server
import signal
class Other(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"something else"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Other)
print(server.server_port, flush=True)
signal.alarm(120)  # should the test be gone
server.serve_forever()
END
mkfifo "$here/port"
python3 "$here/proxy.py" >"$here/port" &
proxy=$!
read -r port <"$here/port"
# Nothing is asked of the network, whatever it is like here.
for scheme in http https; do
	echo "Acquire::$scheme::Proxy \"http://127.0.0.1:$port\"; Acquire::$scheme::Timeout \"5\";"
done >"$here/apt.conf"
echo 'Acquire::Retries "0";' >>"$here/apt.conf"

export APT_CONFIG="$here/apt.conf"
run "$here/copy/script/parts"
is "another file than the pinned one is an error, not a reason to go without" "$status" 65
like "which names the file" "$err" "sqlite3_.*orig.tar.xz is not the file that script/pins names"
like "and both hashes" "$err" "its SHA-256 is [0-9a-f]*, not [0-9a-f]*"
is "nothing of it is kept" "$(find "$here/copy/build-parts" -name '*.tar.*' -o -name complete -o -name headers)" ""

kill $proxy
wait $proxy 2>/dev/null
run "$here/copy/script/parts"
is "without a network the program is built without the parts" "$status" 69
like "and it is said" "$err" "linked with the system's C library"
done_testing
