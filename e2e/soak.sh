#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME (default 1m) each.
set -euo pipefail
cd "$(dirname "$0")/.."

for package in $(go list ./... | grep -v '/e2e'); do
	# -list prints the names, one a line, before the summary line.
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-1m}" "$package"
	done
done
