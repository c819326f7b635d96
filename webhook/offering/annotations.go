package offering

import (
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// idleAnnotations warns of annotations that a write sets on an offering
// and that have no effect, although they look like ours.
func idleAnnotations(old, now *offering) []string {
	var warnings []string
	for _, key := range []string{v1beta1.AnnotationDefaultPlan, v1beta1.AnnotationSuggestedPlan} {
		value := now.object.GetAnnotations()[key]
		if value == "" || value == "false" || value == old.object.GetAnnotations()[key] {
			continue
		}
		switch {
		case now.plan == nil:
			warnings = append(warnings, fmt.Sprintf("metadata.annotations[%s] means nothing on a class: annotate one of its plans", key))
		case value != "true":
			warnings = append(warnings, fmt.Sprintf("metadata.annotations[%s] means nothing: only \"true\" does, and it is %.32q", key, value))
		}
	}
	const prevents = v1beta1.AnnotationPreventDeletion
	if value, is := now.object.GetAnnotations()[prevents]; is && value != "true" && value != "false" && value != old.object.GetAnnotations()[prevents] {
		warnings = append(warnings, fmt.Sprintf("metadata.annotations[%s] means nothing: only \"true\" and \"false\" do, and it is %.32q", prevents, value))
	}
	return warnings
}
