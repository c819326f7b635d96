package describe

import (
	"io"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/origins"
)

// ruleRestored is admission's word for what came with its references, as from a
// backup: where its parameters came from is not known.
const ruleRestored = "restored"

// writeOrigins writes where each parameter came from: the class, the plan or the
// user. It is YAML, as are the parameters above it.
//
// sent is what the broker was sent, with "<redacted>" for each value from a Secret.
func writeOrigins(w io.Writer, parameters, sent *runtime.RawExtension, record v1beta1.AppliedDefaults) error {
	if record.Rule == "" || record.Rule == ruleRestored {
		return nil
	}
	values, err := decoded(parameters)
	if err != nil {
		return err
	}
	shown, err := decoded(sent)
	if err != nil {
		return err
	}
	list := origins.Of(values, shown, record)
	if list.Len() == 0 {
		return nil
	}
	if err := writeList(w, "Parameters come from", list); err != nil || !record.Truncated {
		return err
	}
	return writeText(w, "  # there are more defaults than the record of them can hold\n")
}
