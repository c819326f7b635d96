package moving

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/apistatus"
)

// TestReasonOfAReport: an error in a row needs no word that says so, and no URL shows a password.
func TestReasonOfAReport(t *testing.T) {
	t.Parallel()
	report := &Report{}
	report.Add(&v1beta1.ServiceInstance{}, &Names{}, NotMoved, apistatus.Error(errors.New("cannot reach http://ann:secret@broker.example")))
	assert.Equal(t, "cannot reach http://broker.example", report.Objects[0].Reason)
}
