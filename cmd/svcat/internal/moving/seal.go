package moving

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/spf13/pflag"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A Seal is to whom a file is encrypted, or how it is opened. Without anything a file is plain.
type Seal struct {
	// Recipients are public keys of age.
	Recipients []string
	// IdentityFile has secret keys of age, and PassphraseFile a passphrase in its first line.
	IdentityFile, PassphraseFile string

	// work is the work of a passphrase in a file that is written; 0: that of age.
	work int
}

// BindOpen adds the flags by which an encrypted file is read.
func (s *Seal) BindOpen(flags *pflag.FlagSet) {
	flags.StringVar(&s.IdentityFile, "identity", "", "A file with the secret keys of age that open an encrypted FILE")
	s.bindPassphrase(flags)
}

// BindClose adds the flag by which a file is encrypted to keys.
func (s *Seal) BindClose(flags *pflag.FlagSet) {
	flags.StringArrayVar(&s.Recipients, "recipient", nil, "The public key of age, as age1…, to which the file is encrypted; may be given several times")
}

func (s *Seal) bindPassphrase(flags *pflag.FlagSet) {
	flags.StringVar(&s.PassphraseFile, "passphrase-file", "", "A file whose first line is the passphrase of the encrypted FILE. Not together with a key of age")
}

// Encrypts says that a file that is written with it is encrypted.
func (s *Seal) Encrypts() bool { return len(s.Recipients) > 0 || s.PassphraseFile != "" }

// Validate says what goes not together.
func (s *Seal) Validate() error {
	switch {
	case s.PassphraseFile != "" && len(s.Recipients) > 0:
		return cli.Usagef("--recipient and --passphrase-file exclude each other: give one of them")
	case s.PassphraseFile != "" && s.IdentityFile != "":
		return cli.Usagef("--identity and --passphrase-file exclude each other: give one of them")
	}
	return nil
}

// mostWork bounds the work that a file may ask for to try a passphrase: 2^18 is what age writes.
const mostWork = 18

// encrypt is the text, encrypted if the seal says so.
func (s *Seal) encrypt(text []byte) ([]byte, error) {
	if !s.Encrypts() {
		return text, nil
	}
	recipients, err := s.recipients()
	if err != nil {
		return nil, err
	}
	var sealed bytes.Buffer
	writer, err := age.Encrypt(&sealed, recipients...)
	if err != nil {
		return nil, fmt.Errorf("cannot encrypt the file: %w", err)
	}
	_, err = writer.Write(text)
	if err = errors.Join(err, writer.Close()); err != nil {
		return nil, fmt.Errorf("cannot encrypt the file: %w", err)
	}
	return sealed.Bytes(), nil
}

// recipients are those of the seal. What was given as one is not repeated: it may be a secret key.
func (s *Seal) recipients() ([]age.Recipient, error) {
	if s.PassphraseFile != "" {
		passphrase, err := s.passphrase()
		if err != nil {
			return nil, err
		}
		recipient, err := age.NewScryptRecipient(passphrase)
		if err != nil {
			return nil, fmt.Errorf("cannot encrypt with --passphrase-file: %w", err)
		}
		recipient.SetWorkFactor(cmp.Or(s.work, mostWork))
		return []age.Recipient{recipient}, nil
	}
	var all []age.Recipient
	for i, given := range s.Recipients {
		found, err := age.ParseRecipients(strings.NewReader(given))
		if err != nil {
			return nil, cli.Usagef("--recipient %d is no public key of age: write what age-keygen prints as public key, which begins with age1", i+1)
		}
		all = append(all, found...)
	}
	return all, nil
}

// decrypt is the text of a file, encrypted or not.
func (s *Seal) decrypt(path string, text []byte) ([]byte, error) {
	source := io.Reader(bytes.NewReader(text))
	switch {
	case bytes.HasPrefix(text, []byte("age-encryption.org/")):
	case bytes.HasPrefix(text, []byte(armor.Header)):
		source = armor.NewReader(source)
	case s.IdentityFile != "" || s.PassphraseFile != "":
		return nil, fmt.Errorf("cannot read %s: it is not encrypted; leave out --identity and --passphrase-file if that is meant", path)
	default:
		return text, nil
	}
	identities, err := s.identities(path)
	if err != nil {
		return nil, err
	}
	opened, err := age.Decrypt(source, identities...)
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
		return nil, fmt.Errorf("cannot decrypt %s: it is encrypted to another key or passphrase; give the one of its recipient", path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decrypt %s: its beginning is damaged, or age cannot open it; copy the file again", path)
	}
	plain, err := io.ReadAll(io.LimitReader(opened, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot decrypt %s: it was cut or changed; copy the file again", path)
	case len(plain) > maxFile:
		return nil, fmt.Errorf("cannot read %s: decrypted, it is larger than %d bytes", path, maxFile)
	}
	return plain, nil
}

func (s *Seal) identities(path string) ([]age.Identity, error) {
	switch {
	case s.PassphraseFile != "":
		passphrase, err := s.passphrase()
		if err != nil {
			return nil, err
		}
		identity, err := age.NewScryptIdentity(passphrase)
		if err != nil {
			return nil, fmt.Errorf("cannot decrypt with --passphrase-file: %w", err)
		}
		identity.SetMaxWorkFactor(mostWork)
		return []age.Identity{identity}, nil
	case s.IdentityFile == "":
		return nil, cli.Usagef("%s is encrypted: give --identity FILE or --passphrase-file FILE", path)
	}
	text, err := cli.ReadFile(s.IdentityFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read --identity: %w", err)
	}
	identities, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("cannot read --identity: %s has no secret key of age, or has other lines; write one key a line, as age-keygen does", s.IdentityFile)
	}
	return identities, nil
}

// passphrase is the first line of the file.
func (s *Seal) passphrase() (string, error) {
	text, err := cli.ReadFile(s.PassphraseFile)
	if err != nil {
		return "", fmt.Errorf("cannot read --passphrase-file: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("cannot read --passphrase-file: the first line of %s is empty", s.PassphraseFile)
	}
	return line, nil
}
