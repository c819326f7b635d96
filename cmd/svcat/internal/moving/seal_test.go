package moving

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func keyFile(t *testing.T) (public, file string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	return identity.Recipient().String(), fileOf(t, identity.String()+"\n")
}

func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestSealedFile: it is opened by its key or passphrase, and has nothing that can be read.
func TestSealedFile(t *testing.T) {
	t.Parallel()
	public, identity := keyFile(t)
	_, other := keyFile(t)
	passphrase := fileOf(t, "correct horse\nsecond line")
	for name, c := range map[string]struct {
		reason       string
		closed, open Seal
		wrong        string
	}{
		"Key":             {"its key", Seal{Recipients: []string{public}}, Seal{IdentityFile: identity}, ""},
		"Passphrase":      {"its passphrase", Seal{PassphraseFile: passphrase, work: 10}, Seal{PassphraseFile: passphrase}, ""},
		"Windows":         {"its passphrase, as Windows ends a line", Seal{PassphraseFile: passphrase, work: 10}, Seal{PassphraseFile: fileOf(t, "correct horse\r\n")}, ""},
		"OtherKey":        {"another's key", Seal{Recipients: []string{public}}, Seal{IdentityFile: other}, "it is encrypted to another key or passphrase"},
		"OtherPassphrase": {"another passphrase", Seal{PassphraseFile: passphrase, work: 10}, Seal{PassphraseFile: fileOf(t, "wrong")}, "it is encrypted to another key or passphrase"},
		"NoKey":           {"none at all", Seal{Recipients: []string{public}}, Seal{}, "is encrypted: give --identity FILE or --passphrase-file FILE"},
		"PlainFile":       {"a plain file with a key", Seal{}, Seal{IdentityFile: identity}, "it is not encrypted"},
		"NoIdentity":      {"a file with no key", Seal{Recipients: []string{public}}, Seal{IdentityFile: passphrase}, "has no secret key of age"},
		"EmptyPassphrase": {"an empty one", Seal{Recipients: []string{public}}, Seal{PassphraseFile: fileOf(t, "\nx")}, "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "shop.age")
			require.NoError(t, Write(path, whole(), c.closed))
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, word := range []string{canary, "ServiceInstance", "shop"} {
				assert.Equal(t, c.closed.Encrypts(), !bytes.Contains(text, []byte(word)), word)
			}
			read, err := Read(path, c.open)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong, c.reason)
				assert.NotContains(t, err.Error(), "horse")
				return
			}
			require.NoError(t, err, c.reason)
			assert.Equal(t, whole().Secrets[0].Data, read.Secrets[0].Data)
		})
	}
}

// TestDamagedCiphertext: what was cut or changed anywhere is refused, with no part of it read.
func TestDamagedCiphertext(t *testing.T) {
	t.Parallel()
	public, identity := keyFile(t)
	path := filepath.Join(t.TempDir(), "shop.age")
	require.NoError(t, Write(path, whole(), Seal{Recipients: []string{public}}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, at := range []int{25, 150, len(text) / 2, len(text) - 1} {
		cut := fileOf(t, string(text[:at]))
		_, err := Read(cut, Seal{IdentityFile: identity})
		require.ErrorContains(t, err, "cannot decrypt "+cut, "cut at %d", at)
		flipped := bytes.Clone(text)
		flipped[at] ^= 1
		changed := fileOf(t, string(flipped))
		_, err = Read(changed, Seal{IdentityFile: identity})
		require.ErrorContains(t, err, "cannot decrypt "+changed, "changed at %d", at)
	}
	var armored bytes.Buffer
	writer := armor.NewWriter(&armored)
	_, err = writer.Write(text)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	_, err = Read(fileOf(t, armored.String()), Seal{IdentityFile: identity})
	require.NoError(t, err, "the form of age --armor is read, too")
}

// TestSecretKeyAsRecipient: what was given by mistake is not repeated.
func TestSecretKeyAsRecipient(t *testing.T) {
	t.Parallel()
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	err = Write(filepath.Join(t.TempDir(), "x"), whole(), Seal{Recipients: []string{identity.String()}})
	require.ErrorContains(t, err, "--recipient 1 is no public key of age")
	assert.NotContains(t, err.Error(), identity.String())
	require.ErrorContains(t, (&Seal{Recipients: []string{"a"}, PassphraseFile: "b"}).Validate(), "exclude each other")
	require.ErrorContains(t, (&Seal{IdentityFile: "a", PassphraseFile: "b"}).Validate(), "exclude each other")
}

// TestWorkIsBounded: a file does not decide how long a passphrase takes.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	passphrase := fileOf(t, "correct horse")
	path := filepath.Join(t.TempDir(), "shop.age")
	require.NoError(t, Write(path, whole(), Seal{PassphraseFile: passphrase, work: 10}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	hostile := fileOf(t, string(bytes.Replace(text, []byte(" 10\n"), []byte(" 30\n"), 1)))
	_, err = Read(hostile, Seal{PassphraseFile: passphrase})
	require.ErrorContains(t, err, "cannot decrypt")
}
