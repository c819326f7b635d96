package snapshot

import (
	"bytes"
	"fmt"
)

// shallow says that JSON is nested too deep, or cut, before it is decoded.
func shallow(text []byte) error { return (&scan{}).through(text) }

// nameIn is the name of an object. What takes the object decodes it; so it is only looked through
// here, unless its name is not written as encode does.
func nameIn(text []byte) (Name, error) {
	s := scan{}
	if err := s.through(text); err != nil {
		return Name{}, err
	}
	if s.odd || s.name.APIVersion == "" || s.name.Kind == "" || s.name.Metadata.Name == "" {
		return NameOf(text)
	}
	return s.name, nil
}

// A scan goes through the text of an object by its brackets and quotes. It is what an encoder
// wrote: blanks before a colon, escapes in names of fields and values of other types are odd. Of what is
// there twice the last counts, as for a decoder.
type scan struct {
	name  Name
	depth int
	// field is that of the object or of its metadata whose value comes next.
	field field
	// within says that the scan is in the metadata.
	within, odd bool
}

// A field is one of those that a name is made of, or another one.
type field int

const (
	fieldNone field = iota
	fieldVersion
	fieldKind
	fieldMetadata
	fieldName
	fieldNamespace
	fieldOther
)

// fields are those of an object, and those of its metadata.
var fields = [2]map[string]field{
	{"apiVersion": fieldVersion, "kind": fieldKind, "metadata": fieldMetadata},
	{"name": fieldName, "namespace": fieldNamespace},
}

// through goes through all of a text.
func (s *scan) through(text []byte) error {
	s.odd = !bytes.HasPrefix(text, []byte("{"))
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := closing(text, i)
			if end < 0 {
				return errNoObject
			}
			if s.depth == 1 || s.depth == 2 && s.within {
				s.take(text[i+1:end], end+1 < len(text) && text[end+1] == ':')
			}
			i = end
		case '{', '[':
			if s.open(text[i]); s.depth > maxDepth {
				return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
			}
		case '}', ']':
			s.end()
			if s.depth--; s.depth == 1 {
				s.within = false
			}
		case ',':
			s.end()
		}
	}
	if s.depth != 0 {
		return errNoObject
	}
	return nil
}

// take takes a text of the object or of its metadata: the name of a field, or its value.
func (s *scan) take(text []byte, named bool) {
	s.odd = s.odd || bytes.ContainsFunc(text, func(r rune) bool { return r == '\\' || r >= 0x80 })
	if named {
		if s.field = fields[s.depth-1][string(text)]; s.field == fieldNone {
			s.field = fieldOther
		}
		return
	}
	switch value := string(text); s.field {
	case fieldVersion:
		s.name.APIVersion = value
	case fieldKind:
		s.name.Kind = value
	case fieldName:
		s.name.Metadata.Name = value
	case fieldNamespace:
		s.name.Metadata.Namespace = &value
	case fieldNone, fieldMetadata:
		s.odd = true
	case fieldOther:
	}
	s.field = fieldNone
}

// open begins an object or list, the value of the field if there is one. What takes the object refuses one
// that is to be a text.
func (s *scan) open(bracket byte) {
	if s.field == fieldMetadata {
		s.within = bracket == '{'
	}
	s.field = fieldNone
	s.depth++
}

// end ends the value of a field. That of a name was a text, and is taken.
func (s *scan) end() {
	s.odd = s.odd || s.field != fieldNone && s.field != fieldOther
	s.field = fieldNone
}

// closing is where the string ends that begins at a quote: at the other quote, or below 0 where
// there is none.
func closing(text []byte, quote int) int {
	for i := quote + 1; ; i++ {
		next := bytes.IndexByte(text[i:], '"')
		if next < 0 {
			return -1
		}
		escapes := 0
		for i += next; text[i-1-escapes] == '\\'; {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}
