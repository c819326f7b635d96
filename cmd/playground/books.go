package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// askTimeout bounds a question to a broker on the same machine.
const askTimeout = 10 * time.Second

// Books are what a broker has, for people: no credential, no parameter.
type Books struct {
	Rows []Row `json:"rows"`
	// Violations are the calls that broke a duty of the specification.
	Violations []string `json:"violations"`
}

// A Row is an instance or a binding.
type Row struct {
	// Kind is instance or binding, Of the object of the cluster as NAMESPACE/NAME, which
	// for a binding is that of its instance, Plan its plan as CLASS/PLAN.
	Kind, Of, Plan, State string
	// User is for whom it was asked.
	User string
}

func newBooks() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "books",
		Short: "Show what the brokers have on their books",
		Long:  "Asks each broker what it really has: its instances and bindings, and for whom. No credential is shown.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range brokerNames {
				if err := showBooks(cmd.Context(), cmd.OutOrStdout(), dir, name); err != nil {
					return err
				}
			}
			return nil
		},
	}
	bindDir(cmd, &dir)
	return cmd
}

func showBooks(ctx context.Context, out io.Writer, dir, name string) error {
	e, err := readEntry(dir, name)
	if err != nil {
		return err
	}
	answer, err := e.ask(ctx, http.MethodGet, booksPath, "")
	if err != nil {
		return err
	}
	var books Books
	if err := json.Unmarshal(answer, &books); err != nil {
		return fmt.Errorf("cannot read the books of broker %q: %w", name, err)
	}
	if len(books.Rows) == 0 {
		sayf(out, "%s: nothing\n", name)
	} else {
		sayf(out, "%s:\n", name)
	}
	for _, row := range books.Rows {
		sayf(out, "  %-8s of %s, plan %s, %s, for %s\n", row.Kind, row.Of, row.Plan, row.State, row.User)
	}
	for _, violation := range books.Violations {
		sayf(out, "  not as the specification says: %s\n", violation)
	}
	return nil
}

// ask sends a request to what a broker serves beside its API.
func (e *entry) ask(ctx context.Context, method, path, body string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, e.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("cannot ask broker %q: %w", e.Name, err)
	}
	request.SetBasicAuth(e.Username, e.Password)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("cannot ask broker %q: %w", e.Name, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, strings.TrimSpace(string(answer)))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot ask broker %q: %w", e.Name, err)
	}
	return answer, nil
}

// booksOf are the books of a broker with that catalog.
func booksOf(broker *osbtest.Broker, catalog []byte) Books {
	books, plans := Books{Rows: []Row{}, Violations: []string{}}, planNames(catalog)
	for _, i := range broker.Instances() {
		books.Rows = append(books.Rows, Row{"instance", nameIn(i.Context), plans[i.PlanID], string(i.State), userOf(i.Identity)})
	}
	for _, b := range broker.Bindings() {
		books.Rows = append(books.Rows, Row{"binding", nameIn(b.Context), plans[b.PlanID], string(b.State), userOf(b.Identity)})
	}
	slices.SortFunc(books.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(b.Kind, a.Kind), cmp.Compare(a.Plan, b.Plan))
	})
	for _, violation := range broker.Violations() {
		books.Violations = append(books.Violations, violation.String())
	}
	return books
}

// planNames are the plans of a catalog as CLASS/PLAN, by their IDs.
func planNames(catalog []byte) map[string]string {
	var offered struct {
		Services []struct {
			Name  string
			Plans []struct{ ID, Name string }
		}
	}
	names := map[string]string{}
	if json.Unmarshal(catalog, &offered) != nil {
		return names // the broker takes no such catalog
	}
	for _, service := range offered.Services {
		for _, plan := range service.Plans {
			names[plan.ID] = service.Name + "/" + plan.Name
		}
	}
	return names
}

// nameIn is the object that a context tells of.
func nameIn(context map[string]any) string {
	return fmt.Sprintf("%v/%v", context["namespace"], context["instance_name"])
}

func userOf(identity *osbtest.Identity) string {
	if identity == nil {
		return "no user"
	}
	return fmt.Sprint(identity.Value["username"])
}
