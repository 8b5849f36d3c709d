#!/bin/sh
# ldflags.sh VERSION [COMMIT]
#
# Prints what the linker writes into both programs.
set -eu
printf -- '-X steward/app/cli.version=%s' "$1"
[ -z "${2:-}" ] || printf -- ' -X steward/app/cli.commit=%s' "$2"
[ -z "${STEWARD_UPDATE_ADDRESS:-}" ] || printf -- ' -X steward/app/update.address=%s' "$STEWARD_UPDATE_ADDRESS"
[ -z "${STEWARD_UPDATE_KEY:-}" ] || printf -- ' -X steward/app/update.publicKey=%s' "$STEWARD_UPDATE_KEY"
[ -z "${STEWARD_UPDATE_NOTES:-}" ] || printf -- ' -X steward/app/update.notes=%s' "$STEWARD_UPDATE_NOTES"
