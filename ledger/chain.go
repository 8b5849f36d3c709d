package ledger

import (
	"crypto/sha256"
	"encoding/binary"
)

// hash is a link of the chain: it covers an event and its predecessor's hash,
// so a change of any row shows in every row behind it. It finds damage and
// careless edits, not somebody who computes the chain anew.
type hash [sha256.Size]byte

// row is an event as it is stored and hashed.
type row struct {
	id, at, saidAt int64
	flags          byte // bit 0 injectable, bits 1.. source
	text           [11]field
}

// field is a text that may be absent, which differs from an empty one.
type field struct {
	s  string
	ok bool
}

func present(s string) field { return field{s, s != ""} }

const (
	fActor = iota
	fType
	fObject
	fObjectType
	fWorkspace
	fSession
	fCaller
	fOutcome
	fFile
	fMetrics
	fData
)

// link computes version 1 of the hash: SHA-256 of 0x01, the previous hash, id,
// at, said_at, flags, then each text as a uint32 length and its bytes, an absent
// one as the length 0xFFFFFFFF; all big endian. No JSON takes part, so there is
// no canonical form to argue about.
func (r *row) link(prev hash, buf []byte) (hash, []byte) {
	b := append(buf[:0], 1)
	b = append(b, prev[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.id))
	b = binary.BigEndian.AppendUint64(b, uint64(r.at))
	b = binary.BigEndian.AppendUint64(b, uint64(r.saidAt))
	b = append(b, r.flags)
	for i := range r.text {
		if !r.text[i].ok {
			b = binary.BigEndian.AppendUint32(b, 0xFFFFFFFF)
			continue
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(r.text[i].s)))
		b = append(b, r.text[i].s...)
	}
	return sha256.Sum256(b), b
}

func flags(injectable bool, s Source) byte {
	f := byte(s) << 1
	if injectable {
		f |= 1
	}
	return f
}
