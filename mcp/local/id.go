package local

import (
	"crypto/rand"
	"time"
)

// idAlphabet is Crockford's base 32.
const idAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// idLen is the length of a ULID's text.
const idLen = 26

// NewID returns a new ULID: 48 bits of milliseconds since 1970 and 80 random
// bits, as 26 characters whose text order is their time order.
func NewID() string { return newID(time.Now()) }

func newID(at time.Time) string {
	var b [16]byte
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	_, _ = rand.Read(b[6:]) // never fails: crypto/rand ends the process instead

	// 128 bits are 26 characters of 5 bits with two zero bits in front.
	var out [idLen]byte
	var acc uint32
	bits, n := 2, 0
	for _, x := range b {
		acc = acc<<8 | uint32(x)
		for bits += 8; bits >= 5; n++ {
			bits -= 5
			out[n] = idAlphabet[acc>>bits&31]
		}
	}
	return string(out[:])
}

// isID reports whether s is the text of a ULID.
func isID(s string) bool {
	if len(s) != idLen || s[0] > '7' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z' || c == 'I' || c == 'L' || c == 'O' || c == 'U') {
			return false
		}
	}
	return true
}
