#!/usr/bin/env bash
# Runs make TARGET... with an empty build cache (GOCACHE_ONCE: with that one), and counts
# what was compiled outside the project, with the race detector and without. It fails if
# a package was compiled twice for one mode. Targets of one module belong together:
#
#     tools/once.sh bin/webhook bin/controller bin/svcat bin/playground
#
# The modules of e2e/scenarios.work have the same versions, and belong together too. Others, such
# as that of the control plane, compile again what they have in another version: tools/once.sh build
# says what that costs.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${GOCACHE_ONCE:-}
if [ -z "$cache" ]; then
	cache=$(mktemp -d)
	trap 'rm -rf "$cache"' EXIT
fi
log=$(mktemp)
TIMEFORMAT='%0R s, processors: %0U s user, %0S s system'
time GOCACHE=$cache GOFLAGS="$(go env GOFLAGS) -x" make "$@" >"$log" 2>&1 || { tail -n 20 "$log"; exit 1; }

# A line is: .../compile -o ... -trimpath "FOLDER=>PACKAGE@VERSION/...;..." -p PACKAGE ... -race ...
grep -E '/compile -o [^ ]+ .* -p ' "$log" | grep -v -- '=>github.com/defaultplan/' | awk '
	{
		mode = / -race / ? "race" : "plain"
		match($0, /=>[^;"]*/)
		package = substr($0, RSTART + 2, RLENGTH - 2)
		if (package == "") { match($0, / -p [^ ]+/); package = substr($0, RSTART + 4, RLENGTH - 4) }
		count[mode]++
		if (++seen[mode " " package] == 2) { twice[mode]++; if (twice[mode] <= 10) print "compiled twice: " package " (" mode ")" }
	}
	END {
		for (mode in count) printf "%s: %d packages outside the project, %d of them twice\n", mode, count[mode], twice[mode]
		exit twice["race"] + twice["plain"] > 0
	}'
rm -f "$log"
