package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
)

const (
	// statementKind and predicateKind are those of in-toto and of SLSA.
	statementKind = "https://in-toto.io/Statement/v1"
	predicateKind = "https://slsa.dev/provenance/v1"
	// project is where the source is.
	project = "https://github.com/defaultplan/defaultplan"
)

// A subject is a file or an image that a statement is about, with its digests by algorithm.
type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// A statement is one of in-toto with SLSA's provenance, v1: what was made, from which commit, how.
// It is not signed; docs/image.md says how to sign it.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []subject  `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     provenance `json:"predicate"`
}

type provenance struct {
	BuildDefinition buildDefinition `json:"buildDefinition"`
	RunDetails      runDetails      `json:"runDetails"`
}

type buildDefinition struct {
	BuildType            string            `json:"buildType"`
	ExternalParameters   map[string]string `json:"externalParameters"`
	InternalParameters   map[string]string `json:"internalParameters"`
	ResolvedDependencies []dependency      `json:"resolvedDependencies,omitempty"`
}

type dependency struct {
	URI    string            `json:"uri"`
	Digest map[string]string `json:"digest"`
}

type runDetails struct {
	Builder builder `json:"builder"`
}

type builder struct {
	ID string `json:"id"`
}

// provenanceOf is the statement of how subjects were made from a source, with parameters beside its
// version. It says nothing of the
// machine, so that the same commit gives the same statement.
func provenanceOf(s *source, subjects []subject, parameters map[string]string) ([]byte, error) {
	external := map[string]string{"version": s.version}
	maps.Copy(external, parameters)
	made := statement{
		Type: statementKind, Subject: subjects, PredicateType: predicateKind,
		Predicate: provenance{
			BuildDefinition: buildDefinition{
				BuildType:          project + "/blob/main/docs/image.md",
				ExternalParameters: external,
				InternalParameters: map[string]string{"go": runtime.Version()},
			},
			RunDetails: runDetails{Builder: builder{ID: project + "/tree/main/tools/image"}},
		},
	}
	if s.revision != "" {
		made.Predicate.BuildDefinition.ResolvedDependencies = []dependency{{
			URI: "git+" + project, Digest: map[string]string{"gitCommit": s.revision},
		}}
	}
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("cannot write the provenance: %w", err)
	}
	return append(text, '\n'), nil
}
