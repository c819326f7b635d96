package offline

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/google/uuid"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Admin is the user who applies objects.
func Admin() authenticationv1.UserInfo { return admin }

// Keeper is the keeper's user as shipped.
func Keeper() authenticationv1.UserInfo { return toucher }

// Controller is the controller's user as shipped.
func Controller() authenticationv1.UserInfo { return serviceAccount("defaultplan-controller") }

var (
	admin   = authenticationv1.UserInfo{Username: "kubernetes-admin", Groups: []string{"system:masters", "system:authenticated"}}
	toucher = serviceAccount("defaultplan-webhook")
)

func serviceAccount(name string) authenticationv1.UserInfo {
	return authenticationv1.UserInfo{
		Username: "system:serviceaccount:defaultplan-system:" + name,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:defaultplan-system", "system:authenticated"},
	}
}

// uidSpace is the name space of the UIDs of objects and requests.
var uidSpace = uuid.MustParse("8f0e3d5c-51c5-4d0c-9f5a-3a2f6d6a7be1")

// derived is the UID of what the words say. No word holds a NUL.
func derived(words ...string) types.UID {
	return types.UID(uuid.NewSHA1(uidSpace, []byte(strings.Join(words, "\x00"))).String())
}

// The API server's own limits and letters of generated names: 63 letters less the
// five, and letters that make no words.
const (
	longestBase = 58
	letters     = "bcdfghjklmnpqrstvwxz2456789"
)

// generated is the name of the nth object whose name is generated, counted from one.
func generated(base string, n int) string {
	if len(base) > longestBase {
		base = base[:longestBase]
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", base, n))
	end := make([]byte, 5)
	for i := range end {
		end[i] = letters[int(sum[i])%len(letters)]
	}
	return base + string(end)
}
