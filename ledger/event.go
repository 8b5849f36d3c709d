package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of an event's fields, in Unicode code points unless bytes are named.
const (
	MaxActor      = 128
	MaxObject     = 128
	MaxWorkspace  = 128
	MaxSession    = 128
	MaxType       = 64
	MaxOutcome    = 512
	MaxFile       = 4096
	MaxMetrics    = 3     // keys kept of what was reported
	MaxMetricKey  = 64    // code points of one key
	MaxMetricsLen = 1024  // bytes of the three as JSON
	MaxData       = 16384 // bytes of an event's data as JSON
)

// Source says how an event came to be known.
type Source uint8

// The sources. An agent's own word is Claimed; what Steward saw itself is
// Observed; what it did itself is System.
const (
	Claimed Source = iota
	Observed
	System
	Person
	Import
)

var sourceNames = [...]string{"claimed", "observed", "system", "person", "import"}

// String returns the source's JSON form.
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return "source(" + strconv.Itoa(int(s)) + ")"
}

// MarshalText returns the source's name.
func (s Source) MarshalText() ([]byte, error) {
	if int(s) >= len(sourceNames) {
		return nil, fmt.Errorf("source %d: unknown", s)
	}
	return []byte(sourceNames[s]), nil
}

// UnmarshalText accepts the five names.
func (s *Source) UnmarshalText(b []byte) error {
	for i, n := range sourceNames {
		if n == string(b) {
			*s = Source(i)
			return nil
		}
	}
	return &FieldError{Field: "source", Rule: "one of " + strings.Join(sourceNames[:], ", "), Got: string(b)}
}

// Types of event that have a meaning of their own. Any other type is a word of
// the workspace that reported it.
const (
	TypeDone         = "done"
	TypeResolved     = "resolved"
	TypeFocus        = "focus"
	TypeAcknowledged = "failure_acknowledged"
)

// Millis is a moment in milliseconds since 1970 UTC. Zero means absent.
type Millis int64

// At converts t.
func At(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Time converts m to UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

const timeForm = "2006-01-02T15:04:05.000Z"

// String returns the fixed-width form 2006-01-02T15:04:05.000Z.
func (m Millis) String() string { return m.Time().Format(timeForm) }

// MarshalJSON returns the fixed-width form in quotes.
func (m Millis) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, len(timeForm)+2)
	b = append(b, '"')
	b = m.Time().AppendFormat(b, timeForm)
	return append(b, '"'), nil
}

// UnmarshalJSON accepts any RFC 3339 time in quotes; null leaves m as it is.
func (m *Millis) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return &FieldError{Field: "time", Rule: "an RFC 3339 time", Got: s}
	}
	*m = At(t)
	return nil
}

// Metric is one measured number of an event. Value is a JSON number as it was
// written.
type Metric struct {
	Key   string
	Value json.Number
}

// Metrics is an object of numbers that remembers the order of its keys.
type Metrics []Metric

// MarshalJSON returns an object with the keys in their order.
func (m Metrics) MarshalJSON() ([]byte, error) {
	if m == nil {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	b.Grow(64)
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		if bare(x.Key) {
			b.WriteByte('"')
			b.WriteString(x.Key)
			b.WriteByte('"')
		} else {
			k, err := compact(x.Key)
			if err != nil {
				return nil, err
			}
			b.Write(k)
		}
		b.WriteByte(':')
		b.WriteString(x.Value.String())
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// bare tells whether a key stands in JSON as it is.
func bare(key string) bool {
	for i := range len(key) {
		if c := key[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}

// UnmarshalJSON reads an object of numbers and keeps the order of its keys.
func (m *Metrics) UnmarshalJSON(b []byte) error {
	if string(bytes.TrimSpace(b)) == "null" {
		*m = nil
		return nil
	}
	if out, ok := plain(b); ok {
		*m = out
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return &FieldError{Field: "metrics", Rule: "an object of numbers", Got: fmt.Sprint(t)}
	}
	out := Metrics{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return err
		}
		v, err := d.Token()
		if err != nil {
			return err
		}
		n, ok := v.(json.Number)
		if !ok {
			return &FieldError{Field: "metrics." + k.(string), Rule: "a number", Got: fmt.Sprintf("%v", v)}
		}
		out = append(out, Metric{k.(string), n})
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	*m = out
	return nil
}

// plain reads what MarshalJSON writes for keys that need no escape, which is
// nearly every metric there is; a report reads dozens of them.
func plain(b []byte) (Metrics, bool) {
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return nil, false
	}
	out := make(Metrics, 0, MaxMetrics)
	for s := b[1 : len(b)-1]; len(s) > 0; {
		if s[0] != '"' {
			return nil, false
		}
		k := bytes.IndexByte(s[1:], '"')
		if k < 0 || bytes.IndexByte(s[1:1+k], '\\') >= 0 || len(s) < k+4 || s[k+2] != ':' {
			return nil, false
		}
		n := k + 3
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.' || s[n] == '-' || s[n] == '+' || s[n] == 'e' || s[n] == 'E') {
			n++
		}
		if !json.Valid(s[k+3 : n]) {
			return nil, false
		}
		out = append(out, Metric{string(s[1 : 1+k]), json.Number(s[k+3 : n])})
		switch {
		case n == len(s):
			return out, true
		case s[n] != ',' || n+1 == len(s):
			return nil, false
		}
		s = s[n+1:]
	}
	return out, true
}

// Check reports the first metric that has no proper key or no finite number,
// and rewrites numbers longer than 32 bytes in their shortest exact form.
func (m Metrics) Check(field string, most int) error {
	if len(m) > most {
		return &FieldError{Field: field, Rule: fmt.Sprintf("at most %d keys", most), Got: strconv.Itoa(len(m))}
	}
	for i := range m {
		k := m[i].Key
		if err := Text(field+" key", &m[i].Key, MaxMetricKey, true); err != nil {
			return err
		}
		if strings.TrimSpace(k) == "" {
			return &FieldError{Field: field, Rule: "keys of 1 to 64 characters", Got: "an empty key"}
		}
		f, err := strconv.ParseFloat(m[i].Value.String(), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return &FieldError{Field: field + "." + m[i].Key, Rule: "a finite number", Got: clip(m[i].Value.String(), 40)}
		}
		if len(m[i].Value) > 32 {
			m[i].Value = json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	}
	return nil
}

// Event is one line of the ledger: who, what, outcome, file and three numbers.
// ID and At are given by the writer; a caller leaves them zero.
type Event struct {
	ID         int64           `json:"id"`
	At         Millis          `json:"at"`                // wall clock at commit, never clamped
	SaidAt     Millis          `json:"said_at,omitempty"` // when it was said, if earlier (spooled, imported)
	Actor      string          `json:"actor"`
	Type       string          `json:"type"`
	Object     string          `json:"object_id,omitempty"`
	ObjectType string          `json:"object_type,omitempty"`
	Workspace  string          `json:"workspace,omitempty"`
	Outcome    string          `json:"outcome,omitempty"`
	File       string          `json:"file,omitempty"`
	Metrics    Metrics         `json:"metrics,omitempty"`
	Injectable bool            `json:"injectable"`
	Source     Source          `json:"source"`
	Session    string          `json:"session_id,omitempty"`
	Caller     string          `json:"caller,omitempty"` // the connection's workspace, as the service saw it
	Data       json.RawMessage `json:"data,omitempty"`   // Steward's own: transitions, answers, evidence
}

// Failing tells whether the event reports a failure: its type is failed or
// error or ends in one of them after '_', '.' or '-', or its outcome is failed,
// error or failure. Case does not matter. An imported event never fails.
func (e *Event) Failing() bool {
	if e.Source == Import {
		return false
	}
	switch strings.ToLower(e.Outcome) {
	case "failed", "error", "failure":
		return true
	}
	t := strings.ToLower(e.Type)
	for _, w := range [...]string{"failed", "error"} {
		if rest, ok := strings.CutSuffix(t, w); ok && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], "_.-")) {
			return true
		}
	}
	return false
}

// Resolving tells whether the event resolves an earlier failure of the same
// workspace, actor and object.
func (e *Event) Resolving() bool {
	return e.Source != Import && !e.Failing() && (e.Type == TypeDone || e.Type == TypeResolved)
}

// Moving tells whether the event counts as its actor's activity. What the person
// decides does not: they are the one who looks, not one of those at work.
func (e *Event) Moving() bool {
	return e.Source != Import && e.Source != Person && e.Type != TypeFocus
}

// InjectableByDefault says what `injectable` is when a receipt leaves it out.
func InjectableByDefault(typ string) bool {
	return typ != "progress" && typ != "heartbeat" && typ != "note"
}

// Validate checks every field against its limit, folds line breaks and tabs of
// one-line fields into one space, and returns a *FieldError that names the
// field, the limit and what came.
func (e *Event) Validate() error {
	if e.Actor == "" {
		return &FieldError{Field: "actor", Rule: "required, 1 to 128 characters", Got: "nothing"}
	}
	if e.Type == "" {
		return &FieldError{Field: "type", Rule: "required, 1 to 64 characters", Got: "nothing"}
	}
	for _, f := range [...]struct {
		name string
		text *string
		max  int
	}{
		{"actor", &e.Actor, MaxActor}, {"type", &e.Type, MaxType}, {"object_id", &e.Object, MaxObject},
		{"object_type", &e.ObjectType, MaxType}, {"workspace", &e.Workspace, MaxWorkspace}, {"session_id", &e.Session, MaxSession},
		{"caller", &e.Caller, MaxWorkspace}, {"outcome", &e.Outcome, MaxOutcome}, {"file", &e.File, MaxFile},
	} {
		if *f.text == "" {
			continue
		}
		if err := Text(f.name, f.text, f.max, true); err != nil {
			return err
		}
	}
	if strings.TrimSpace(e.Actor) == "" {
		return &FieldError{Field: "actor", Rule: "at least one visible character", Got: "only space"}
	}
	if strings.TrimSpace(e.Type) == "" {
		return &FieldError{Field: "type", Rule: "at least one visible character", Got: "only space"}
	}
	if err := e.Metrics.Check("metrics", MaxMetrics); err != nil {
		return err
	}
	if len(e.Data) > MaxData {
		return &FieldError{Field: "data", Rule: fmt.Sprintf("at most %d bytes as JSON", MaxData), Got: strconv.Itoa(len(e.Data))}
	}
	if len(e.Data) > 0 && !json.Valid(e.Data) {
		return &FieldError{Field: "data", Rule: "JSON", Got: "something else"}
	}
	if int(e.Source) >= len(sourceNames) {
		return &FieldError{Field: "source", Rule: "0 to 4", Got: strconv.Itoa(int(e.Source))}
	}
	return nil
}

// Text checks one text field in place: valid UTF-8, no NUL, at most max code
// points. With oneLine, runs of line breaks and tabs become one space.
func Text(field string, s *string, max int, oneLine bool) error {
	if !utf8.ValidString(*s) {
		return &FieldError{Field: field, Rule: "valid UTF-8", Got: "bytes that are not"}
	}
	breaks := false // one pass over bytes: this runs for every text of every receipt
	for i := 0; i < len(*s); i++ {
		switch c := (*s)[i]; {
		case c == 0:
			return &FieldError{Field: field, Rule: "no NUL character", Got: "one"}
		case c >= '\t' && c <= '\r', c == 0xc2, c == 0xe2: // the last two begin U+0085 and U+2028, U+2029
			breaks = true
		}
	}
	if oneLine && breaks {
		*s = fold(*s)
	}
	if len(*s) > max { // bytes bound code points from above, so short texts are not counted
		if n := utf8.RuneCountInString(*s); n > max {
			return &FieldError{Field: field, Rule: fmt.Sprintf("at most %d characters", max), Got: strconv.Itoa(n)}
		}
	}
	return nil
}

func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	in := false
	for _, r := range s {
		switch r {
		case '\n', '\r', '\t', '\v', '\f', '\u0085', '\u2028', '\u2029':
			if !in {
				b.WriteByte(' ')
			}
			in = true
		default:
			b.WriteRune(r)
			in = false
		}
	}
	return b.String()
}

// Clip cuts s to at most max code points, the last being … when it was longer.
func Clip(s string, max int) string { return clip(s, max) }

func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	n := 0
	cut := 0
	for i := range s {
		if n == max-1 {
			cut = i
		}
		n++
		if n > max {
			return s[:cut] + "…"
		}
	}
	return s
}

// compact marshals v without escaping <, > and &.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
