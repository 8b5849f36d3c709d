#!/bin/sh
# need.sh WHY COMMAND PACKAGE...
#
# Makes sure COMMAND is there, or the library that lib:NAME names to pkg-config.
# When it is not, installs the Debian PACKAGEs that bring it, and says so. Without
# apt-get, or without root and sudo, it only says what is missing and fails.
set -eu

why=$1 command=$2
shift 2

there() {
	case $command in
	lib:*) pkg-config --exists "${command#lib:}" 2>/dev/null ;;
	*) command -v "$command" >/dev/null 2>&1 ;;
	esac
}

there && exit 0

say() { printf '%s\n' "$*" >&2; }

if ! command -v apt-get >/dev/null 2>&1; then
	say "$command is missing: $why. Install it and run this again."
	exit 1
fi
if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null 2>&1; then
	as_root=sudo
else
	say "$command is missing: $why. As root: apt-get install $*"
	exit 1
fi

say "$command is missing: $why. Installing with apt-get: $*"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >&2
$as_root apt-get install -y -qq --no-install-recommends "$@" >&2
there || {
	say "$* did not bring $command"
	exit 1
}
