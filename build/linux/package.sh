#!/usr/bin/env bash
# package.sh OUTDIR VERSION [ARCH...]
#
# Makes what Steward is for Linux, for amd64 and arm64 or for those named:
#
#   steward_VERSION_linux_ARCH          the program without a window, static
#   steward_VERSION_linux_ARCH.tar.gz   both, for a folder such as ~/.local
#   steward_VERSION_ARCH.deb, steward-VERSION-1.ARCH.rpm
#
# One package holds both programs: the window's libraries are recommended, not
# demanded, so that a box without a screen can leave them out. The window can be
# built only for the processor of this machine; elsewhere the packages hold the
# other program alone, and their description says so.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd) version=$2
shift 2
archs=(amd64 arm64)
[ $# = 0 ] || archs=("$@")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

GO=${GO:-go}
export GO
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.48.0
most_installer=$((20 * 1024 * 1024)) # bytes
most_program=$((25 * 1024 * 1024))

# shellcheck source=build/stamp.sh
. build/stamp.sh

say() { printf 'linux: %s\n' "$*" >&2; }

# within FILE BOUND ends here when FILE has more than BOUND bytes.
within() {
	local size
	size=$(wc -c <"$1")
	say "$(basename "$1"): $((size / 1024)) KiB"
	[ "$size" -le "$2" ] || {
		say "$(basename "$1") is larger than $(($2 / 1024)) KiB"
		exit 1
	}
}

"${MAKE:-make}" --no-print-directory frontend/dist/index.html >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$GO" run -ldflags "$(build/ldflags.sh "$version")" ./app/cli/gen "$work/gen"
"$GO" run ./build/icons build/appicon.png "$work/icons" 16 24 32 48 64 128 256 512
env -u GOFLAGS GOBIN="$work/bin" "$GO" install "$nfpm"

native=$("$GO" env GOHOSTARCH)
for arch in "${archs[@]}"; do
	root=$work/$arch
	mkdir -p "$root/usr/bin"
	build/headless.sh "$root/usr/bin/steward" linux "$arch" "$version" "$commit"
	install -m 755 "$root/usr/bin/steward" "$out/steward_${version}_linux_$arch"
	within "$out/steward_${version}_linux_$arch" "$most_program"

	window=
	if [ "$arch" != "$native" ]; then
		say "the window for $arch is left out: it can be built only on a machine of that kind"
	elif [ "$(uname -s)" != Linux ]; then
		say "the window for $arch is left out: it can be built only on Linux"
	else
		"${MAKE:-make}" --no-print-directory need-window >&2
		env -u GOFLAGS CGO_ENABLED=1 "$GO" build -trimpath -buildvcs=false -tags desktop,production,webkit2_41 \
			-ldflags "-s -w $(build/ldflags.sh "$version" "$commit")" -o "$root/usr/bin/steward-desktop" .
		window=1
	fi

	share=$root/usr/share
	install -D -m 644 build/linux/steward.service "$root/usr/lib/systemd/user/steward.service"
	install -D -m 644 "$work/gen/steward.bash" "$share/bash-completion/completions/steward"
	install -D -m 644 "$work/gen/steward.fish" "$share/fish/vendor_completions.d/steward.fish"
	install -D -m 644 "$work/gen/_steward" "$share/zsh/vendor-completions/_steward"
	mkdir -p "$share/man/man1" "$share/doc/steward"
	gzip -9nc "$work/gen/steward.1" >"$share/man/man1/steward.1.gz"
	if [ -n "$window" ]; then
		ln -s steward.1.gz "$share/man/man1/steward-desktop.1.gz"
		install -D -m 644 build/linux/steward.desktop "$share/applications/steward.desktop"
		mkdir -p "$share/icons/hicolor"
		cp -R "$work/icons/." "$share/icons/hicolor/"
	fi
	install -m 644 README.md README.zh-CN.md CHANGELOG.md LICENSE "$share/doc/steward/"
	cat >"$share/doc/steward/copyright" <<-COPYRIGHT
		Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
		Upstream-Name: Steward

		Files: *
		Copyright: the authors of Steward
		License: AGPL-3.0-only
		 The whole text is in /usr/share/doc/steward/LICENSE.
	COPYRIGHT

	# The tarball is the same tree under one folder, with a unit that starts the
	# program in ~/.local/bin.
	tarball=$work/tarball/steward_${version}_linux_$arch
	mkdir -p "$tarball"
	cp -RP "$root/usr/bin" "$share" "$tarball/"
	mkdir -p "$tarball/share/systemd/user" "$tarball/share/zsh/site-functions"
	sed 's|/usr/bin/steward|%h/.local/bin/steward|' build/linux/steward.service >"$tarball/share/systemd/user/steward.service"
	mv "$tarball/share/zsh/vendor-completions/_steward" "$tarball/share/zsh/site-functions/"
	rmdir "$tarball/share/zsh/vendor-completions"
	rm "$tarball/share/doc/steward/copyright"

	find "$root" "$tarball" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	find "$root" "$tarball" -type d -exec chmod 755 {} +
	tar -C "$work/tarball" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$(basename "$tarball")" |
		gzip -9n >"$out/steward_${version}_linux_$arch.tar.gz"
	within "$out/steward_${version}_linux_$arch.tar.gz" "$most_installer"

	# What nfpm puts where: every file of the tree, which Fedora wants elsewhere in
	# two cases.
	entry() { # SRC DST [PACKAGER]
		printf '  - src: "%s"\n    dst: "%s"\n' "$1" "$2"
		[ -z "${3:-}" ] || printf '    packager: %s\n' "$3"
	}
	about="A person who runs many coding agents sees what they did, what they hand to each
  other and what they ask: receipts in one append-only file, over MCP."
	if [ -n "$window" ]; then
		about+="
  Holds the service and the commands (steward) and the window (steward-desktop),
  whose libraries are recommended: a box without a screen can leave them out."
	else
		about+="
  Holds the service and the commands (steward). This package has no window: it
  was built on a machine of another kind."
	fi
	{
		cat <<-YAML
			name: steward
			arch: $arch
			platform: linux
			version: "$version"
			section: utils
			priority: optional
			maintainer: "${STEWARD_MAINTAINER:-Steward <steward@localhost>}"
			description: |
			  Record of what your agents do, and the work they hand over
			  $about
			license: AGPL-3.0-only
			mtime: "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
			deb:
			  compression: xz
			rpm:
			  compression: xz
			  buildhost: localhost
			  summary: Record of what your agents do, and the work they hand over
		YAML
		if [ -n "$window" ]; then
			cat <<-'YAML'
				overrides:
				  deb:
				    recommends: ["libgtk-3-0 | libgtk-3-0t64", "libwebkit2gtk-4.1-0"]
				  rpm:
				    recommends: ["libgtk-3.so.0()(64bit)", "libwebkit2gtk-4.1.so.0()(64bit)"]
			YAML
		fi
		echo contents:
		(cd "$root" && find usr -type f | sort) | while read -r file; do
			case $file in
			*/vendor-completions/_steward)
				entry "$root/$file" "/$file" deb
				entry "$root/$file" /usr/share/zsh/site-functions/_steward rpm
				;;
			*/doc/steward/copyright) entry "$root/$file" "/$file" deb ;;
			*) entry "$root/$file" "/$file" ;;
			esac
		done
		[ -z "$window" ] || {
			entry steward.1.gz /usr/share/man/man1/steward-desktop.1.gz
			echo '    type: symlink'
		}
	} >"$work/nfpm-$arch.yaml"
	case $arch in amd64) rpm=x86_64 ;; arm64) rpm=aarch64 ;; esac
	for target in "deb steward_${version}_$arch.deb" "rpm steward-$version-1.$rpm.rpm"; do
		"$work/bin/nfpm" package --config "$work/nfpm-$arch.yaml" --packager "${target%% *}" --target "$out/${target#* }" >&2
		within "$out/${target#* }" "$most_installer"
	done
done
