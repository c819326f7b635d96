package svcat_test

import (
	"path/filepath"
	"testing"
)

// TestLegacyTables runs the retired svcat's invocations of get, marketplace and
// describe, by every name that a command had, and prints its tables: every column and
// every space of them.
//
//nolint:tparallel // the parts share what was made; each only reads.
func TestLegacyTables(t *testing.T) {
	t.Parallel()
	s := newDisplay(t)
	db, broker, kubeName := s.Name("db"), s.Name("broker"), s.prints("get", "class", s.Name("db"), "--cluster", "-o", "jsonpath={.metadata.name}")
	cases := map[string][][]string{
		"Brokers": {
			{"get", "brokers", broker, "--scope", "cluster"}, {"get", "broker", broker, "--scope", "all"},
			{"get", "brk", broker, "--scope", "cluster", "--all-namespaces"},
		},
		"Classes": {
			{"get", "classes", db, "--scope", "cluster"}, {"get", "class", db, "--scope", "all"}, {"get", "cl", "--scope", "cluster", "-b", broker},
			{"get", "classes", "--all-namespaces", "--broker", broker}, {"get", "classes", "--kube-name", kubeName, "--scope", "cluster"},
			{"get", "class", "-k", kubeName, "--scope", "cluster"},
		},
		"Plans": {
			{"get", "plans", "--scope", "cluster", "--class", db}, {"get", "plan", "--scope", "all", "-c", db}, {"get", "pl", "-k", "-c", kubeName, "--all-namespaces"},
		},
		"Plan": {
			{"get", "plan", db + "/small", "--scope", "cluster"}, {"get", "plans", "--class", db, "small", "--scope", "cluster"},
			{"get", "plan", "--kube-name", kubeName + "/" + s.prints("get", "plan", db+"/small", "--cluster", "-o", "jsonpath={.metadata.name}"), "--scope", "all"},
		},
		"Instances": {
			{"get", "instances"}, {"get", "instance", "mydb"}, {"get", "inst", "-c", db}, {"get", "instances", "--class", db, "-p", "small"},
			{"get", "instances", "--plan", "small"}, {"get", "instances", "--all-namespaces", "--class", db},
		},
		"Bindings": {{"get", "bindings"}, {"get", "binding", "mydb-admin"}, {"get", "bnd"}},
		"Marketplace": {
			{"marketplace", "--scope", "cluster", "--type", s.Name("mysql")}, {"mp", "--all-namespaces", "--type", s.Name("mysql")},
		},
	}
	for name, invocations := range cases {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			for _, args := range invocations {
				s.golden(filepath.Join("legacy", name), s.plain(s.prints(append(args, "-o", "legacy")...)))
			}
		})
	}
	for name, invocations := range map[string][][]string{
		"Broker":             {{"describe", "brokers", broker, "--scope", "cluster"}, {"describe", "brk", broker, "--scope", "all"}},
		"Class":              {{"describe", "classes", db, "--scope", "all"}, {"describe", "cl", "-k", kubeName, "--scope", "cluster"}, {"describe", "class", db, "--all-namespaces"}},
		"PlanWithoutSchemas": {{"describe", "pl", db + "/small", "--show-schemas=false", "--scope", "cluster"}},
		"PlanSuggested":      {{"describe", "plans", db + "/small", "--scope", "all"}},
		"Instance":           {{"describe", "instances", "mydb"}, {"describe", "inst", "mydb"}},
		"Binding":            {{"describe", "bindings", "mydb-admin"}, {"describe", "bnd", "mydb-admin", "--show-secrets=false"}},
	} {
		t.Run("Describe"+name, func(t *testing.T) {
			s := s.in(t)
			for _, args := range invocations {
				s.golden(filepath.Join("describe", name), s.plain(s.prints(args...)))
			}
		})
	}
}
