package controller

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

func TestDiffers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		found  osb.Instance
		want   string
	}{
		"Same":        {reason: "all that is told agrees", found: osb.Instance{ServiceID: "class", PlanID: "plan", Parameters: json.RawMessage(`{"size": 1.0, "deep": {"b": 2, "a": 1}}`)}},
		"ToldNothing": {reason: "many brokers do not tell", found: osb.Instance{}},
		"ToldMore":    {reason: "what the broker adds is its own affair", found: osb.Instance{Parameters: json.RawMessage(`{"size": 1, "host": "h"}`)}},
		"ToldLess":    {reason: "what it keeps to itself may be the same", found: osb.Instance{Parameters: json.RawMessage(`{"host": "h"}`)}},
		"Unreadable":  {reason: "it tells nothing", found: osb.Instance{Parameters: json.RawMessage(`[1]`)}},
		"Class":       {reason: "another service", found: osb.Instance{ServiceID: "other", PlanID: "plan"}, want: "it is of another class"},
		"Plan":        {reason: "another plan", found: osb.Instance{ServiceID: "class", PlanID: "other"}, want: "it is of another plan"},
		"All":         {reason: "who mends the spec mends all at once", found: osb.Instance{PlanID: "other", Parameters: json.RawMessage(`{"size": 2, "deep": {"a": 3}}`)}, want: `it is of another plan; its parameter "deep" has another value; its parameter "size" has another value`},
		"Version":     {reason: "it is recorded, and no difference", found: osb.Instance{ServiceID: "class", MaintenanceVersion: "0.1.0"}},
		"Value":       {reason: "its name is told, its value is not", found: osb.Instance{Parameters: json.RawMessage(`{"size": 2}`)}, want: `its parameter "size" has another value`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values, err := merge.Decode([]byte(`{"size": 1, "deep": {"a": 1, "b": 2}}`))
			assert.NoError(t, err)
			s := &instanceRequest{parameters: parameters.Set{Values: values}, desired: &lifecycle.Desired{}}
			s.desired.ClassExternalID, s.desired.PlanExternalID = "class", "plan"
			assert.Equal(t, test.want, s.differs(&test.found), test.reason)
		})
	}
}

func TestAtBroker(t *testing.T) {
	t.Parallel()
	before, after := &lifecycle.Request{PlanName: "before"}, &lifecycle.Request{PlanName: "after"}
	for name, test := range map[string]struct {
		reason string
		record lifecycle.Record
		want   *lifecycle.Request
	}{
		"Nothing":      {reason: "nothing was sent"},
		"FirstTry":     {reason: "it may have been made", record: lifecycle.Record{Operation: lifecycle.Deprovisioning, InProgress: after, Retries: 1}, want: after},
		"Known":        {reason: "as it was taken", record: lifecycle.Record{Operation: lifecycle.Deprovisioning, Applied: before, Retries: 1}, want: before},
		"Unknown":      {reason: "first as it was", record: lifecycle.Record{Operation: lifecycle.Deprovisioning, Applied: before, InProgress: after}, want: before},
		"UnknownAgain": {reason: "then as it may be", record: lifecycle.Record{Operation: lifecycle.Deprovisioning, Applied: before, InProgress: after, Retries: 1}, want: after},
		"UnknownThird": {reason: "and in turns", record: lifecycle.Record{Operation: lifecycle.Deprovisioning, Applied: before, InProgress: after, Retries: 2}, want: before},
		"Update":       {reason: "an update is polled with the plan before it", record: lifecycle.Record{Operation: lifecycle.Updating, Applied: before, InProgress: after, Retries: 1}, want: before},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Same(t, test.want, atBroker(&test.record), test.reason)
		})
	}
}
