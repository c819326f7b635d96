package osb

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// header is the value of X-Broker-API-Originating-Identity: the platform and, in
// base64 with padding, the user with all four keys ("Originating Identity Header").
// Lists are [] and maps {} where they are empty, never null.
func (i Identity) header() (string, error) {
	user := i.Value
	if user.Groups == nil {
		user.Groups = []string{}
	}
	extra := make(map[string][]string, len(user.Extra))
	for key, values := range user.Extra {
		if values == nil {
			values = []string{}
		}
		extra[key] = values
	}
	user.Extra = extra
	encoded, err := json.Marshal(user)
	if err != nil {
		return "", fmt.Errorf("cannot encode the originating identity: %w", err)
	}
	return cmp.Or(i.Platform, "kubernetes") + " " + base64.StdEncoding.EncodeToString(encoded), nil
}
