package ledger

import "encoding/binary"

// An actor's recent activity is kept as counts in steps of two minutes, so that
// a report of the last half hour reads one small row and never the events.
const (
	bucketLen = 2 * 60 * 1000 // milliseconds
	buckets   = 15
)

type laneKey struct{ actor, workspace int64 }

// lane is one actor in one workspace.
type lane struct {
	lastID, lastAt, n int64
	bucket            int64
	recent            [buckets]uint16 // newest first; a step's count stays at 65 535, n goes on
}

// add counts one event. A clock that went back counts into its own bucket while
// that is still kept, else only into n.
func (l *lane) add(id, at int64) {
	b := at / bucketLen
	switch {
	case l.n == 0:
		l.bucket = b
	case b > l.bucket:
		d := b - l.bucket
		if d >= buckets {
			l.recent = [buckets]uint16{}
		} else {
			copy(l.recent[d:], l.recent[:buckets-d])
			clear(l.recent[:d])
		}
		l.bucket = b
	}
	if i := l.bucket - b; i < buckets && l.recent[i] < 0xffff {
		l.recent[i]++
	}
	l.n++
	l.lastID, l.lastAt = id, at
}

func (l *lane) pack() []byte {
	b := make([]byte, 0, 2*buckets)
	for _, n := range l.recent {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return b
}

func (l *lane) unpack(b []byte) {
	for i := range l.recent {
		if len(b) >= 2*i+2 {
			l.recent[i] = binary.BigEndian.Uint16(b[2*i:])
		}
	}
}

// spread adds the lane's counts into out, oldest first, whose last element is
// the bucket of now. Events later than now (the clock went back) count as now.
func (l *lane) spread(now int64, out []int64) {
	last := now / bucketLen
	for i, n := range l.recent {
		d := max(last-(l.bucket-int64(i)), 0)
		if d < int64(len(out)) {
			out[int64(len(out))-1-d] += int64(n)
		}
	}
}
