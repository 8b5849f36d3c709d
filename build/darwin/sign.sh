#!/usr/bin/env bash
# sign.sh app APP | dmg DMG
#
# On a Mac: signs the bundle, with the hardened runtime, or signs the disk image
# and has Apple notarise it; then verifies. Without a certificate the bundle gets
# an ad-hoc signature, which runs on the Mac that it is taken to only after its
# owner has allowed it there.
#
#   STEWARD_MAC_P12            the "Developer ID Application" certificate with its
#                              key, a PKCS#12 file
#   STEWARD_MAC_P12_PASSWORD   its password
#   STEWARD_NOTARY_KEY         a key of App Store Connect, a .p8 file
#   STEWARD_NOTARY_KEY_ID      its id
#   STEWARD_NOTARY_ISSUER      its issuer's id
set -euo pipefail
what=$1 file=$2
here=$(cd "$(dirname "$0")" && pwd)

say() { printf 'macos: %s\n' "$*" >&2; }

identity=- how=()
if [ -n "${STEWARD_MAC_P12:-}" ]; then
	# The key is in a keychain of its own, for as long as this runs.
	keychain=$(mktemp -d)/sign.keychain-db
	password=$(openssl rand -hex 24)
	before=$(security list-keychains -d user | tr -d '"')
	trap 'security list-keychains -d user -s $before; security delete-keychain "$keychain"; rm -rf "$(dirname "$keychain")"' EXIT
	security create-keychain -p "$password" "$keychain"
	security unlock-keychain -p "$password" "$keychain"
	security import "$STEWARD_MAC_P12" -k "$keychain" -f pkcs12 -P "${STEWARD_MAC_P12_PASSWORD:-}" -T /usr/bin/codesign >/dev/null
	security set-key-partition-list -S apple-tool:,apple: -s -k "$password" "$keychain" >/dev/null
	# shellcheck disable=SC2086 # one word for each keychain
	security list-keychains -d user -s "$keychain" $before
	identity=$(security find-identity -v -p codesigning "$keychain" | awk '/Developer ID Application/ { print $2; exit }')
	[ -n "$identity" ] || { say "$STEWARD_MAC_P12 holds no valid Developer ID Application certificate" && exit 1; }
	how=(--timestamp --keychain "$keychain")
fi

sign() { codesign --force --sign "$identity" ${how[@]+"${how[@]}"} "$@"; }

case $what in
app)
	# What is inside first. Only the window runs a web view, which compiles.
	sign --options runtime "$file/Contents/MacOS/steward"
	sign --options runtime --entitlements "$here/entitlements.plist" "$file"
	codesign --verify --strict --deep --verbose=2 "$file"
	[ "$identity" != - ] || say 'STEWARD_MAC_P12 is not set: the signature is ad hoc, and nothing is notarised'
	;;
dmg)
	[ "$identity" != - ] || exit 0
	sign "$file"
	if [ -z "${STEWARD_NOTARY_KEY:-}" ]; then
		say 'STEWARD_NOTARY_KEY is not set: signed, but not notarised'
		exit 0
	fi
	xcrun notarytool submit "$file" --wait --timeout 30m \
		--key "$STEWARD_NOTARY_KEY" --key-id "$STEWARD_NOTARY_KEY_ID" --issuer "$STEWARD_NOTARY_ISSUER"
	xcrun stapler staple "$file"
	spctl --assess --type open --context context:primary-signature --verbose=2 "$file"
	;;
*) say "sign what: app or dmg" && exit 2 ;;
esac
