package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// A watchdog looks for a controller that still runs on the old side. While its objects are let go
// it would take a Secret that is no binding's any more for lost, and bind again.
type watchdog struct {
	reader client.Reader
	clock  clock.PassiveClock
	out    io.Writer
}

// refuse is the error of a controller that runs. What may not be read is told.
func (w *watchdog) refuse(ctx context.Context) error {
	unseen := false
	for _, look := range []func(context.Context) (string, error){w.deployment, w.lease} {
		alive, err := look(ctx)
		switch {
		case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
			unseen = true
		case err != nil:
			return fmt.Errorf("cannot see whether a controller of the old side still runs: %w", err)
		case alive != "":
			return errors.New(alive)
		}
	}
	if !unseen {
		return nil
	}
	_, err := fmt.Fprintln(w.out, "it cannot be seen whether a controller of the old side still runs; stop it before its objects are let go")
	return err
}

// deployment describes a Deployment of a controller that has replicas.
func (w *watchdog) deployment(ctx context.Context) (string, error) {
	var found string
	err := catalog.Pages(ctx, w.reader, &appsv1.DeploymentList{}, func(object runtime.Object) error {
		d, ok := object.(*appsv1.Deployment)
		wanted := !ok || d.Spec.Replicas == nil || *d.Spec.Replicas > 0
		if ok && (wanted || d.Status.Replicas > 0) && slices.ContainsFunc(d.Spec.Template.Spec.Containers, controls) {
			found = fmt.Sprintf("cannot release while Deployment %[2]s/%[1]s of the old side runs, which is or looks like a controller: it would act on objects while they are let go; "+
				"stop it first: kubectl scale deployment %[1]s -n %[2]s --replicas=0", d.Name, d.Namespace)
		}
		return nil
	})
	return found, err
}

// controls says that a container is the controller of the retired catalog, or ours: the former
// has one image for all that it runs. A mirror may call an image otherwise, so flags that only
// these controllers have tell, too.
func controls(container corev1.Container) bool {
	image, _, _ := strings.Cut(container.Image, "@")
	folder, name := path.Split(image)
	name, _, _ = strings.Cut(name, ":")
	words := slices.Concat(container.Command, container.Args)
	retired := strings.Contains(name, "service-catalog") && slices.ContainsFunc(words, func(word string) bool { return path.Base(word) == "controller-manager" })
	if slices.ContainsFunc(words, ownFlag) {
		return true
	}
	return retired || strings.HasSuffix(folder, "defaultplan/") && name == "controller"
}

// ownFlag says that an argument is a flag that the controller of the retired catalog has, or ours.
func ownFlag(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return slices.Contains([]string{"--broker-relist-interval", "--osb-api-request-timeout", "--cluster-id-configmap-namespace"}, name)
}

// leasePrefix begins the names of the Leases of our controllers.
const leasePrefix = "defaultplan-controller"

// lease describes a Lease of a controller that is held: it may run outside the cluster.
func (w *watchdog) lease(ctx context.Context) (string, error) {
	var found string
	err := catalog.Pages(ctx, w.reader, &coordinationv1.LeaseList{}, func(object runtime.Object) error {
		if lease, ok := object.(*coordinationv1.Lease); ok && strings.HasPrefix(lease.Name, leasePrefix) && w.held(lease) {
			found = fmt.Sprintf("cannot release while Lease %[2]s/%[1]s of the old side is held by %.60[3]q: a controller would act on objects while they are let go; "+
				"stop that process first; if there is none: kubectl delete lease %[1]s -n %[2]s", lease.Name, lease.Namespace, *lease.Spec.HolderIdentity)
		}
		return nil
	})
	return found, err
}

func (w *watchdog) held(lease *coordinationv1.Lease) bool {
	spec := &lease.Spec
	if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return false
	}
	const terms = 2 // as svcat check: a holder that was not heard of for as long is lost
	return w.clock.Since(spec.RenewTime.Time).Seconds() < terms*float64(*spec.LeaseDurationSeconds)
}
