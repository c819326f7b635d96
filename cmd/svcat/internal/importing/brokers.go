package importing

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// A brokerStep registers the brokers of the file, or finds them here.
type brokerStep struct {
	*side

	contents *moving.Contents
	auth     *auth
	// taken maps the title of a broker of the file to what became of it.
	taken map[string]*outcome
}

// moveBrokers makes the brokers of the file be here, and waits until their catalogs are taken over.
// It returns what became of each, by its title.
func moveBrokers(ctx context.Context, s *side, contents *moving.Contents, secrets *secretFlags) map[string]*outcome {
	step := &brokerStep{s, contents, &auth{s, contents, secrets}, map[string]*outcome{}}
	outcomes := make([]*outcome, 0, len(contents.Brokers))
	for _, broker := range contents.Brokers {
		o := &outcome{exported: broker}
		o.attempt(ctx, func() error { return step.one(ctx, broker, o) })
		step.taken[moving.Title(broker)] = o
		outcomes = append(outcomes, o)
	}
	s.settle(ctx, outcomes)
	return step.taken
}

func (b *brokerStep) one(ctx context.Context, exported v1beta1.BrokerObject, o *outcome) error {
	namespace := b.names.New(exported.GetNamespace())
	here, why, err := b.sameAddress(ctx, namespace, exported)
	switch {
	case err != nil:
		return err
	case why != "":
		o.endf(moving.Conflict, "%s", why)
		return nil
	case here != nil:
		o.here, o.existed = here, true
		return nil
	}
	broker, _ := exported.DeepCopyObject().(v1beta1.BrokerObject)
	bare(broker, b.names.Place(exported))
	broker.GetSpec().RelistRequests = 0
	*broker.GetStatus() = v1beta1.CommonServiceBrokerStatus{}
	if why, err := b.auth.give(ctx, exported, broker); err != nil || why != "" {
		o.endf(moving.NotMoved, "%s", why)
		return err
	}
	if b.lacking[namespace] {
		o.endf(moving.WouldMove, "at %s; not tried: its namespace is not here yet", where(exported))
		return nil
	}
	if err := b.create(ctx, broker); err != nil {
		return err
	}
	if b.dryRun {
		o.endf(moving.WouldMove, "at %s", where(exported))
		return nil
	}
	o.here, o.where = broker, where(broker)
	return nil
}

// sameAddress is the broker of this cluster that has the address of one of the file, in the same
// scope: that of the same name, or the only one. Without one it says whether another has its name.
func (b *brokerStep) sameAddress(ctx context.Context, namespace string, exported v1beta1.BrokerObject) (here v1beta1.BrokerObject, why string, err error) {
	named := v1beta1.NewBroker(namespace)
	err = b.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: exported.GetName()}, named)
	if err == nil && address(named) == address(exported) {
		return named, "", nil
	}
	taken := err == nil
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, "", fmt.Errorf("cannot read broker %q: %w", exported.GetName(), err)
	}
	all, err := catalog.All(ctx, b.client, catalog.Query{Scope: cli.ScopeOf(namespace)}, catalog.Brokers)
	if err != nil {
		return nil, "", err
	}
	for _, other := range all {
		if address(other.Object) != address(exported) {
			continue
		}
		if here != nil {
			return nil, fmt.Sprintf("brokers %q and %q here have its address, and none its name: deregister one of them", here.GetName(), other.Object.GetName()), nil
		}
		here = other.Object
	}
	if here == nil && taken {
		return nil, "a broker of that name is here with another address: register this one under another name with svcat register, and import again, which finds it by its address", nil
	}
	return here, "", nil
}

// address is where a broker is, without what is written differently only.
func address(broker v1beta1.BrokerObject) string {
	return strings.TrimRight(broker.GetSpec().URL, "/")
}

// where is the address of a broker as a person is told it, on one line, before credentials are sent there
// and after it: the file may have anything as an address.
func where(broker v1beta1.BrokerObject) string {
	spec := broker.GetSpec()
	at := termtext.Line(cli.WithoutCredentials(spec.URL))
	if spec.InsecureSkipTLSVerify {
		return at + "; its certificate is not verified (spec.insecureSkipTLSVerify)"
	}
	return at
}

// bare makes an object of the file one that can be created in a place.
func bare(object client.Object, place types.NamespacedName) {
	moving.Strip(object)
	object.SetNamespace(place.Namespace)
	object.SetName(place.Name)
	object.SetUID("")
	object.SetGeneration(0)
	object.SetOwnerReferences(nil)
	object.SetDeletionTimestamp(nil)
	object.SetDeletionGracePeriodSeconds(nil)
	object.SetGenerateName("")
	object.SetCreationTimestamp(zeroTime)
	annotations := object.GetAnnotations()
	delete(annotations, v1beta1.AnnotationDeprovisionAdopted)
	object.SetAnnotations(annotations)
}
