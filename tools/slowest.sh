#!/usr/bin/env bash
# Prints the ten slowest packages of what go test printed, from stdin, and how long all
# took in sum: packages run beside each other, so that it is no wall time.
set -euo pipefail
awk '$1 == "ok" && $3 ~ /^[0-9.]+s$/ { sub("github.com/defaultplan/defaultplan/", "", $2); sub("s$", "", $3); print $3, $2 }' |
	sort -rn | awk '
		NR == 1 { print "the slowest packages, in seconds:" }
		NR <= 10 { printf "%8.1f  %s\n", $1, $2 }
		{ sum += $1 }
		END { if (NR) printf "%8.1f  all %d that were not cached\n", sum, NR }'
