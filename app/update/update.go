// Package update finds a newer release at the address that this program was
// built with, and fetches a file of it. Nothing is believed that the release key
// has not signed, nothing is installed, and nothing is asked unless a caller
// asks: when that may be is the caller's business.
//
// A release is a folder at an https address with two files beside its packages:
//
//	SHA256SUMS      as sha256sum writes it; the names carry the version
//	SHA256SUMS.sig  a raw Ed25519 signature over its bytes, in base64
//
// The version is read out of the signed names, so that there is nothing else to
// believe. A release that is not newer than what runs is never offered. Who can
// withhold answers can also hide a release; that is not found out.
package update

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Set by the linker: -ldflags "-X steward/app/update.address=…". The address is
// that of the folder, the key 32 raw bytes in base64, notes the page for people;
// without notes that is the address.
var address, publicKey, notes string

// Errors say why there is no release to offer. Others are of the network and the
// file system.
var (
	ErrNoSource  = errors.New("this build knows no address for updates")
	ErrSignature = errors.New("the signature of the release does not fit")
	ErrMalformed = errors.New("the list of the release cannot be read")
	ErrSum       = errors.New("the file is not the one that was signed")
	ErrAbsent    = errors.New("the release has no file for this system")
)

// Source is where releases come from and who signs them.
type Source struct {
	Notes string // the page for people

	base *url.URL
	key  ed25519.PublicKey
	own  string // the version that runs
}

// Here returns the source this program was built with; version is its own. The
// error is ErrNoSource, or says which of the two cannot be used.
func Here(version string) (*Source, error) {
	if address == "" || publicKey == "" {
		return nil, ErrNoSource
	}
	return New(address, publicKey, notes, version)
}

// New returns a source at an https address, or at an http one of this machine,
// whose releases are signed with the key that belongs to publicKey, 32 raw bytes
// in base64. The error is an ErrNoSource.
func New(address, publicKey, notes, version string) (*Source, error) {
	key, err := base64.StdEncoding.DecodeString(publicKey)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w: its release key is not %d bytes in base64", ErrNoSource, ed25519.PublicKeySize)
	}
	base, err := url.Parse(address)
	if err != nil || !allowed(base) {
		return nil, fmt.Errorf("%w: %q is no https address", ErrNoSource, address)
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	if notes == "" {
		notes = base.String()
	}
	return &Source{Notes: notes, base: base, key: key, own: version}, nil
}

// allowed tells whether something may be asked for there: https, or http on this
// machine alone.
func allowed(u *url.URL) bool {
	switch {
	case u.Host == "" || u.User != nil:
		return false
	case u.Scheme == "https":
		return true
	}
	return u.Scheme == "http" && loopback(u.Hostname())
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

const (
	sumsName      = "SHA256SUMS"
	signatureName = sumsName + ".sig"
	maxSums       = 64 << 10
	maxSignature  = 256
)

// Newest returns the release at the address once its signature has been checked,
// and whether it is newer than what runs. The errors are those above.
func (s *Source) Newest(ctx context.Context) (r Release, newer bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	// In this order: a release that comes in between then has a signature that
	// does not fit the older list, never a list that nobody has signed.
	sums, err := s.read(ctx, sumsName, maxSums)
	if err != nil {
		return Release{}, false, err
	}
	signature, err := s.read(ctx, signatureName, maxSignature)
	if err != nil {
		return Release{}, false, err
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(signature)))
	if err != nil || !ed25519.Verify(s.key, sums, raw) {
		return Release{}, false, ErrSignature
	}
	if r, err = parse(sums); err != nil {
		return Release{}, false, err
	}
	return r, Compare(r.Version, s.own) > 0, nil
}
