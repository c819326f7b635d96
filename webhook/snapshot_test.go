package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two plans are annotated while the plans of the type are listed: first the one that has the type itself, then the one
// that has it by its class. A reader that lists the former before and the latter afterwards would see only the second,
// which never was the default.
func TestPlansOfATypeAreOfOneRevision(t *testing.T) {
	t.Parallel()
	const before, after = "%[1]smany: small<mysql> other;%[1]smysql/db: large", "%[1]smany: small<mysql>* other;%[1]smysql/db: large*"
	for name, place := range map[string]string{"Cluster": "", "Namespace": "dev|"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, fmt.Sprintf(before, place)).env()
			w.live.fail(func(read string) error {
				if strings.Contains(read, "lassRef.name=db") {
					w.live.show(stocked(t, fmt.Sprintf(after, place)))
				}
				return nil
			})
			o := w.create(byType)
			require.NotNil(t, o.denied(), "there was no default when it began")
			assert.Contains(t, o.denied().Message, "no plan of that type is a default")
			assert.NotNil(t, w.create(byType).denied(), "there are two now")
		})
	}
}

// One plan is recorded and another annotated while the plans of the type are listed: by someone whose write was judged
// before there was a record. It never was the default.
func TestARecordThatCameMeanwhileDecides(t *testing.T) {
	t.Parallel()
	const before, after = "%[1]smysql/db: small large", "%[1]smysql/db: small^ large*"
	for name, place := range map[string]string{"Cluster": "", "Namespace": "dev|"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, fmt.Sprintf(before, place)).env()
			w.live.fail(func(read string) error {
				if strings.HasPrefix(read, "list") && strings.Contains(read, "PlanList spec.serviceType=mysql") {
					w.live.show(stocked(t, fmt.Sprintf(after, place)))
				}
				return nil
			})
			assert.Contains(t, string(w.created(byType)), `PlanRef":{"name":"db-small"}`)
		})
	}
}
