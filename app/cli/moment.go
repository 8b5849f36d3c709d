package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"steward/ledger"
)

// agoForm is how long ago something was: 24h, 7d, "90m ago".
var agoForm = regexp.MustCompile(`^(\d{1,6}) ?(s|m|min|h|d|w)( ago)?$`)

var agoUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// moment reads the value of a time option; "" is 0. A date is its first
// millisecond, or with end its last: UTC, as all of Steward's times.
func moment(option, v string, now time.Time, end bool) (ledger.Millis, error) {
	v = strings.TrimSpace(v)
	if v == "" {
		return 0, nil
	}
	if m := agoForm.FindStringSubmatch(v); m != nil {
		n, err := strconv.Atoi(m[1])
		if err == nil {
			return ledger.At(now.Add(-time.Duration(n) * agoUnits[m[2]])), nil
		}
	}
	if t, err := time.Parse(time.DateOnly, v); err == nil {
		if end {
			t = t.AddDate(0, 0, 1).Add(-time.Millisecond)
		}
		return ledger.At(t), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(v)); err == nil {
		return ledger.At(t), nil
	}
	return 0, misuse("--"+option, fmt.Sprintf("--%s: a time such as 2026-05-04T12:00:00Z, a date such as 2026-05-04, or how long ago such as 24h; got %s", option, v), "")
}
