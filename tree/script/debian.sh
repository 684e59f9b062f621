# debian.sh - apt, the mirror and the pinned files, for script/bootstrap, script/parts
# and script/arm, which read it with `.` and say who they are in $me.

# What script/parts runs, and the packages that have it.
parts_tools="gcc:gcc musl-gcc:musl-tools make:make tclsh:tcl patch:patch xz:xz-utils"

say() { echo "$me: $*" >&2; }

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		say "'$1' needs root: run this as root, or install sudo"
		exit 77
	fi
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

install_packages() { # PACKAGE...
	say "installing $*"
	apt install -y --no-install-recommends "$@"
}

refresh_once() {
	[ -n "${refreshed-}" ] && return
	apt update || say "some package lists could not be read; going on with what is there"
	refreshed=yes
}

# The first mirror of this release that is no security archive, as the
# machine's own sources name it; comments and switched off entries do not count.
find_mirror() { # CODENAME
	for sources in /etc/apt/sources.list.d/*.sources; do
		[ -e "$sources" ] && awk -v release="$1" '
			function entry(  i, n, uris) {
				n = split(uri, uris)
				for (i = 1; i <= n && enabled && (" " suites " ") ~ (" " release " "); i++)
					if (uris[i] ~ /^https?:/ && uris[i] !~ /security/)
						print uris[i]
				uri = suites = field = ""
				enabled = 1
			}
			BEGIN { enabled = 1 }
			/^#/ { next }
			/^[ \t]*$/ { entry(); next }
			/^[^ \t]/ {
				field = tolower($1)
				$1 = ""
			}
			field == "uris:" { uri = uri " " $0 }
			field == "suites:" { suites = suites " " $0 }
			field == "enabled:" && tolower($0) ~ /no|false/ { enabled = 0 }
			END { entry() }' "$sources"
	done
	for sources in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -e "$sources" ] && sed 's/#.*//; s/\[[^]]*\]//' "$sources" | awk -v release="$1" '
			$1 == "deb" && $3 == release && $2 ~ /^https?:/ && $2 !~ /security/ { print $2 }'
	done
	echo http://deb.debian.org/debian
}

# Options that make apt use only these lines and keep its lists in FOLDER: the
# machine's own sources stay as they are, and signatures count.  In $apart.
set_apart() { # FOLDER TYPE CODENAME...
	release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	mirror=$(find_mirror "${release:-bookworm}" | head -n 1)
	lists=$1 type=$2
	shift 2
	mkdir -p "$lists/lists/partial"
	for codename; do
		echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror%/} $codename main"
	done >"$lists/sources.list"
	apart="-o Dir::Etc::sourcelist=$lists/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::Lists=$lists/lists
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Acquire::Languages=none -o APT::Sandbox::User=root"
}

# ------------------------------------------------------------------- pins --

is_pinned() { # FILE SHA-256
	[ "$(sha256sum "$1" | cut -d ' ' -f 1)" = "$2" ]
}

# From the machine's own mirror, from Debian's, or from its archive.  69: it cannot
# be had; 65: it is not what the pin says, which nobody may go on with.
fetch_file() { # FOLDER SHA-256 PATH
	file=$1/${3##*/}
	[ -e "$file" ] && is_pinned "$file" "$2" && return
	snapshot=$(sed -n 's/^snapshot //p' script/pins)
	for place in "${mirror%/debian}/$3" "http://deb.debian.org/$3" \
		"http://snapshot.debian.org/archive/${3%%/*}/$snapshot/${3#*/}"; do
		rm -f "$file"
		/usr/lib/apt/apt-helper -q download-file "$place" "$file" >"$1/log" 2>&1 || continue
		is_pinned "$file" "$2" && return
		say "$place is not the file that script/pins names:"
		say "its SHA-256 is $(sha256sum "$file" | cut -d ' ' -f 1), not $2"
		rm -f "$file"
		return 65
	done
	grep '^[EW]:' "$1/log" >&2 || :
	return 69
}

# All that script/pins has for "source" or an architecture.
fetch_pinned() { # FOLDER ARCHITECTURE
	[ -x /usr/lib/apt/apt-helper ] || return 69
	mirror=$(find_mirror "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" | head -n 1)
	mirror=${mirror%/}
	mkdir -p "$1"
	while read -r _ _ _ architecture sha256 path; do
		[ "$architecture" != "$2" ] || fetch_file "$1" "$sha256" "$path" || return
	done <script/pins
}
