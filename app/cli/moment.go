package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"steward/ledger"
)

// agoUnits are what a time ago is counted in.
var agoUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// moment reads the value of a time option; "" is 0. A date is its first
// millisecond, or with end its last: UTC, as all of Steward's times.
func moment(option, v string, now time.Time, end bool) (ledger.Millis, error) {
	v = strings.TrimSpace(v)
	if v == "" {
		return 0, nil
	}
	if d, ok := ago(v); ok {
		return ledger.At(now.Add(-d)), nil
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

// ago reads how long ago something was: 24h, 7d, "90 min ago".
func ago(v string) (time.Duration, bool) {
	number, unit := strings.TrimSuffix(v, " ago"), ""
	if i := strings.IndexFunc(number, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		number, unit = number[:i], strings.TrimPrefix(number[i:], " ")
	}
	n, err := strconv.ParseInt(number, 10, 64)
	each, known := agoUnits[unit]
	if err != nil || !known || n > math.MaxInt64/int64(each) {
		return 0, false
	}
	return time.Duration(n) * each, true
}
