#!/bin/sh
# sums.sh FOLDER
#
# Writes FOLDER/SHA256SUMS over every file of a release, and with STEWARD_SIGNING_KEY,
# the file of an Ed25519 key in PEM, FOLDER/SHA256SUMS.sig beside it: the raw
# signature of its bytes, in base64, which `steward update` checks. A key is made by
#
#   openssl genpkey -algorithm ed25519 -out release.pem
#
# and its public half, as STEWARD_UPDATE_KEY takes it, is shown here at each signing.
set -eu
cd "$1"
rm -f SHA256SUMS SHA256SUMS.sig
find . -maxdepth 1 -type f ! -name '.*' | sed 's|^\./||' | LC_ALL=C sort | while read -r file; do
	if command -v sha256sum >/dev/null 2>&1; then sha256sum "$file"; else shasum -a 256 "$file"; fi
done >.sums
mv .sums SHA256SUMS

if [ -z "${STEWARD_SIGNING_KEY:-}" ]; then
	echo 'sums: STEWARD_SIGNING_KEY is not set: SHA256SUMS is unsigned, and no program will take it for an update' >&2
	exit
fi
raw=$(mktemp)
trap 'rm -f "$raw"' EXIT
openssl pkeyutl -sign -rawin -inkey "$STEWARD_SIGNING_KEY" -in SHA256SUMS -out "$raw"
openssl base64 -A -in "$raw" >SHA256SUMS.sig
echo >>SHA256SUMS.sig
# The last 32 bytes of the DER form are the key itself.
key=$(openssl pkey -in "$STEWARD_SIGNING_KEY" -pubout -outform DER | tail -c 32 | openssl base64 -A)
echo "sums: SHA256SUMS is signed; the public key is $key" >&2
if [ -n "${STEWARD_UPDATE_KEY:-}" ] && [ "$STEWARD_UPDATE_KEY" != "$key" ]; then
	echo 'sums: the programs were built with another STEWARD_UPDATE_KEY and would refuse this' >&2
	exit 1
fi
