package cli

import (
	"context"
	"io"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Creation is how a command creates one object.
type Creation struct {
	Env   *Env
	Write *WriteFlags
	Wait  *WaitFlags
	// Done is the sentence of it, as in "instance \"mydb\" was created".
	Done string
	// Show prints the object where -o asks for nothing else.
	Show func(w io.Writer) error
}

// Run creates the object as far as --dry-run goes, waits if that is asked for, and
// prints it.
func (c *Creation) Run(ctx context.Context, object client.Object) error {
	if c.Write.Sends() {
		writer, err := c.Env.Client()
		if err != nil {
			return err
		}
		err = Whole(ctx, c.Done, func(ctx context.Context) error { return c.Write.Create(ctx, writer, object) })
		if err != nil {
			return err
		}
	}
	var waited error
	if c.Write.Stores() {
		waited = c.Wait.Ready(ctx, c.Env, object)
	}
	// What was ordered is printed also if it failed.
	if err := c.tell(object); err != nil {
		return err
	}
	return waited
}

func (c *Creation) tell(object client.Object) error {
	if c.Write.Output != "" {
		return c.Write.printNew(c.Env, object)
	}
	if err := c.Write.tellDryRun(c.Env); err != nil {
		return err
	}
	return c.Show(c.Env.Out)
}
