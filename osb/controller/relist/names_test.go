package relist

import (
	"crypto/md5"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestName(t *testing.T) {
	t.Parallel()
	sum := func(id string) string {
		s := md5.Sum([]byte(id))
		return hex.EncodeToString(s[:])
	}
	cases := map[string]struct{ reason, id, suffix, want string }{
		"Plain":       {"What is lawful stays.", "mysql-8.0", "", "mysql-8.0"},
		"GUID":        {"So does a GUID.", "997b8372-8dac-40ac-ae65-758b4a5075a5", "", "997b8372-8dac-40ac-ae65-758b4a5075a5"},
		"Capital":     {"A capital is escaped.", "MySQL", "", "z4dzyz53zz51zz4cz"},
		"Z":           {"The escape is escaped itself.", "zz", "", "z7azz7az"},
		"DotFirst":    {"A dot is not first.", ".a", "", "z2eza"},
		"DotLast":     {"Nor last.", "a.", "", "az2ez"},
		"DotDot":      {"Nor twice.", "a..b", "", "a.z2ezb"},
		"DashDot":     {"Nor after a dash.", "a-.b", "", "a-z2ezb"},
		"DotDash":     {"Nor a dash after it.", "a.-b", "", "a.z2dzb"},
		"DashDash":    {"Dashes may follow each other.", "a--b", "", "a--b"},
		"DashFirst":   {"A dash is not first.", "-a-", "", "z2dzaz2dz"},
		"Escaped":     {"After an escape a dot is kept.", "aZ.b", "", "az5az.b"},
		"Space":       {"Spaces and slashes.", "a b/c", "", "az20zbz2fzc"},
		"Unicode":     {"Any character.", "é☃", "", "ze9zz2603z"},
		"Long":        {"What is too long has a sum.", strings.Repeat("a", 64), "", strings.Repeat("a", 30) + "-" + sum(strings.Repeat("a", 64))},
		"LongEscaped": {"So has what its escapes make too long.", strings.Repeat("A", 16), "", strings.Repeat("z41z", 16)[:30] + "-" + sum(strings.Repeat("A", 16))},
		"LongDot":     {"No dot before the sum.", strings.Repeat("a", 29) + "." + strings.Repeat("b", 40), "", strings.Repeat("a", 29) + "-" + sum(strings.Repeat("a", 29)+"."+strings.Repeat("b", 40))},
		"Longest":     {"63 are not too long.", strings.Repeat("a", 63), "", strings.Repeat("a", 63)},
		"Suffix":      {"The suffix is behind.", "MySQL", "eu-1", "z4dzyz53zz51zz4cz-eu-1"},
		"LongSuffix":  {"And stays whole.", strings.Repeat("a", 60), "east", strings.Repeat("a", 25) + "-" + sum(strings.Repeat("a", 60)) + "-east"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, Name(tc.id, tc.suffix), tc.reason)
			assert.LessOrEqual(t, len(tc.want), 63)
		})
	}
}

func FuzzName(f *testing.F) {
	for _, id := range []string{"a", "A.b", "z", "a..b", ".-.", "é", strings.Repeat("Z", 63), "997b8372-8dac-40ac-ae65-758b4a5075a5"} {
		f.Add(id, "eu", id+"-eu")
	}
	f.Fuzz(func(t *testing.T, id, suffix, other string) {
		if id == "" || other == "" {
			return
		}
		if len(validation.IsDNS1123Label(suffix)) > 0 || len(suffix) > 20 {
			suffix = ""
		}
		id, other = strings.ToValidUTF8(id, "?"), strings.ToValidUTF8(other, "?")
		name := Name(id, suffix)
		assert.Empty(t, validation.IsDNS1123Subdomain(name), name)
		assert.LessOrEqual(t, len(name), 63)
		assert.Equal(t, name, Name(id, suffix))
		if id != other {
			assert.NotEqual(t, name, Name(other, suffix))
		}
	})
}
