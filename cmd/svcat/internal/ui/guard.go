package ui

import (
	"crypto/rand"
	"crypto/subtle"
	"mime"
	"net/http"
	"strings"
	"sync"
)

const (
	// entrance is where the token is exchanged for the cookie.
	entrance = "/enter/"
	// assetsPath is what is the same for everybody, and needs no cookie.
	assetsPath = "/assets/"
	// maxBody is how many bytes of a form are read: more than an API server takes.
	maxBody = 2 << 20
)

// policy is the Content-Security-Policy of every answer: nothing is loaded but our own
// three files, and forms go nowhere else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// A guard lets one browser in, and keeps other people, other pages of that browser and
// other names for this address out.
type guard struct {
	// host is the only Host that is answered: a page of another name that resolves to
	// the loopback (DNS rebinding) is not.
	host string
	// cookie is the name of ours: browsers keep the cookies of all ports together.
	cookie  string
	session string

	mutex sync.Mutex
	// token is spent when it was shown once.
	token string
	spent bool
}

// newGuard guards the address HOST:PORT with a token and a session of 128 random bits
// each at least.
func newGuard(host string) *guard {
	_, port, _ := strings.Cut(host, ":")
	return &guard{host: host, cookie: "svcat-ui-" + port, session: rand.Text(), token: rand.Text()}
}

// address is where a browser is let in, once.
func (g *guard) address() string { return g.origin() + entrance + g.token }

func (g *guard) origin() string { return "http://" + g.host }

// protect is the handler behind the guard.
func (g *guard) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if code, why := g.refusal(r); code != 0 {
			if code == http.StatusMethodNotAllowed {
				w.Header().Set("Allow", "GET, HEAD, POST")
			}
			refuse(w, r, code, why)
			return
		}
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, entrance):
			g.enter(w, r)
		case strings.HasPrefix(path, assetsPath), g.known(r):
			next.ServeHTTP(w, r)
		default:
			refuse(w, r, http.StatusForbidden, "This page is for the browser that opened the address which svcat ui printed. Open that address; if it was opened before, start svcat ui again.")
		}
	})
}

// harden sets what every answer has.
func harden(header http.Header) {
	for name, value := range map[string]string{
		"Content-Security-Policy":      policy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Cache-Control":                "no-store",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		// With no-referrer browsers say Origin: null of our own forms, too.
		"Referrer-Policy":    "same-origin",
		"Permissions-Policy": "camera=(), geolocation=(), microphone=()",
	} {
		header.Set(name, value)
	}
}

// refusal says why a request is none of ours, from any sender; the code is 0 for one
// that is.
func (g *guard) refusal(r *http.Request) (code int, why string) {
	if r.Host != g.host {
		return http.StatusMisdirectedRequest, "This address answers to " + g.origin() + " only."
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed, "Only GET, HEAD and POST are answered."
	}
	// Browsers send along the cookie with what another port of this machine asks for.
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" && site != "none" && !strings.HasPrefix(r.URL.Path, entrance) {
		return http.StatusForbidden, "Another page asked for this one. Open the marketplace in a tab of its own."
	}
	if r.Method != http.MethodPost {
		return 0, ""
	}
	// Browsers say of every POST where it comes from.
	if r.Header.Get("Origin") != g.origin() {
		return http.StatusForbidden, "This form was not sent from a page of " + g.origin() + "."
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return http.StatusUnsupportedMediaType, "Only forms are taken."
	}
	return 0, ""
}

// known says that the request has our cookie.
func (g *guard) known(r *http.Request) bool {
	for _, cookie := range r.CookiesNamed(g.cookie) {
		if same(cookie.Value, g.session) {
			return true
		}
	}
	return false
}

// enter exchanges the token for the cookie. It answers with a page that goes on by
// itself, not with a redirect: browsers keep a SameSite=Strict cookie back on a
// redirect of what another program or page had them open.
func (g *guard) enter(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch") {
		refuse(w, r, http.StatusMethodNotAllowed, "The address is to be opened, not looked at beforehand.")
		return
	}
	if !g.known(r) {
		if !g.spend(strings.TrimPrefix(r.URL.Path, entrance)) {
			refuse(w, r, http.StatusForbidden, "This address is not valid, or it was opened before: it works once. Start svcat ui again.")
			return
		}
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // there is no TLS on the loopback
			Name: g.cookie, Value: g.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
	}
	render(w, r, http.StatusOK, "enter", &page{Title: "Welcome"})
}

// spend takes the token, once.
func (g *guard) spend(token string) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.spent || !same(token, g.token) {
		return false
	}
	g.spent = true
	return true
}

// same compares in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// refuse answers with a page that says why.
func refuse(w http.ResponseWriter, r *http.Request, code int, why string) {
	render(w, r, code, "refused", &page{Title: http.StatusText(code), Body: why})
}
