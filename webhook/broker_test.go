package webhook

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/webhook/review"
)

// authority is the certificate of some authority, in PEM.
var authority = sync.OnceValue(func() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
})

// bundle is the spec of a broker with that bundle of certificates.
func bundle(text string) string {
	return fmt.Sprintf(`{"url":"https://b","caBundle":%q}`, base64.StdEncoding.EncodeToString([]byte(text)))
}

const (
	basicAuth  = `"basic":{"secretRef":{"namespace":"infra","name":"azure"}}`
	bearerAuth = `"bearer":{"secretRef":{"namespace":"infra","name":"token"}}`

	plainBroker  = `{"url":"https://b"}`
	secretBroker = `{"url":"https://b","authInfo":{` + basicAuth + `}}`

	aliceReads = "alice get secrets infra/azure"
)

// brokerRules are the rules of brokers, each kept and broken.
func brokerRules() map[string]ruleCase {
	unreadable := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("nonsense")}))
	others := "# my authority\n" + string(pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte("x")})) + authority() + authority()
	all := map[string]ruleCase{
		"Plain":              {reason: "A URL is enough.", spec: plainBroker},
		"Relist":             {reason: "A count goes up.", old: `{"url":"https://b","relistRequests":1}`, spec: `{"url":"https://b","relistRequests":2}`},
		"RelistLeftOut":      {reason: "Not to say it is not to change it.", old: `{"url":"https://b","relistRequests":7}`, spec: `{"url":"https://c"}`},
		"UrlPassword":        {reason: "A password belongs into a Secret.", spec: `{"url":"https://ann:s3cret@b"}`, denied: "InvalidURL"},
		"UrlToken":           {reason: "So does a token.", spec: `{"url":"https://t0ken@b/x"}`, denied: "InvalidURL"},
		"UrlOfNoHost":        {reason: "What the schema would refuse, and repeat.", spec: `{"url":"ann:s3cret@b"}`, denied: "InvalidURL"},
		"UrlUnreadable":      {reason: "The schema would repeat this, too.", spec: `{"url":"https://ann:s3cret%zz@b"}`, denied: "InvalidURL"},
		"UrlOfABase64":       {reason: "A token with a slash looks like a host and a path.", spec: `{"url":"https://dG9r/ZW4=@b"}`, denied: "InvalidURL"},
		"UrlQuery":           {reason: "So is a token in a query.", spec: `{"url":"https://b/?token=s3cret"}`, denied: "InvalidURL"},
		"UrlFragment":        {reason: "And in a fragment.", spec: `{"url":"https://b/#s3cret"}`, denied: "InvalidURL"},
		"UrlWithAt":          {reason: "It may be the end of a token.", spec: `{"url":"https://b/@ann"}`, denied: "InvalidURL"},
		"UrlWithAtInPath":    {reason: "A path may hold it like this.", spec: `{"url":"https://b/%40ann"}`},
		"UrlBecomesWrong":    {reason: "A change is looked at.", old: plainBroker, spec: `{"url":"https://ann:s3cret@b"}`, denied: "InvalidURL"},
		"UrlWasWrong":        {reason: "What was always wrong stays as it is.", old: `{"url":"https://ann:s3cret@b"}`, spec: `{"url":"https://ann:s3cret@b","relistRequests":2}`},
		"UrlIsMended":        {reason: "And can be put right.", old: `{"url":"https://ann:s3cret@b"}`, spec: plainBroker},
		"BundleGood":         {reason: "Whatever stands beside the certificates.", spec: bundle(others)},
		"BundleEmpty":        {reason: "Nothing is no bundle.", spec: `{"url":"https://b","caBundle":""}`},
		"BundleOfNothing":    {reason: "What holds no certificate trusts no one.", spec: bundle("ca.pem"), denied: "InvalidBundle"},
		"BundleUnreadable":   {reason: "Each certificate must be one.", spec: bundle(authority() + unreadable), denied: "InvalidBundle"},
		"BundleWasWrong":     {reason: "What was always wrong stays as it is.", old: bundle("ca.pem"), spec: strings.Replace(bundle("ca.pem"), "https://b", "https://c", 1)},
		"BundleBecomesWrong": {reason: "A change is looked at.", old: bundle(authority()), spec: bundle("ca.pem"), denied: "InvalidBundle"},
	}
	maps.Copy(all, brokerSecretRules())
	maps.Copy(all, restrictionRules())
	for name, tc := range all {
		tc.kind = "ClusterServiceBroker"
		all[name] = tc
	}
	return all
}

// The validating phase refuses credentials in a URL too: another mutating webhook may have
// written them.
func TestURLIsValidated(t *testing.T) {
	t.Parallel()
	c := stocked(t, "").catalogEnv()
	refused := c.phase(review.Validating, objectOf("ClusterServiceBroker", `{"url":"https://ann:s3cret@b"}`), nil)
	assert.False(t, refused.Allowed)
	assert.Equal(t, "InvalidURL", refused.outcome)
}

// brokerSecretRules are about who decides where credentials are sent.
func brokerSecretRules() map[string]ruleCase {
	says := func(c *catalogEnv) {
		c.reviews.no.Reason, c.reviews.no.EvaluationError = "not on Fridays", "role is missing"
	}
	return map[string]ruleCase{
		"SecretReadable":      {reason: "Who may read the Secret may send it.", spec: secretBroker, granted: []string{aliceReads}, asked: []string{aliceReads}},
		"SecretForbidden":     {reason: "Who may not, may not.", spec: secretBroker, asked: []string{aliceReads}, denied: "SecretForbidden"},
		"SecretForbiddenWhy":  {reason: "What the review says is told.", spec: secretBroker, adjust: says, asked: []string{aliceReads}, denied: "SecretForbidden"},
		"SecretForbiddenName": {reason: "A command holds, whatever the name.", spec: secretBroker, adjust: func(c *catalogEnv) { c.user.Username = "o'neil smith" }, asked: []string{"o'neil smith get secrets infra/azure"}, denied: "SecretForbidden"},
		"BearerForbidden":     {reason: "A token is no less secret.", spec: `{"url":"https://b","authInfo":{` + bearerAuth + `}}`, asked: []string{"alice get secrets infra/token"}, denied: "SecretForbidden"},
		"BasicIsUsed":         {reason: "Of two, the one that is sent.", spec: `{"url":"https://b","authInfo":{` + basicAuth + `,` + bearerAuth + `}}`, granted: []string{aliceReads}, asked: []string{aliceReads}},
		"SecretNamed":         {reason: "A Secret is named later.", old: plainBroker, spec: secretBroker, asked: []string{aliceReads}, denied: "SecretForbidden"},
		"UrlChangedByAnyone":  {reason: "Attack: another's credentials are sent to a server of one's own.", old: secretBroker, patch: `{"spec":{"url":"https://evil"}}`, asked: []string{aliceReads}, denied: "SecretForbidden"},
		"UrlChanged":          {reason: "Who may read them may.", old: secretBroker, patch: `{"spec":{"url":"https://c"}}`, granted: []string{aliceReads}, asked: []string{aliceReads}},
		"BundleChanged":       {reason: "Who is trusted gets them, too.", old: secretBroker, patch: `{"spec":{"caBundle":"` + base64.StdEncoding.EncodeToString([]byte(authority())) + `"}}`, asked: []string{aliceReads}, denied: "SecretForbidden"},
		"VerificationOff":     {reason: "So does anyone on the way.", old: secretBroker, patch: `{"spec":{"insecureSkipTLSVerify":true}}`, asked: []string{aliceReads}, denied: "SecretForbidden"},
		"LabelEdit":           {reason: "A label sends nothing anywhere.", old: secretBroker, patch: `{"metadata":{"labels":{"a":"b"}}}`},
		"OtherEdit":           {reason: "Nor does another list.", old: secretBroker, patch: `{"spec":{"relistRequests":3,"relistBehavior":"Manual"}}`},
		"SecretDropped":       {reason: "What is sent no more is no one's concern.", old: secretBroker, patch: `{"spec":{"url":"https://c","authInfo":null}}`},
		"UrlWithoutSecret":    {reason: "Nothing is sent.", old: plainBroker, spec: `{"url":"https://c"}`},
	}
}

// restrictionRules are about what of a catalog is taken.
func restrictionRules() map[string]ruleCase {
	restricted := func(classes, plans string) string {
		return fmt.Sprintf(`{"url":"https://b","catalogRestrictions":{"serviceClass":[%s],"servicePlan":[%s]}}`, classes, plans)
	}
	in := func(values int) string {
		var list []string
		for i := range values {
			list = append(list, fmt.Sprint("v", i))
		}
		return `"name in (` + strings.Join(list, ",") + `)"`
	}
	return map[string]ruleCase{
		"Restrictions": {reason: "Every property there is.", spec: restricted(
			`"name in (a, b)","spec.externalName=db,spec.externalID!=x"`, `"name notin (a)","spec.externalName","!spec.externalID","spec.free=true","spec.clusterServiceClass.name==db"`)},
		"RestrictionNone":          {reason: "No restriction.", spec: restricted("", "")},
		"RestrictionUnknown":       {reason: "A property that there is not.", spec: restricted(`"spec.tags=x"`, ""), denied: "InvalidRestriction"},
		"RestrictionSecond":        {reason: "Each requirement counts, not only the first.", spec: restricted(`"spec.externalName=db,spec.tags=x"`, ""), denied: "InvalidRestriction"},
		"RestrictionOfPlans":       {reason: "A class is not free.", spec: restricted(`"spec.free=true"`, ""), denied: "InvalidRestriction"},
		"RestrictionOfMost":        {reason: "As many requirements and values as are allowed.", spec: restricted(in(511)+","+in(511), "")},
		"RestrictionOfTooMany":     {reason: "One more, in the list as a whole.", spec: restricted(in(511)+","+in(511)+`,"!name"`, in(3)), denied: "InvalidRestriction"},
		"RestrictionCopied":        {reason: "Copies of a stored one count.", old: restricted(in(511), ""), spec: restricted(in(511)+","+in(511)+","+in(511), ""), denied: "InvalidRestriction"},
		"RestrictionStored":        {reason: "A stored list stays.", old: restricted(in(2000), ""), spec: strings.Replace(restricted(in(2000), ""), "{", `{"relistRequests":1,`, 1)},
		"RestrictionUnparsed":      {reason: "No selector.", spec: restricted("", `"spec.externalName in basic"`), denied: "InvalidRestriction"},
		"RestrictionEmpty":         {reason: "It says nothing.", spec: restricted("", `" "`), denied: "InvalidRestriction"},
		"RestrictionOtherScope":    {reason: "A cluster's plan has no class in a namespace.", spec: restricted("", `"spec.serviceClass.name=db"`), scope: onlyCluster, denied: "InvalidRestriction"},
		"RestrictionSeveral":       {reason: "All are told.", spec: restricted(`"a=b","name=x","c,d"`, `"e"`), denied: "InvalidRestriction"},
		"RestrictionWasWrong":      {reason: "What was always wrong stays, and others can be added.", old: restricted(`"a=b"`, ""), spec: restricted(`"name=c","a=b"`, `"spec.free=true"`)},
		"RestrictionIsWrongAnew":   {reason: "But not another wrong one.", old: restricted(`"a=b"`, ""), spec: restricted(`"a=b","a=c"`, ""), denied: "InvalidRestriction"},
		"RestrictionsAreNewAtLast": {reason: "Where there were none.", old: plainBroker, spec: restricted(`"a=b"`, ""), denied: "InvalidRestriction"},
	}
}

func TestBrokerRules(t *testing.T) {
	t.Parallel()
	check(t, brokerRules())
}

// What admission adds to a broker, and what it leaves alone.
func TestBrokerMutation(t *testing.T) {
	t.Parallel()
	const ours, spec, finalizers = `"kubernetes-incubator/service-catalog"`, "/spec", "/metadata/finalizers"
	cases := map[string]struct {
		reason, old, write string // merge patches on a plain broker; old "" for a new one
		want               map[string]string
	}{
		"Create":            {"A new broker gets its defaults.", "", `{}`, map[string]string{spec: `{"relistBehavior":"Duration","url":"https://b"}`, finalizers: `[` + ours + `]`}},
		"CreateManual":      {"What is said stays.", "", `{"spec":{"relistBehavior":"Manual"}}`, map[string]string{"/spec/relistBehavior": `"Manual"`}},
		"CreateHeld":        {"Another's finalizer stays before ours.", "", `{"metadata":{"finalizers":["a/b"]}}`, map[string]string{finalizers: `["a/b",` + ours + `]`}},
		"CreateEmpty":       {"An empty list is a list.", "", `{"metadata":{"finalizers":[]}}`, map[string]string{finalizers: `[` + ours + `]`}},
		"CreateHeldByUs":    {"Ours is there once.", "", `{"metadata":{"finalizers":[` + ours + `]}}`, map[string]string{finalizers: `[` + ours + `]`}},
		"CreateSpecless":    {"There is nothing to add to.", "", `{"spec":null}`, map[string]string{spec: "absent"}},
		"CreateUnreadable":  {"The schema says what is wrong.", "", `{"spec":{"url":1}}`, map[string]string{spec: `{"url":1}`, finalizers: "absent"}},
		"RelistLeftOut":     {"An absent count is the stored one.", `{"spec":{"relistRequests":7}}`, `{"spec":{"url":"https://c"}}`, map[string]string{"/spec/relistRequests": "7"}},
		"RelistZero":        {"So is a client's zero.", `{"spec":{"relistRequests":7}}`, `{"spec":{"relistRequests":0}}`, map[string]string{"/spec/relistRequests": "7"}},
		"RelistRaised":      {"A count that is raised is taken.", `{"spec":{"relistRequests":7}}`, `{"spec":{"relistRequests":8}}`, map[string]string{"/spec/relistRequests": "8"}},
		"RelistNeverSet":    {"What was never there stays away.", `{}`, `{"spec":{"url":"https://c"}}`, map[string]string{"/spec/relistRequests": "absent"}},
		"BehaviorLeftOut":   {"A manifest without it means the default.", `{"spec":{"relistBehavior":"Manual"}}`, `{"spec":{"url":"https://c"}}`, map[string]string{"/spec/relistBehavior": `"Duration"`}},
		"FinalizerForgot":   {"A manifest that replaces the broker does not take our finalizer.", `{"metadata":{"finalizers":[` + ours + `]}}`, `{"spec":{"url":"https://c"}}`, map[string]string{finalizers: `[` + ours + `]`}},
		"FinalizerRemoved":  {"Who takes it off on purpose does.", `{"metadata":{"finalizers":[` + ours + `]}}`, `{}`, map[string]string{finalizers: "absent", "/spec/relistBehavior": "absent"}},
		"FinalizerNever":    {"An old broker without it is left without.", `{}`, `{"spec":{"url":"https://c"}}`, map[string]string{finalizers: "absent"}},
		"FinalizerDeleting": {"What is being deleted is let go.", `{"metadata":{"deletionTimestamp":"2026-05-01T12:00:00Z","finalizers":[` + ours + `]}}`, `{"metadata":{"deletionTimestamp":"2026-05-01T12:00:00Z"},"spec":{"url":"https://c"}}`, map[string]string{finalizers: "absent"}},
	}
	for name, tc := range cases {
		for _, kind := range []string{"ClusterServiceBroker", "ServiceBroker"} {
			t.Run(name+kind, func(t *testing.T) {
				t.Parallel()
				var old []byte
				if tc.old != "" {
					old = changed(t, objectOf(kind, plainBroker), tc.old)
				}
				made := stocked(t, "db:").catalogEnv().phase(review.Mutating, changed(t, objectOf(kind, plainBroker), tc.write), old)
				require.True(t, made.Allowed)
				for pointer, want := range tc.want {
					assert.Equal(t, want, at(t, made.patched, pointer), "%s %s", tc.reason, pointer)
				}
			})
		}
	}
}

// A broker that cannot be read is refused without its content, the stored one too.
func TestBrokerUnreadable(t *testing.T) {
	t.Parallel()
	c := stocked(t, "db:").catalogEnv()
	wrong := objectOf("ServiceBroker", `{"url":"https://b","relistDuration":"`+canary+`"}`)
	for _, answer := range []reply{c.phase(review.Validating, wrong, nil), c.phase(review.Validating, objectOf("ServiceBroker", plainBroker), wrong)} {
		assert.Equal(t, "Unreadable", answer.outcome)
		assert.Contains(t, answer.Result.Message, "kubectl explain servicebrokers")
	}
}

// A review that fails is a failure of ours, never a refusal.
func TestBrokerReviewFails(t *testing.T) {
	t.Parallel()
	c := stocked(t, "db:").catalogEnv()
	c.reviews.down = errors.New("down")
	assert.Equal(t, http.StatusInternalServerError, c.status(review.Validating, objectOf("ClusterServiceBroker", secretBroker), nil))
}
