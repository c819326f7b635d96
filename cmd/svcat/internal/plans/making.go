package plans

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// undoTime bounds how long it may take to take back what was made.
const undoTime = 10 * time.Second

// A making creates several objects, all or none.
type making struct {
	env    *cli.Env
	client client.Client
	writes *cli.WriteFlags

	// made are those that this run created.
	made []client.Object
	// open is one that was sent, and that was not answered; nil if there is none.
	open client.Object
}

// all creates the objects in their order. If one cannot be created, or at Ctrl-C,
// those before it are removed again; the error then says what stands. One that is
// there already just as it would be made is left over from an earlier run that was
// killed, and is taken as it is.
func (m *making) all(ctx context.Context, objects []client.Object) error {
	for i, object := range objects {
		wanted, ok := object.DeepCopyObject().(client.Object)
		if !ok {
			return fmt.Errorf("cannot copy a %T", object)
		}
		sent := false
		err := cli.Whole(ctx, what(object)+" was created", func(ctx context.Context) error {
			sent = true
			return m.writes.Create(ctx, m.client, objects[i])
		})
		if err == nil {
			m.made = append(m.made, objects[i])
			continue
		}
		leftOver, mine := m.stands(ctx, wanted, err)
		if sent && m.writes.Stores() && unanswered(err) && !leftOver {
			m.open = wanted
		}
		if !leftOver {
			return m.undo(ctx, err)
		}
		objects[i] = wanted
		if mine {
			m.made = append(m.made, wanted)
		}
		if ctx.Err() != nil {
			return m.undo(ctx, cli.Untouched(ctx.Err()))
		}
	}
	return nil
}

// stands says that the object is there after an error, as it was to be made, and
// reads it; mine says that it was probably this very run that made it: there was no answer.
func (m *making) stands(ctx context.Context, wanted client.Object, cause error) (there, mine bool) {
	answered := !unanswered(cause)
	if answered && !apierrors.IsAlreadyExists(cause) || !m.writes.Sends() {
		return false, false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	now := blankOf(wanted)
	if err := m.client.Get(ctx, client.ObjectKeyFromObject(wanted), now); err != nil || !alike(now, wanted) {
		return false, false
	}
	cli.CopyInto(wanted, now)
	return true, !answered
}

// undo removes what was made, the last first, and returns the error of a command
// that did nothing, or that says what stands.
func (m *making) undo(ctx context.Context, cause error) error {
	if len(m.made) == 0 && m.open == nil || !m.writes.Stores() {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	var left []string
	for _, object := range slices.Backward(m.made) {
		uid := object.GetUID()
		if err := m.client.Delete(ctx, object, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			left = append(left, what(object))
		}
	}
	if len(left) > 0 {
		notef(m.env, "What was made before could not be removed again; these stand, and nothing uses them: %s", strings.Join(left, ", "))
		if cli.ExitCode(cause) == cli.ExitInterrupted {
			return &cli.Failure{Code: cli.ExitInterrupted, Err: errors.New("interrupted: not all that was made could be removed again")}
		}
		return cause
	}
	if m.open != nil {
		return m.stillOpen(ctx, cause)
	}
	notef(m.env, "What was made before was removed again (%d of them); nothing stands", len(m.made))
	return cause
}

// stillOpen looks once more for what was not answered, and says what may stand.
func (m *making) stillOpen(ctx context.Context, cause error) error {
	if len(m.made) > 0 {
		notef(m.env, "What was made before was removed again (%d of them)", len(m.made))
	}
	now := blankOf(m.open)
	err := m.client.Get(ctx, client.ObjectKeyFromObject(m.open), now)
	if err == nil && alike(now, m.open) {
		uid := now.GetUID()
		if err := m.client.Delete(ctx, now, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) == nil {
			notef(m.env, "%s came late, and was removed again; nothing stands", what(m.open))
			return cause
		}
	}
	notef(m.env, "%s may stand, or come yet: the API server did not answer; the same command once more takes it as it is", what(m.open))
	return cause
}

// unanswered says that it is not known what became of a request that was sent.
func unanswered(err error) bool {
	if cli.ExitCode(err) == cli.ExitInterrupted {
		return true
	}
	_, broken := errors.AsType[*url.Error](err)
	dial, never := errors.AsType[*net.OpError](err)
	return broken && (!never || dial.Op != "dial")
}

// what is an object in a sentence.
func what(object client.Object) string {
	kind := strings.ToLower(reflect.TypeOf(object).Elem().Name())
	return kind + " " + cli.Qualified(object.GetNamespace(), object.GetName())
}

// alike says that two objects have the same spec and that neither has an owner.
// Numbers are compared as they are written.
func alike(a, b client.Object) bool {
	if len(a.GetOwnerReferences()) > 0 || a.GetDeletionTimestamp() != nil {
		return false
	}
	one, errOne := specOf(a)
	other, errOther := specOf(b)
	return errOne == nil && errOther == nil && reflect.DeepEqual(one, other)
}

func specOf(object client.Object) (any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var whole map[string]any
	err = decoder.Decode(&whole)
	return whole["spec"], err
}
