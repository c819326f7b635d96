package relist

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// transformSuggestions are the transforms that metadata proposes. The keys of a
// Secret are not a broker's to hand out: addKeysFrom is dropped. A list with anything
// else wrong is left out whole, since an entry may build on those before it.
func transformSuggestions(raw json.RawMessage, notes *notes) []Suggestion {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var transforms []api.SecretTransform
	if json.Unmarshal(raw, &transforms) != nil {
		notes.addf("its metadata.%s is left out: it is not a list of transforms", fieldSecretTransforms)
		return nil
	}
	var kept []api.SecretTransform
	for i := range transforms {
		if transforms[i].AddKeysFrom != nil {
			notes.addf("its metadata.%s[%d] is left out: a broker may not suggest addKeysFrom", fieldSecretTransforms, i)
			continue
		}
		if reason := transformUnfit(&transforms[i]); reason != "" {
			notes.addf("its metadata.%s is left out: entry %d %s", fieldSecretTransforms, i, reason)
			return nil
		}
		kept = append(kept, transforms[i])
	}
	switch {
	case len(kept) == 0:
		return nil
	case len(kept) > maxTransforms:
		notes.addf("its metadata.%s is left out: it has %d entries; at most %d are allowed", fieldSecretTransforms, len(kept), maxTransforms)
		return nil
	}
	return []Suggestion{{[]string{inSpec, fieldSecretTransforms}, transformValues(kept)}}
}

// transformValues are transforms ready for JSON, without what is empty.
func transformValues(transforms []api.SecretTransform) any {
	value, err := decode(applied(transforms))
	if err != nil {
		panic(fmt.Sprintf("cannot read transforms that were just written: %v", err))
	}
	return value
}

func transformUnfit(transform *api.SecretTransform) string {
	set := 0
	var keys []string
	if t := transform.RenameKey; t != nil {
		set++
		keys = append(keys, t.From, t.To)
	}
	if t := transform.RemoveKey; t != nil {
		set++
		keys = append(keys, t.Key)
	}
	if t := transform.AddKey; t != nil {
		set++
		keys = append(keys, t.Key)
		if longer(t.StringValue, 65536) || longer(t.JSONPathExpression, 4096) || len(t.Value) > maxSchema {
			return "has a value that is too long"
		}
	}
	if t := transform.PublishKey; t != nil {
		set++
		keys = append(keys, t.Key)
	}
	if t := transform.Preset; t != nil {
		set++
		if t.Name != api.PresetServiceBinding || longer(&t.Type, 253) || longer(&t.Provider, 253) {
			return "is a preset that there is not, or has a value that is too long"
		}
	}
	if set != 1 {
		return "is not exactly one of renameKey, addKey, removeKey, publishKey and preset"
	}
	for _, key := range keys {
		if length := utf8.RuneCountInString(key); length == 0 || length > 253 {
			return "has a key that is empty, or longer than 253 characters"
		}
	}
	return ""
}

func longer(text *string, most int) bool {
	return text != nil && utf8.RuneCountInString(*text) > most
}
