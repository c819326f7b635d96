#!/usr/bin/env bash
# Runs the random tests for long, with what make soak built and set:
#
#     fuzz      every fuzz target of the module, FUZZTIME (default 1m) each
#     races     writers that race for a type's default, RACE_ROUNDS (default 200) rounds
#     crashes   a controller that is killed, at random CRASH_ROUNDS (default 200) times
#     faults    faults of brokers, on FAULT_INSTANCES (default 500) instances and as many bindings
#     switches  svcat's switches of a default that race, SWITCH_ROUNDS (default 200) rounds
#     simulate  what svcat simulate says and what happens, in SIMULATE_ROUNDS (default 200) worlds
#     quotas    writers that race for the slots of a limit, QUOTA_ROUNDS (default 200) rounds,
#               and one limit that counts QUOTA_OBJECTS (default 10000) instances
#
# PARTS names those to run (default: all), FUZZ the targets as a regular expression. The
# output is in bin/soak.log; what each part did is told at the end. Unlike in make test, seeds are
# drawn, and are in the output.
set -euo pipefail
cd "$(dirname "$0")/.."
log=bin/soak.log
output=bin/soak.target
mkdir -p bin
: >"$log"

say() { printf '== %s (%s)\n' "$*" "$(date -u +%T)" | tee -a "$log"; }

# over says that the last target failed only because its time was over. Go before 1.27 may report that as a
# failure (golang/go#75804); what a target finds is another error. It is marked FAIL in the report.
over() { grep -A 1 '^--- FAIL: ' "$output" | grep -q -x ' *context deadline exceeded'; }

fuzz() {
	local package target
	for package in $(go list ./... | grep -v '/e2e'); do
		# -list prints the names, one a line, before the summary line.
		for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' | grep -E "${FUZZ:-.}" || true); do
			say "fuzz ${package#github.com/defaultplan/defaultplan/} $target"
			if ! go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-1m}" "$package" 2>&1 | tee "$output" | tee -a "$log"; then
				over || return 1
			fi
		done
	done
}

# scenarios runs the tests of a package, with the binaries that make named.
scenarios() {
	say "$1 $2"
	go test -vet=off -count=1 -timeout 120m -v -run "$2" "./e2e/$1" 2>&1 | tee -a "$log"
}

races() { DEFAULTPLAN_RACE_SEED=${DEFAULTPLAN_RACE_SEED:-any} DEFAULTPLAN_RACE_ROUNDS=${RACE_ROUNDS:-200} scenarios races '^TestDefaultsAreRaced$'; }
crashes() {
	CRASH_SEED=${CRASH_SEED:-any} CRASH_ROUNDS=${CRASH_ROUNDS:-200} scenarios osb '^TestCrashes$'
	CLAIMS_SEED=${CLAIMS_SEED:-any} scenarios claims '^TestCrashes$'
}
faults() {
	FAULT_SEED=${FAULT_SEED:-any} FAULT_INSTANCES=${FAULT_INSTANCES:-500} scenarios osb '^TestFaults'
	CLAIMS_SEED=${CLAIMS_SEED:-any} scenarios claims '^TestFaultsAtRandom$'
}
switches() { SWITCH_SEED=${SWITCH_SEED:-any} SWITCH_ROUNDS=${SWITCH_ROUNDS:-200} scenarios svcat '^TestSwitchRace$'; }
simulate() { DEFAULTPLAN_SIMULATE_SEED=${DEFAULTPLAN_SIMULATE_SEED:-any} DEFAULTPLAN_SIMULATE_ROUNDS=${SIMULATE_ROUNDS:-200} scenarios simulate '^TestWhatSimulateSaysHappens$'; }
quotas() {
	DEFAULTPLAN_QUOTA_ROUNDS=${QUOTA_ROUNDS:-200} DEFAULTPLAN_QUOTA_OBJECTS=${QUOTA_OBJECTS:-10000} scenarios quotas '^TestNeverOver'
}

report() {
	printf '\nWhat was run:\n'
	awk '
		$1 == "==" { part = $2 " " $3 (NF > 4 ? " " $4 : "") }
		/^fuzz: elapsed/ { execs[part] = $5; next }
		$1 == "ok" || $1 == "FAIL" && NF == 3 { printf "%-60s %s%s%s\n", part, $3, (part in execs ? ", " execs[part] " executions" : ""), ($1 == "FAIL" ? ", FAIL" : ""); sum += execs[part] }
		END { if (sum) printf "%-60s %d executions\n", "all fuzz targets", sum }' "$log"
	grep -E '_test.go:[0-9]+: .*(killed|[0-9] calls|rounds: |slots were granted|worlds, of which)' "$log" | sed 's/^ *//' || true
}
trap report EXIT

for part in ${PARTS:-fuzz races crashes faults switches quotas simulate}; do
	case $part in
	fuzz | races | crashes | faults | switches | quotas | simulate) $part ;;
	*) echo "PARTS: there is no part $part; there are: fuzz races crashes faults switches quotas simulate" >&2 && exit 2 ;;
	esac
done
