package examiner

import (
	"regexp"
	"slices"
	"time"
)

// permissions are what fields of a binding need of the offering.
var permissions = map[string]string{"syslog_drain_url": "syslog_drain", "route_service_url": "route_forwarding", "volume_mounts": "volume_mount"}

// checkBinding judges the fields of a binding that are beside its credentials.
func (e *bindings) checkBinding(body object) {
	for field, permission := range permissions {
		if body[field] != nil {
			e.judgef("BIND-11", slices.Contains(e.service.Requires, permission), "%s without %s in requires", field, permission)
		}
	}
	if endpoints, has := body["endpoints"]; has && endpoints != nil {
		list, is := endpoints.([]any)
		e.judgef("BIND-9", is && !slices.ContainsFunc(list, func(one any) bool { return !isEndpoint(one) }), "an endpoint without a host, ports or a known protocol")
	}
	if metadata, is := body["metadata"].(object); is {
		e.checkTimes(metadata)
	}
}

// ports is a single port, or a range.
var ports = regexp.MustCompile(`^\d{1,5}(-\d{1,5})?$`)

func isEndpoint(value any) bool {
	endpoint, _ := value.(object)
	list, _ := endpoint["ports"].([]any)
	protocol, says := endpoint["protocol"]
	lawful := !says || slices.Contains([]any{"tcp", "udp", "all"}, protocol)
	return isText(endpoint["host"]) && len(list) > 0 && lawful && !slices.ContainsFunc(list, func(port any) bool {
		text, is := port.(string)
		return !is || !ports.MatchString(text)
	})
}

// moment is the form of a time; fractions have as many digits as they have.
var moment = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$`)

// checkTimes judges when a binding expires and is to be renewed.
func (e *bindings) checkTimes(metadata object) {
	times := map[string]time.Time{}
	for _, field := range []string{"expires_at", "renew_before"} {
		value, has := metadata[field]
		if !has {
			continue
		}
		text, _ := value.(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		e.judgef("BIND-10", err == nil && moment.MatchString(text), "%s has another form", field)
		times[field] = at
	}
	if len(times) == 2 {
		e.judgef("BIND-10", !times["renew_before"].After(times["expires_at"]), "renew_before is later than expires_at")
	}
}
