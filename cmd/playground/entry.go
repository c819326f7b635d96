package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// brokersFolder, within the folder of a stack, has an entry for each of its brokers.
const brokersFolder = "brokers"

// brokerNamespace has the Secrets with which the cluster calls the brokers.
const brokerNamespace = "brokers"

// brokerNames are the brokers of every stack.
var brokerNames = []string{osbtest.Azure, osbtest.Inhouse}

// An entry is where a running broker is and how it is called. It is written by the
// broker's own process: no other process knows the password, and no command line has it.
type entry struct {
	Name     string `json:"name"`
	URL      string `json:"url"`
	Username string `json:"username"`
	Password string `json:"password"`
}

func entryFile(dir, broker string) string {
	return filepath.Join(dir, brokersFolder, broker+".json")
}

// readEntry reads the entry of one broker of the stack in dir.
func readEntry(dir, broker string) (entry, error) {
	if !slices.Contains(brokerNames, broker) {
		return entry{}, fmt.Errorf("cannot find broker %q: there are %s", broker, strings.Join(brokerNames, ", "))
	}
	content, err := os.ReadFile(entryFile(dir, broker))
	if errors.Is(err, fs.ErrNotExist) {
		return entry{}, fmt.Errorf("cannot find broker %q in %q: nothing was started there, see `playground up`", broker, dir)
	}
	if err != nil {
		return entry{}, fmt.Errorf("cannot read the entry of broker %q: %w", broker, err)
	}
	var e entry
	if err := json.Unmarshal(content, &e); err != nil {
		return entry{}, fmt.Errorf("cannot read the entry of broker %q: %w", broker, err)
	}
	return e, nil
}

// write stores the entry whole: a reader that finds the file finds all of it.
func (e *entry) write(file string) error {
	content, err := json.Marshal(e) //nolint:gosec // the file is where the password is kept
	if err != nil {
		return fmt.Errorf("cannot encode the entry of broker %q: %w", e.Name, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("cannot make a folder for brokers: %w", err)
	}
	draft := file + ".new"
	if err := os.WriteFile(draft, content, 0o600); err != nil {
		return fmt.Errorf("cannot write the entry of broker %q: %w", e.Name, err)
	}
	if err := os.Rename(draft, file); err != nil {
		return fmt.Errorf("cannot write the entry of broker %q: %w", e.Name, err)
	}
	return nil
}

// registration is the broker as an operator registers it.
func (e *entry) registration() string {
	return fmt.Sprintf(`apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceBroker
metadata:
  name: %s
spec:
  url: %s
  authInfo:
    basic:
      secretRef: {namespace: %s, name: %s}
`, e.Name, e.URL, brokerNamespace, e.Name)
}

// secret is the Secret that the registration names.
func (e *entry) secret() string {
	return fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {namespace: %s, name: %s}
stringData: {username: %q, password: %q}
`, brokerNamespace, e.Name, e.Username, e.Password)
}

// layOut writes into dir what is needed to register the broker by hand: NAME.yaml, and
// NAME.env with the credentials.
func (e *entry) layOut(dir string) error {
	credentials := fmt.Sprintf("username=%s\npassword=%s\n", e.Username, e.Password)
	return errors.Join(
		os.WriteFile(filepath.Join(dir, e.Name+".yaml"), []byte(e.registration()), 0o600),
		os.WriteFile(filepath.Join(dir, e.Name+".env"), []byte(credentials), 0o600),
	)
}
