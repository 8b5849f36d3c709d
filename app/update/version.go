package update

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// semver is a version as semver.org says, without build metadata: two builds of
// one version are not told apart. It is made at the first need, because every
// bridge links it and none has one.
var semver = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-` + word + `(\.` + word + `)*)?$`)
})

// word is one of the identifiers behind the hyphen: a number without a zero before
// it, or something that is no number.
const word = `(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)`

// Valid tells whether v is a version that can be compared.
func Valid(v string) bool { return len(v) <= 64 && semver().MatchString(v) }

// Compare orders two versions by the rules of semver.org: numbers by
// value, a pre-release before its release, build metadata ignored.
func Compare(a, b string) int {
	a, b = bare(a), bare(b)
	numA, preA, isA := strings.Cut(a, "-")
	numB, preB, isB := strings.Cut(b, "-")
	if c := compareParts(numA, numB); c != 0 {
		return c
	}
	switch {
	case isA && isB:
		return compareParts(preA, preB)
	case isA:
		return -1
	case isB:
		return 1
	}
	return 0
}

func bare(v string) string {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
	return v
}

func compareParts(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.ParseUint(as[i], 10, 63)
		y, errY := strconv.ParseUint(bs[i], 10, 63)
		c := 0
		switch {
		case errX == nil && errY == nil:
			c = cmp.Compare(x, y)
		case errX == nil:
			c = -1 // a number comes before a word
		case errY == nil:
			c = 1
		default:
			c = cmp.Compare(as[i], bs[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}
