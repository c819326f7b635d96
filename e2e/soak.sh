#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME (default 1m) each; then the races for
# a type's default, RACE_ROUNDS (default 200) rounds each; the controller's crashes,
# CRASH_ROUNDS (default 200); the faults of brokers, on FAULT_INSTANCES (default 500)
# instances and as many bindings; the race of svcat's switches, SWITCH_ROUNDS (default
# 200); and that for the slots of quotas, QUOTA_ROUNDS (default 200);
# QUOTA_OBJECTS is how many instances one limit counts (default 10000).
set -euo pipefail
cd "$(dirname "$0")/.."

for package in $(go list ./... | grep -v '/e2e'); do
	# -list prints the names, one a line, before the summary line.
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-1m}" "$package"
	done
done

echo "== ./e2e/races TestDefaultsAreRaced"
DEFAULTPLAN_RACE_ROUNDS="${RACE_ROUNDS:-200}" go test -race -count=1 -timeout 90m -run '^TestDefaultsAreRaced$' -v ./e2e/races

echo "== ./e2e/osb TestCrashes"
CRASH_ROUNDS="${CRASH_ROUNDS:-200}" go test -race -count=1 -timeout 90m -run '^TestCrashes$' -v ./e2e/osb

echo "== ./e2e/osb TestFaults"
FAULT_INSTANCES="${FAULT_INSTANCES:-500}" go test -race -count=1 -timeout 90m -run '^TestFaults' -v ./e2e/osb

echo "== ./e2e/svcat TestSwitchRace"
SWITCH_ROUNDS="${SWITCH_ROUNDS:-200}" go test -race -count=1 -timeout 90m -run '^TestSwitchRace$' -v ./e2e/svcat

echo "== ./e2e/quotas TestNeverOver"
DEFAULTPLAN_QUOTA_ROUNDS="${QUOTA_ROUNDS:-200}" DEFAULTPLAN_QUOTA_OBJECTS="${QUOTA_OBJECTS:-10000}" \
	go test -race -count=1 -timeout 90m -run '^TestNeverOver' -v ./e2e/quotas
