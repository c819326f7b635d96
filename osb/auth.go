package osb

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Authentication is how the platform shows the broker who it is: basic authentication if
// Username or Password is set, else the bearer Token, else nothing. However it is
// printed, it tells only which of them it is.
type Authentication struct {
	Username string
	Password string
	Token    string
}

// String says which kind of authentication it is, and nothing more.
func (a Authentication) String() string {
	switch {
	case a.basic():
		return "basic (redacted)"
	case a.Token != "":
		return "bearer (redacted)"
	}
	return "none"
}

// GoString is String: %#v is no way around the redaction.
func (a Authentication) GoString() string { return a.String() }

// Format is String for every verb, also inside of a struct that is printed.
func (a Authentication) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, a.String()) }

// MarshalJSON is String in quotes.
func (a Authentication) MarshalJSON() ([]byte, error) { return []byte(`"` + a.String() + `"`), nil }

func (a Authentication) basic() bool { return a.Username != "" || a.Password != "" }

// header is the value of the Authorization header; empty for none.
func (a Authentication) header() string {
	switch {
	case a.basic():
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(a.Username+":"+a.Password))
	case a.Token != "":
		return "Bearer " + a.Token
	}
	return ""
}

// set returns what puts the header on a request. It is a closure so that the
// secret is no field of the Client, where fmt would find it.
func (a Authentication) set() func(*http.Request) {
	header := a.header()
	return func(request *http.Request) {
		if header != "" {
			request.Header.Set("Authorization", header)
		}
	}
}

// check refuses what cannot be sent. A line break at the end of a token in a Secret
// is the usual mistake, so it is told as such.
func (a Authentication) check() error {
	if strings.Contains(a.Username, ":") {
		return errors.New("the username holds a colon, which basic authentication does not allow")
	}
	lawful := func(r rune) bool { return r > ' ' && r < 0x7f }
	if strings.ContainsFunc(a.Token, func(r rune) bool { return !lawful(r) }) {
		return errors.New("the token holds a space, a line break or another character that a header cannot carry: only visible ASCII is allowed")
	}
	return nil
}

// shortestSecret is the length below which a secret is not looked for in texts: a
// password "a" would take every other word of a message.
const shortestSecret = 4

// scrubber takes the secrets out of texts that come from elsewhere: some brokers
// answer a wrong password with the header that they were sent.
func (a Authentication) scrubber() *strings.Replacer {
	var pairs []string
	encoded := ""
	if a.basic() {
		encoded = strings.TrimPrefix(a.header(), "Basic ")
	}
	for _, secret := range []string{encoded, a.Password, a.Token} {
		if len(secret) < shortestSecret {
			continue
		}
		for _, form := range WrittenForms(secret) {
			pairs = append(pairs, form, "(redacted)")
		}
	}
	return strings.NewReplacer(pairs...)
}
