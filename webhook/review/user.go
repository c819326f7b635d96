package review

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Requester is the user who sent the request, as userInfo records users.
func Requester(req *admission.Request) *v1beta1.UserInfo {
	info := &v1beta1.UserInfo{Username: req.UserInfo.Username, UID: req.UserInfo.UID, Groups: req.UserInfo.Groups}
	if len(req.UserInfo.Extra) > 0 {
		info.Extra = make(map[string]v1beta1.ExtraValue, len(req.UserInfo.Extra))
		for key, value := range req.UserInfo.Extra {
			info.Extra[key] = v1beta1.ExtraValue(value)
		}
	}
	return info
}

// UserOf is a recorded user as the API server knows users.
func UserOf(info *v1beta1.UserInfo) authenticationv1.UserInfo {
	if info == nil {
		return authenticationv1.UserInfo{}
	}
	user := authenticationv1.UserInfo{Username: info.Username, UID: info.UID, Groups: info.Groups}
	if len(info.Extra) > 0 {
		user.Extra = make(map[string]authenticationv1.ExtraValue, len(info.Extra))
		for key, value := range info.Extra {
			user.Extra[key] = authenticationv1.ExtraValue(value)
		}
	}
	return user
}
