# shellcheck shell=sh
# Sourced at the top of the tree: which commit this is, and its time, which stands
# in packages for the time of making them. A tree without git has neither.
# shellcheck disable=SC2034 # the scripts that source this use it
commit=$(git rev-parse HEAD 2>/dev/null || true)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH
