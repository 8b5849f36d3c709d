#!/usr/bin/env bash
# package.sh OUTDIR VERSION [ARCH...]
#
# Makes the installers for Windows, steward-VERSION-windows-ARCH-setup.exe, for
# amd64 and arm64, or for those named, into OUTDIR. Needs makensis, and osslsigncode
# when a certificate is given: then it signs (see sign.sh). What it packs build.sh
# makes first, or has made before in the folder that STEWARD_PARTS names.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd) version=$2
shift 2
archs=(amd64 arm64)
[ $# = 0 ] || archs=("$@")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

most=$((20 * 1024 * 1024)) # bytes of one installer

say() { printf 'windows: %s\n' "$*" >&2; }

build/need.sh 'makes the installer' makensis nsis
if [ -n "${STEWARD_WINDOWS_CERT:-}" ]; then
	build/need.sh 'signs the programs' osslsigncode osslsigncode
else
	say 'STEWARD_WINDOWS_CERT is not set: programs, installer and uninstaller are not signed'
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "${STEWARD_PARTS:-}" ]; then
	cp -R "$STEWARD_PARTS/." "$work/"
else
	"$here/build.sh" "$work" "$version" "${archs[@]}"
fi

for arch in "${archs[@]}"; do
	for name in steward steward-desktop; do "$here/sign.sh" "$work/$arch/$name.exe"; done
	# The 64-bit installer is the one that the test under wine runs. A 32-bit one
	# also starts on the older Windows for arm64, which runs no amd64 program.
	target=x86-unicode
	[ "$arch" = arm64 ] || target=amd64-unicode
	setup=$out/steward-$version-windows-$arch-setup.exe
	makensis -V2 -INPUTCHARSET UTF8 "-XTarget $target" -DARCH="$arch" -DVERSION="$version" -DNUMBER="$(cat "$work/number")" \
		-DPROGRAMS="$work/$arch" -DICON="$work/steward.ico" -DLICENSE="$PWD/LICENSE" -DWEBVIEW="$work/MicrosoftEdgeWebview2Setup.exe" \
		-DSIGN="$here/sign.sh" -DOUT="$setup" "$here/installer.nsi" >&2
	"$here/sign.sh" "$setup"
	size=$(wc -c <"$setup")
	say "$(basename "$setup"): $((size / 1024)) KiB"
	[ "$size" -le "$most" ] || { say "that is more than $((most / 1024)) KiB" && exit 1; }
done
