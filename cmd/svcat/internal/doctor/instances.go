package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

const instancesCheck = "instances"

// instances looks which have no plan.
func (v inventory) instances(ctx context.Context) []finding {
	var undecided []string
	total := 0
	return v.check(ctx, instancesCheck, "serviceinstances", func(ctx context.Context, scope cli.Scope) error {
		undecided, total = nil, 0
		return catalog.Pages(ctx, v.reader, &v1beta1.ServiceInstanceList{}, func(object runtime.Object) error {
			instance, _ := object.(*v1beta1.ServiceInstance)
			total++
			if isUndecided(instance) {
				undecided = append(undecided, instance.Namespace+"/"+instance.Name)
			}
			return nil
		}, client.InNamespace(scope.Namespace))
	}, func(where string) []finding { return []finding{judgeInstances(total, undecided, where)} })
}

// isUndecided says that an instance is to have a plan, and has none.
func isUndecided(i *v1beta1.ServiceInstance) bool {
	return i.DeletionTimestamp.IsZero() && !i.Spec.Decided()
}

func judgeInstances(total int, undecided []string, where string) finding {
	if len(undecided) == 0 {
		return okf(instancesCheck, "all %d have a plan%s", total, where)
	}
	slices.Sort(undecided)
	namespace, name, _ := strings.Cut(undecided[0], "/")
	return warningf(instancesCheck, fmt.Sprintf("svcat explain instance/%s -n %s", name, namespace),
		"%d of %d have no plan yet%s: %s", len(undecided), total, where, some(undecided))
}
