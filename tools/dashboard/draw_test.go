package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// Values have the unit of their size.
func TestFormat(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		unit  string
		value float64
		want  string
	}{
		{"s", 0.0123, "12.3 ms"}, {"s", 90, "90 s"}, {"s", 600, "10 min"}, {"s", 3 * 86400, "3 days"}, {"s", -7200, "-2 hours"}, {"s", 0, "0 s"},
		{"bytes", 1536, "1.5 KiB"}, {"percentunit", 0.5, "50%"}, {"reqps", 0.25, "0.25 req/s"}, {"ops", 2, "2 ops/s"}, {"short", 12345, "12345"},
	} {
		if got := format(tc.unit, tc.value); got != tc.want {
			t.Errorf("%v in %s is %q, want %q", tc.value, tc.unit, got, tc.want)
		}
	}
}

// The dashboard that is shipped is drawn: its lights in words, its lines by their legends, and what
// has no data as such. The picture is well-formed, whatever a label says.
func TestDraw(t *testing.T) {
	t.Parallel()
	b, err := readDashboard("../../deploy/monitoring/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	data, err := openStore()
	if err != nil {
		t.Fatal(err)
	}
	defer data.close()
	from := time.UnixMilli(1_700_000_000_000)
	for i := range 30 {
		text := fmt.Sprintf(`defaultplan_certificate_not_after_timestamp_seconds{certificate="leaf"} 9999999999
defaultplan_controller_leader 0
defaultplan_decisions_total{phase="mutate",kind="ServiceInstance",operation="CREATE",rule="a<b",outcome="allowed"} %d
defaultplan_default_plan_info{type="mysql",plan="c/p"} 1
`, i)
		if err := data.add(t.Context(), from.Add(time.Duration(i)*5*time.Second), "one", text); err != nil {
			t.Fatal(err)
		}
	}
	drawn, err := draw(t.Context(), b, data, from, from.Add(150*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">Only one<", ">None leads<", ">No brokers<", ">a&lt;b<", ">mysql<", ">c/p<", ">Service type<", "0.2", ">No data<"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("the picture does not show %q", want)
		}
	}
	for decoder := xml.NewDecoder(strings.NewReader(drawn)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
