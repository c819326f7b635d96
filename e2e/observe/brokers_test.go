package observe_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// publicText is what a catalog describes: every reader of the catalog may see it.
const publicText = "for everybody to read"

// spoiltAnswers are a broker's to the request for its catalog, as they go over the wire,
// with canaries in the body and in headers, and with the request's own Authorization in
// place of AUTHORIZATION; and the reason that the broker's condition Ready then has.
func spoiltAnswers(c canaries) map[string][2]string {
	answer := func(head, body string) string {
		return "HTTP/1.1 " + head + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	body, header := c.of("catalog-body"), c.of("catalog-header")
	const unread, partly = "ErrorFetchingCatalog", "FetchedCatalog"
	return map[string][2]string{
		"refused":       {"HTTP/1.1 401 Unauthorized\r\nWww-Authenticate: Bearer realm=" + header + "\r\n\r\n" + `{"error":"AUTHORIZATION","description":"who is AUTHORIZATION?"}`, unread},
		"error-page":    {"HTTP/1.1 500 Oops\r\nX-Debug: " + header + "\r\nRetry-After: " + header + "\r\n\r\n<html>AUTHORIZATION, " + body + "</html>", unread},
		"not-json":      {answer("200 OK\r\nX-Debug: "+header, `services: `+body), unread},
		"not-a-list":    {answer("200 OK", fmt.Sprintf(`{"services":{%q:%q}}`, body, body)), unread},
		"redirect":      {answer("302 Found\r\nLocation: https://login.example/?token="+header, body), unread},
		"bad-redirect":  {answer("302 Found\r\nLocation: https://login.example/?token="+header+"%zz\x7f", body), unread},
		"bad-length":    {"HTTP/1.1 200 OK\r\nContent-Length: " + header + "\r\n\r\n{}", unread},
		"bad-encoding":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + header + "\r\n\r\n{}", unread},
		"bad-header":    {"HTTP/1.1 200 OK\r\n" + header + "\r\n\r\n{}", unread},
		"bad-status":    {"HTTP/1.1 " + header + "\r\n\r\n{}", unread},
		"wrong-types":   {answer("200 OK", fmt.Sprintf(`{"services":[{"id":{"a":%[1]q}},{"id":"x","name":"x","description":[%[1]q]},{"id":"y","name":"y","plans":[%[1]q]}]}`, body)), partly},
		"echoes-a-name": {"HTTP/1.1 200 OK\r\n\r\n" + `{"services":[{"id":7,"name":"AUTHORIZATION","plans":[]}]}`, partly},
	}
}

// serveSpoilt starts a server that gives the answer that the first part of the path names.
func (s *stage) serveSpoilt(answers map[string][2]string) (url string) {
	s.Helper()
	listener, err := (&net.ListenConfig{}).Listen(s.Context(), "tcp", "127.0.0.1:0")
	require.NoError(s, err)
	s.Cleanup(func() { assert.NoError(s, listener.Close()) })
	serve := func(connection net.Conn) {
		defer func() { _ = connection.Close() }()
		request, err := http.ReadRequest(bufio.NewReader(connection))
		if err != nil {
			return // the controller left
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/"), "/")
		_, _ = io.WriteString(connection, strings.ReplaceAll(answers[name][0], "AUTHORIZATION", request.Header.Get("Authorization")))
	}
	go func() {
		for connection, err := listener.Accept(); err == nil; connection, err = listener.Accept() {
			go serve(connection)
		}
	}()
	return "http://" + listener.Addr().String()
}

// plantBrokers registers brokers of both scopes with canaries in their Secrets, whose
// catalogs cannot be read, and waits until their status says so.
func (s *stage) plantBrokers(c canaries) {
	s.Helper()
	s.refuseURLs(c)
	basic := func(password string) *corev1.Secret {
		c["header with "+password] = base64.StdEncoding.EncodeToString([]byte("stage:" + c.of(password)))
		return &corev1.Secret{ObjectMeta: s.Meta(password), StringData: map[string]string{"username": "stage", "password": c.of(password)}}
	}
	s.Create(basic("local-password"), &corev1.Secret{ObjectMeta: s.Meta("bearer"), StringData: map[string]string{"token": c.of("bearer-token")}})
	answers := spoiltAnswers(c)
	url := s.serveSpoilt(answers)
	var spoilt []client.Object
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		spoilt = append(spoilt, s.bearing(name, url+"/"+name, "bearer"), s.local(name, url+"/"+name, "local-password"))
	}
	s.Create(spoilt...)
	for _, broker := range spoilt {
		name := strings.TrimSuffix(broker.GetName(), "-"+s.Suffix)
		s.Becomes(broker, func() bool { return env.ConditionOf(broker, api.ConditionReady).Reason == answers[name][1] })
	}
	bearer := osbtest.Start(s.T, osbtest.Options{Token: c.of("bearer-token"), Catalog: fmt.Appendf(nil,
		`{"services":[{"id":"open-%[1]s","name":"open-%[1]s","description":%[2]q,"plans":[{"id":"p-%[1]s","name":"p","description":%[2]q}]}]}`, s.Suffix, publicText)})
	registered := s.bearing("bearer", bearer.URL, "bearer")
	s.Create(registered)
	s.Ready(registered)
	assert.Contains(s, s.svcat("describe", "class", "open-"+s.Suffix, "--scope", "cluster"), publicText, "what a catalog describes is no secret")
}

// bearing is a broker of the cluster that is shown the token of a Secret, not yet created.
func (s *stage) bearing(name, url, secret string) *api.ClusterServiceBroker {
	broker := &api.ClusterServiceBroker{}
	broker.Name, broker.Spec.URL = s.Name(name), url
	broker.Spec.AuthInfo = &api.ClusterServiceBrokerAuthInfo{Bearer: &api.ClusterBearerTokenAuthConfig{SecretRef: &api.ObjectReference{Namespace: s.Namespace, Name: secret}}}
	return broker
}

// local is a broker of the namespace that is shown the password of a Secret, not yet created.
func (s *stage) local(name, url, secret string) *api.ServiceBroker {
	broker := &api.ServiceBroker{ObjectMeta: s.Meta(name)}
	broker.Spec.URL = url
	broker.Spec.AuthInfo = &api.ServiceBrokerAuthInfo{Basic: &api.BasicAuthConfig{SecretRef: &api.LocalObjectReference{Name: secret}}}
	return broker
}

// withUserinfo are brokers of both scopes with canaries in their URLs, not yet created.
func (s *stage) withUserinfo(c canaries) []client.Object {
	cluster, local := &api.ClusterServiceBroker{}, &api.ServiceBroker{ObjectMeta: s.Meta("userinfo")}
	cluster.Name, cluster.Spec.URL = s.Name("userinfo"), "https://ann:"+c.of("url-password")+"@127.0.0.1:1/"
	local.Spec.URL = "https://" + c.of("url-token") + "@127.0.0.1:1"
	return []client.Object{cluster, local}
}

// storeURLs stores brokers with canaries in their URLs, as they were before admission
// refused them.
func (s *stage) storeURLs(c canaries) {
	s.Helper()
	require.NoError(s, s.UninstallHooks(s.Context()))
	stored := s.withUserinfo(c)
	s.Create(stored...)
	require.NoError(s, s.InstallHooks(s.Context()))
	for _, broker := range stored {
		said := s.HasCondition(broker, api.ConditionReady, api.ConditionFalse, "ErrorFetchingCatalog")
		assert.Contains(s, said.Message, "a username or a password")
	}
}

// refuseURLs has brokers refused that have canaries in their URLs.
func (s *stage) refuseURLs(c canaries) {
	s.Helper()
	for _, broker := range s.withUserinfo(c) {
		broker.SetName(s.Name("refused"))
		err := s.Client().Create(s.Context(), broker)
		env.RequireInvalid(s.T, err, "spec.url")
		assert.NotContains(s, everythingIn(err), "canary")
	}
	for _, url := range []string{"ftp://ann:%s@127.0.0.1", "https://ann:%s%%zz@127.0.0.1", "https://ann:%s@"} {
		err := s.Client().Create(s.Context(), s.bearing("refused", fmt.Sprintf(url, c.of("url-password")), "bearer"))
		env.RequireInvalid(s.T, err, "spec.url")
		assert.NotContains(s, everythingIn(err), "canary")
	}
}
