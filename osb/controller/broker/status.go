package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/events"
	"github.com/defaultplan/defaultplan/osb/controller/metrics"
	"github.com/defaultplan/defaultplan/osb/controller/relist"
)

// Reasons of brokers' conditions and events; the first words are the retired
// catalog's.
const (
	reasonFetchedCatalog      = "FetchedCatalog"
	reasonErrorFetching       = "ErrorFetchingCatalog"
	reasonErrorSyncing        = "ErrorSyncingCatalog"
	reasonErrorCredentials    = "ErrorGettingAuthCredentials"
	reasonInvalidRestrictions = "InvalidCatalogRestrictions"
	reasonPartsSkipped        = "PartsSkipped"
	reasonPlansMoved          = "PlansMoved"
	reasonCatalogShrank       = "CatalogShrank"
	reasonApplying            = "ApplyingCatalog"
	reasonMarking             = "MarkingRemoved"
	reasonDeletionWaits       = "DeletionBlockedByInstances"
	reasonDeletedCluster      = "DeletedClusterServiceBrokerSuccessfully"
	reasonDeletedNamespaced   = "DeletedSuccessfully"

	actionRelist = "Relist"
	actionDelete = "Delete"

	// maxMessage bounds the message of a condition, in bytes.
	maxMessage = 4096
	maxErrors  = 10
)

// A stage is how far a relist got.
type stage int

const (
	syncing stage = iota
	fetching
	authenticating
	restricting
)

// stageOf classifies the error of a fetch. An error that is no *osb.Error
// happened before the call: if the broker has a Secret, the Secret could not be
// used.
func stageOf(b Broker, err error) stage {
	kind := osb.KindOf(err)
	if kind == osb.Auth || kind == "" && (b.basic.Name != "" || b.bearer.Name != "") {
		return authenticating
	}
	return fetching
}

// An attempt is one try to relist.
type attempt struct {
	began, ended time.Time
	// fetched says that there was a catalog; result is the result of applying
	// it, and etag its validator.
	fetched bool
	result  relist.Result
	etag    string
	// failure is why it failed, and stage where; nil: it did not.
	failure error
	stage   stage
}

// counted is what metrics count of the attempt.
func (a *attempt) counted() metrics.Relist {
	outcome := metrics.RelistOK
	if a.failure != nil {
		outcome = map[stage]string{
			fetching: metrics.RelistFetchFailed, authenticating: metrics.RelistCredentialsFailed,
			restricting: metrics.RelistRestrictionsInvalid, syncing: metrics.RelistWriteFailed,
		}[a.stage]
	}
	return metrics.Relist{Outcome: outcome, Began: a.began, Ended: a.ended, Writes: a.result.Writes}
}

// record writes to a broker's status what came of the attempt.
func (a *attempt) record(b Broker) {
	status, generation := b.Status, b.object.GetGeneration()
	status.ObservedGeneration, status.ControllerName = generation, b.Spec.ControllerName
	if a.fetched {
		status.LastCatalogRetrievalTime = new(metav1.NewTime(a.ended))
		status.CatalogETag = ""
	}
	if a.failure == nil {
		a.recordSuccess(b)
	} else {
		a.recordFailure(b)
	}
	a.recordShrank(b)
	status.LastConditionState = v1beta1.LastConditionState(status.Conditions)
}

// recordShrank clears CatalogShrank once the catalog lists all again, or is the
// same after a while.
func (a *attempt) recordShrank(b Broker) {
	shrank, is := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionCatalogShrank)
	if !is {
		return
	}
	due := metav1.NewTime(shrank.LastTransitionTime.Add(shrankPause))
	if a.failure == nil && (a.result.Removed == 0 || !a.began.Before(due.Time)) {
		unset(b, v1beta1.ConditionCatalogShrank)
		return
	}
	a.set(b, shrank)
	if a.failure == nil {
		b.Status.NextRetry = &due
	}
}

func (a *attempt) recordSuccess(b Broker) {
	status := b.Status
	status.ReconciledGeneration = b.object.GetGeneration()
	status.OperationStartTime, status.NextRetry, status.Retries = nil, nil, 0
	if len(a.result.Skipped) == 0 {
		status.CatalogETag = a.etag
	}
	a.set(b, v1beta1.Ready(reasonFetchedCatalog, fmt.Sprintf("the catalog was taken over: classes: %d, plans: %d", a.result.Classes, a.result.Plans)))
	a.setComplete(b)
	unset(b, v1beta1.ConditionFailed, v1beta1.ConditionReconciling, v1beta1.ConditionStalled)
}

func (a *attempt) setComplete(b Broker) {
	if len(a.result.Skipped) == 0 {
		a.set(b, v1beta1.CatalogComplete(true, reasonFetchedCatalog, "all of the catalog was taken over"))
		return
	}
	reason := reasonPartsSkipped
	if a.result.Moved > 0 {
		reason = reasonPlansMoved
	}
	a.set(b, v1beta1.CatalogComplete(false, reason, shortened(relist.Summary(a.result.Skipped))))
}

func (a *attempt) recordFailure(b Broker) {
	status, message := b.Status, a.message()
	reason := map[stage]string{
		syncing: reasonErrorSyncing, fetching: reasonErrorFetching, authenticating: reasonErrorCredentials, restricting: reasonInvalidRestrictions,
	}[a.stage]
	if osb.KindOf(a.failure) == osb.Auth {
		reason = reasonErrorFetching // the Secret was read; the broker does not take it
	}
	if status.OperationStartTime == nil {
		status.OperationStartTime = new(metav1.NewTime(a.began))
	}
	a.set(b, v1beta1.NotReady(reason, message))
	if a.fetched {
		a.setComplete(b)
	}
	if a.stage == restricting {
		// Only a change of spec can help.
		status.NextRetry = nil
		a.set(b, v1beta1.Failed(reason, message))
		a.set(b, v1beta1.Stalled(reason, message))
		unset(b, v1beta1.ConditionReconciling)
		return
	}
	status.NextRetry = new(metav1.NewTime(a.ended.Add(retryAfter(b, a.stage, a.failure, status.Retries))))
	status.Retries++
	a.set(b, v1beta1.Reconciling(reason, "it is tried again; status.nextRetry says when"))
	unset(b, v1beta1.ConditionFailed, v1beta1.ConditionStalled)
}

// message is why it failed, for status.
func (a *attempt) message() string {
	if a.stage != syncing || len(a.result.Failed) == 0 {
		return shortened(a.failure.Error())
	}
	texts := make([]string, 0, maxErrors+1)
	for _, err := range a.result.Failed[:min(len(a.result.Failed), maxErrors)] {
		texts = append(texts, err.Error())
	}
	if more := len(a.result.Failed) - maxErrors; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return shortened(strings.Join(texts, "; "))
}

func (a *attempt) set(b Broker, condition v1beta1.Condition) {
	b.Status.Conditions = v1beta1.SetCondition(b.Status.Conditions, condition, b.object.GetGeneration(), metav1.NewTime(a.ended))
}

func unset(b Broker, types ...string) {
	for _, typ := range types {
		b.Status.Conditions = v1beta1.RemoveCondition(b.Status.Conditions, typ)
	}
}

func shortened(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}

// reportProgress writes into status how far a relist is.
func (r *reconciler) reportProgress(ctx context.Context, b Broker, p relist.Progress) error {
	if p.Plans == 0 {
		return r.tellMarking(ctx, b, p.Marking)
	}
	return r.note(ctx, b, func(after Broker) {
		a := attempt{ended: r.Clock.Now()}
		a.set(after, v1beta1.Reconciling(reasonApplying, fmt.Sprintf("%d of the %d plans of the catalog are applied", p.Applied, p.Plans)))
	})
}

// tellMarking writes into status how far the marking of what a catalog no
// longer lists is. The catalog is read again, also by the next process if this
// one ends meanwhile, and within a minute if it shrank.
func (r *reconciler) tellMarking(ctx context.Context, b Broker, m relist.Marking) error {
	a := attempt{ended: r.Clock.Now()}
	begins := m.Shrank() && m.Marked == 0
	message := fmt.Sprintf("%d of the %d classes and plans that were there are missing in the catalog: they are marked, "+
		"and deleted only if they are still missing when it is read again after a minute", m.Lost, m.Before)
	if begins {
		r.sweepConfirmed(ctx, b, a.ended)
	}
	err := r.note(ctx, b, func(after Broker) {
		a.set(after, v1beta1.Reconciling(reasonMarking, fmt.Sprintf("%d of %d classes and plans that the catalog lists no more are marked", m.Marked, m.Total)))
		after.Status.NextRetry = new(metav1.NewTime(a.ended.Add(shrankPause)))
		if begins {
			unset(after, v1beta1.ConditionCatalogShrank) // its time is that of the last loss
			a.set(after, v1beta1.CatalogShrank(reasonCatalogShrank, message))
		}
	})
	if err == nil && begins {
		r.event(b, corev1.EventTypeWarning, reasonCatalogShrank, actionRelist, message)
	}
	return err
}

// sweepConfirmed deletes what was missing before a catalog shrank again, and is
// still missing: otherwise a catalog with other plans at each read would never
// lose any.
func (r *reconciler) sweepConfirmed(ctx context.Context, b Broker, now time.Time) {
	shrank, is := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionCatalogShrank)
	if !is || now.Before(shrank.LastTransitionTime.Add(shrankPause)) {
		return
	}
	of, _ := relist.BrokerOf(b.object) // restrictions do not matter here
	if _, _, err := r.Engine.Sweep(ctx, of, func() error { return nil }); err != nil {
		log.FromContext(ctx).Info("not all that is listed no more could be deleted", "broker", keyOfBroker(b.object).String(), "why", err.Error())
	}
}

// note writes a change of a broker's status in the middle of a pass.
func (r *reconciler) note(ctx context.Context, b Broker, change func(after Broker)) error {
	changed, _ := b.object.DeepCopyObject().(client.Object)
	after := brokerOf(changed)
	change(after)
	if err := r.store(ctx, b, after); err != nil {
		return err
	}
	*b.Status = *after.Status
	return nil
}

// store writes the status of a broker, if it changed, and then emits events.
func (r *reconciler) store(ctx context.Context, before, after Broker) error {
	patch := client.MergeFrom(before.object)
	data, err := patch.Data(after.object)
	if err != nil {
		return fmt.Errorf("cannot compare the status of %s: %w", keyOfBroker(after.object), err)
	}
	if string(data) == "{}" {
		return nil
	}
	// The response would overwrite what is compared and told below.
	written, _ := after.object.DeepCopyObject().(client.Object)
	err = r.Client.Status().Patch(ctx, written, client.RawPatch(patch.Type(), json.RawMessage(data)), client.FieldOwner(v1beta1.FieldOwnerController))
	if err != nil {
		return fmt.Errorf("cannot write the status of %s: %w", keyOfBroker(after.object), err)
	}
	for _, typ := range []string{v1beta1.ConditionReady, v1beta1.ConditionCatalogComplete} {
		r.tell(before, after, typ)
	}
	return nil
}

// tell emits an event for a condition that changed.
func (r *reconciler) tell(before, after Broker, typ string) {
	was, _ := v1beta1.FindCondition(before.Status.Conditions, typ)
	is, _ := v1beta1.FindCondition(after.Status.Conditions, typ)
	good := is.Status == v1beta1.ConditionTrue
	same := was.Status == is.Status && was.Reason == is.Reason && (good || was.Message == is.Message || typ == v1beta1.ConditionReady)
	if same || good && typ == v1beta1.ConditionCatalogComplete {
		return
	}
	kind := corev1.EventTypeWarning
	if good {
		kind = corev1.EventTypeNormal
	}
	r.event(after, kind, is.Reason, actionRelist, is.Message)
}

func (r *reconciler) event(b Broker, kind, reason, action, note string) {
	events.Record(r.Recorder, b.object, kind, reason, action, note)
}
