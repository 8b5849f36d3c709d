#!/usr/bin/env bash
# sign.sh FILE
#
# Signs a program for Windows in place, then verifies what it has signed. Without
# a certificate it does nothing.
#
#   STEWARD_WINDOWS_CERT           the certificate with its key, a PKCS#12 file
#   STEWARD_WINDOWS_CERT_PASSWORD  its password, if it has one
#   STEWARD_WINDOWS_CERT_CA        PEM file of the authorities that the signature is
#                                  verified against; by default the system's own
#   STEWARD_WINDOWS_TIMESTAMP      address of a time-stamping service. Without one
#                                  the signature ends with the certificate
set -euo pipefail
file=$1
[ -n "${STEWARD_WINDOWS_CERT:-}" ] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(umask 077 && printf '%s' "${STEWARD_WINDOWS_CERT_PASSWORD:-}" >"$work/password")
ca=${STEWARD_WINDOWS_CERT_CA:-/etc/ssl/certs/ca-certificates.crt}
stamp=()
[ -z "${STEWARD_WINDOWS_TIMESTAMP:-}" ] || stamp=(-ts "$STEWARD_WINDOWS_TIMESTAMP")

osslsigncode sign -pkcs12 "$STEWARD_WINDOWS_CERT" -readpass "$work/password" -h sha256 -n Steward "${stamp[@]}" \
	-in "$file" -out "$work/signed" >"$work/said" || { cat "$work/said" >&2; exit 1; }
osslsigncode verify -CAfile "$ca" -TSA-CAfile "$ca" -in "$work/signed" >"$work/said" || {
	cat "$work/said" >&2
	echo "sign.sh: the signature of $(basename "$file") does not verify against $ca" >&2
	exit 1
}
cat "$work/signed" >"$file" # keeps the file's mode
