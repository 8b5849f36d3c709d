package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// call is one line of a conversation with an operation.
type call struct {
	caller Caller
	tool   string
	args   string
}

var (
	shell  = Caller{Surface: Shell, Workspace: "cron"}
	onWeb  = Caller{Surface: Web, Person: true}
	nobody = Caller{Surface: Web} // who has not shown the owner's token
	other  = Caller{Surface: Agent, Workspace: "web", Stream: "web"}
	// nameless is plain HTTP without a stream.
	nameless = Caller{Surface: Agent}
	spooled  = Caller{Surface: Agent, Workspace: "api", Session: "s-1", SaidAt: 1796036400000}
)

// conversations is what each operation is asked.
var conversations = map[string][]call{
	"report_done": {
		{agent, "report_done", `{"actor":"codex"}`},
		{agent, "report_done", `{"actor":"codex","type":"failed","object_id":"#12","outcome":"2 tests\nfail","file":"a/b.go","metrics":{"z":1,"a":2.50,"m":-1e3,"d1":4,"d2":5}}`},
		{agent, "report_done", `{"actor":"codex","type":"progress"}`},
		{agent, "report_done", `{"actor":"codex","type":"note","injectable":true}`},
		{spooled, "report_done", `{"actor":"codex","injectable":false}`},
		{person, "report_done", `{"actor":"user"}`},
		{shell, "report_done", `{"actor":"backup","outcome":"nightly <copy> & check"}`},
		{agent, "report_done", `{"actor":"codex","workspace":"other"}`},
		{agent, "report_done", `{}`},
		{agent, "recent_events", `{"since_id":0}`},
	},
	"recent_events": {
		{agent, "recent_events", `{}`},
		{agent, "recent_events", `{"since_id":7}`},
		{agent, "report_done", `{"actor":"a"}`},
		{agent, "report_done", `{"actor":"b"}`},
		{agent, "report_done", `{"actor":"c"}`},
		{agent, "recent_events", `{"limit":2}`},
		{agent, "recent_events", `{"since_id":0,"limit":2}`},
		{agent, "recent_events", `{"since_id":2,"limit":2}`},
		{agent, "recent_events", `{"since_id":3}`},
		{agent, "recent_events", `{"limit":201}`},
		{agent, "recent_events", `{"since_id":-1}`},
	},
	"backup_now": { // what it does: TestBackupNow
		{shell, "backup_now", `{"file":"here.db"}`},
		{shell, "backup_now", `{"to":"/x"}`},
		{agent, "backup_now", `{}`},
	},
	"ledger_import": { // what it does: TestLedgerImportTakesHandoffsToo
		{shell, "ledger_import", `{}`},
		{shell, "ledger_import", `{"file":"older.db"}`},
		{shell, "ledger_import", `{"file":"/no/such/older.db"}`},
		{agent, "ledger_import", `{"file":"/older.db"}`},
	},
	"event_search": {
		{agent, "report_done", `{"actor":"library","outcome":"下载完成：12 首"}`},
		{agent, "report_done", `{"actor":"codex","type":"failed","outcome":"duplicate column","file":"db/42.sql"}`},
		{shell, "event_search", `{"query":"下载"}`},
		{shell, "event_search", `{"query":"dupl 42"}`},
		{shell, "event_search", `{"query":"codex library"}`},
		{shell, "event_search", `{"query":"o","limit":1}`},
		{shell, "event_search", `{"query":"codex","before_id":2}`},
		{shell, "event_search", `{"query":"--"}`},
		{shell, "event_search", `{}`},
		{agent, "event_search", `{"query":"codex"}`},
	},
	"focus_change": {
		{agent, "focus_change", `{"object_id":"main.go","object_type":"file"}`},
		{agent, "focus_change", `{"workspace":"web"}`},
		{person, "focus_change", `{"object_type":"page"}`},
		{agent, "focus_change", `{"actor":"codex"}`},
		{agent, "focus_change", `{"workspace":"","object_id":" "}`},
		{agent, "recent_events", `{"since_id":0}`},
		{agent, "situation_report", `{}`},
		{agent, "situation_report", `{"workspace_id":"api"}`},
	},
	"app_command": {
		{agent, "app_command", `{"op":"navigate","view":"ledger","route":"/e/7","reason":"look\nhere"}`},
		{agent, "app_command", `{"op":"dispatch","target":"dj"}`},
		{agent, "app_command", `{"op":"dispatch","view":"studio","instruction":"mix\nit"}`},
		{agent, "app_command", `{"op":"dispatch","target":"dj","view":"handoffs"}`},
		{agent, "app_command", `{"op":"dispatch","target":"dj","view":"nowhere"}`},
		{agent, "app_command", `{"op":"navigate"}`},
		{agent, "app_command", `{"op":"navigate","view":"studio"}`},
		{agent, "app_command", `{"op":"dispatch"}`},
		{agent, "app_command", `{"op":"dispatch","view":"handoffs"}`},
		{agent, "app_command", `{"op":"dispatch","target":"moon"}`},
		{agent, "app_command", `{"op":"fly","view":"x","target":"y"}`},
		{agent, "app_command", `{"view":"ledger"}`},
		{agent, "app_command", `{"op":"navigate","view":7}`},
		{agent, "app_command", `{"op":"navigate","view":"ledger","speed":1}`},
		{agent, "recent_events", `{}`},
	},
	"situation_report": {
		{agent, "situation_report", `{}`},
		{agent, "report_done", `{"actor":"codex","type":"failed","object_id":"#12","outcome":"red"}`},
		{agent, "report_done", `{"actor":"codex","type":"failed","object_id":"#12","outcome":"still red"}`},
		{Caller{Surface: Agent, Workspace: "web"}, "report_done", `{"actor":"claude","outcome":"page done","file":"index.html","metrics":{"kb":12}}`},
		{agent, "report_done", `{"actor":"codex","type":"progress","outcome":"half way"}`},
		{agent, "focus_change", `{"object_id":"main.go","object_type":"file"}`},
		{agent, "handoff_create", `{"target":"dj","instruction":"mix\n it","idempotency_key":"k1","attachments":[{"path":"/a"}]}`},
		{agent, "situation_report", `{}`},
		{agent, "situation_report", `{"since_id":3}`},
		{agent, "situation_report", `{"since_id":6}`},
		{agent, "situation_report", `{"workspace_id":"web"}`},
		{agent, "situation_report", `{"workspace_id":"no such"}`},
		{agent, "report_done", `{"actor":"codex","object_id":"#12","outcome":"green"}`},
		{agent, "situation_report", `{}`},
		{agent, "situation_report", `{"since_id":"3"}`},
	},
	"failure_acknowledge": {
		{agent, "report_done", `{"actor":"codex","type":"failed","object_id":"#12"}`},
		{agent, "report_done", `{"actor":"codex","type":"failed","object_id":"#12","outcome":"again"}`},
		{person, "failure_acknowledge", `{"event_id":1}`},
		{person, "failure_acknowledge", `{"event_id":9}`},
		{person, "failure_acknowledge", `{"event_id":2,"reason":"failed"}`},
		{person, "failure_acknowledge", `{"event_id":2}`},
		{person, "failure_acknowledge", `{}`},
		{person, "recent_events", `{"since_id":2}`},
		{person, "situation_report", `{}`},
	},
	"handoff_create": {
		{agent, "handoff_create", `{"target":"studio","instruction":"Record <it> & mix\nthen send","idempotency_key":"k1","source_session_id":"s-9","attachments":[{"path":"/a/b.wav","name":"b"},{"path":"/c"}],"context":{"bpm":120,"who":{"x":[1,2]}}}`},
		{shell, "handoff_create", `{"idempotency_key":"k1","instruction":"Record <it> & mix\nthen send","target":"studio","attachments":[{"name":"b","path":"/a/b.wav"},{"path":"/c"}],"context":{"who":{"x":[1,2.0]},"bpm":12e1}}`},
		{agent, "handoff_create", `{"target":"studio","instruction":"other","idempotency_key":"k1"}`},
		{agent, "handoff_create", `{"target":"moon","instruction":"x","idempotency_key":"k2"}`},
		{agent, "handoff_create", `{"target":"dj","instruction":" ","idempotency_key":"k2"}`},
		{agent, "handoff_create", `{"target":"dj","instruction":"x","idempotency_key":"k2","attachments":[{"name":"n"}]}`},
		{agent, "handoff_create", `{"target":"dj","instruction":"x","idempotency_key":"k2","context":[1]}`},
		{agent, "recent_events", `{"since_id":0}`},
	},
	"handoff_claim": {
		{agent, "handoff_create", `{"target":"dj","instruction":"x","idempotency_key":"k1"}`},
		{agent, "handoff_claim", `{"handoff_id":"{1}","worker_session_id":"w-1"}`},
		{agent, "handoff_claim", `{"handoff_id":"{1}","worker_session_id":"w-2"}`},
		{agent, "handoff_claim", `{"handoff_id":"{1}","worker_session_id":"w-1"}`},
		{agent, "handoff_claim", `{"handoff_id":"{1}","worker_session_id":"w-1"}`},
		{agent, "handoff_claim", `{"handoff_id":"H-0000","worker_session_id":"w-1"}`},
		{agent, "handoff_claim", `{"handoff_id":"{1}"}`},
	},
	"handoff_finish": {
		{agent, "handoff_create", `{"target":"dj","instruction":"x","idempotency_key":"k1"}`},
		{agent, "handoff_finish", `{"handoff_id":"{1}","worker_session_id":"w-1","status":"done"}`},
		{agent, "handoff_claim", `{"handoff_id":"{1}","worker_session_id":"w-1"}`},
		{agent, "handoff_finish", `{"handoff_id":"{1}","worker_session_id":"w-2","status":"done"}`},
		{agent, "handoff_finish", `{"handoff_id":"{1}","worker_session_id":"w-1","status":"finished"}`},
		{agent, "handoff_finish", `{"handoff_id":"{1}","worker_session_id":"w-1","status":"failed","outcome":"no disk","error":"line 1\nline 2","metrics":{"z":1,"a":2},"fence":1}`},
		{agent, "handoff_finish", `{"handoff_id":"{1}","worker_session_id":"w-1","status":"failed"}`},
		{agent, "handoff_finish", `{"handoff_id":"{1}","worker_session_id":"w-1","status":"done"}`},
		{agent, "handoff_finish", `{"handoff_id":"{1}","worker_session_id":"w-1","status":"done","metrics":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9}}`},
		{agent, "situation_report", `{}`},
	},
	"handoff_get": {
		{agent, "handoff_create", `{"target":"dj","instruction":"x","idempotency_key":"k1","context":{"a":1}}`},
		{agent, "handoff_claim", `{"handoff_id":"{1}","worker_session_id":"w-1"}`},
		{agent, "handoff_get", `{"handoff_id":"{1}"}`},
		{agent, "handoff_get", `{"handoff_id":"hnd_01ARZ3NDEKTSV4RRFFQ69G5FAV"}`},
		{agent, "handoff_get", `{}`},
	},
	"handoff_list": {
		{agent, "handoff_list", `{}`},
		{agent, "handoff_create", `{"target":"dj","instruction":"first\nline","idempotency_key":"k1","attachments":[{"path":"/secret/path"}]}`},
		{agent, "handoff_create", `{"target":"studio","instruction":"x","idempotency_key":"k2"}`},
		{agent, "handoff_claim", `{"handoff_id":"{2}","worker_session_id":"w-1"}`},
		{agent, "handoff_list", `{}`},
		{agent, "handoff_list", `{"limit":1}`},
		{agent, "handoff_list", `{"status":"pending","target":""}`},
		{agent, "handoff_list", `{"target":"moon"}`},
		{agent, "handoff_list", `{"status":"open"}`},
		{agent, "handoff_list", `{"limit":51}`},
	},
	"handoff_settle": {
		{agent, "handoff_create", `{"target":"dj","instruction":"x","idempotency_key":"k1"}`},
		{agent, "handoff_claim", `{"handoff_id":"{1}","worker_session_id":"w-1"}`},
		{agent, "handoff_settle", `{"handoff_id":"{1}","status":"done"}`},
		{person, "handoff_settle", `{"handoff_id":"{1}","status":"done","fence":0}`},
		{person, "handoff_settle", `{"handoff_id":"{1}","status":"done","outcome":"did it myself","reason":"w-1 is gone","fence":1}`},
		{person, "handoff_settle", `{"handoff_id":"{1}","status":"failed"}`},
		{agent, "handoff_finish", `{"handoff_id":"{1}","worker_session_id":"w-1","status":"done","fence":1}`},
		{agent, "recent_events", `{"since_id":2}`},
	},
	"ask_human": {
		{agent, "ask_human", `{"question":"Drop the\ncolumn?","options":["Drop it","Keep it"],"context":"1,204 rows\nuse it","urgency":"blocking","default_answer":"Keep it","timeout_seconds":60,"idempotency_key":"k"}`},
		{agent, "ask_human", `{"question":"Drop the column?","options":["Drop it","Keep it"],"context":"1,204 rows\nuse it","urgency":"blocking","default_answer":"Keep it","timeout_seconds":60,"idempotency_key":"k"}`},
		{agent, "ask_human", `{"question":"Drop the table?","idempotency_key":"k"}`},
		{shell, "ask_human", `{"question":"Go?","stream":"night","reversible":false,"idempotency_key":"k"}`},
		{nameless, "ask_human", `{"question":"Go?"}`},
		{nameless, "ask_human", `{"question":"Go?","stream":"s"}`},
		{agent, "ask_human", `{"question":" "}`},
		{agent, "ask_human", `{"question":"Go?","options":["only one"]}`},
		{agent, "ask_human", `{"question":"Go?","options":["a","b","a"]}`},
		{agent, "ask_human", `{"question":"Go?","options":["a",""]}`},
		{agent, "ask_human", `{"question":"Go?","options":["1","2","3","4","5","6"]}`},
		{agent, "ask_human", `{"question":"Go?","options":["a",1]}`},
		{agent, "ask_human", `{"question":"Go?","options":["a","b"],"default_answer":"c"}`},
		{agent, "ask_human", `{"question":"Go?","default_answer":"yes","reversible":false}`},
		{agent, "ask_human", `{"question":"Go?","timeout_seconds":86401}`},
		{agent, "ask_human", `{"question":"Go?","urgency":"now"}`},
		{agent, "situation_report", `{}`},
		{agent, "recent_events", `{"since_id":0}`},
	},
	"wait_for_answer": {
		{agent, "ask_human", `{"question":"Go?","options":["yes","no"]}`},
		{agent, "wait_for_answer", `{"id":"{1}","timeout_seconds":0}`},
		{person, "ticket_answer", `{"id":"{1}","answer":"yes"}`},
		{other, "wait_for_answer", `{"id":"{1}"}`},
		{agent, "wait_for_answer", `{"id":"{1}"}`},
		{agent, "wait_for_answer", `{"id":"{1}"}`},
		{person, "ticket_undo", `{"id":"{1}"}`},
		{other, "wait_for_answer", `{"id":"{1}","timeout_seconds":0}`},
		{agent, "wait_for_answer", `{"id":"{1}","timeout_seconds":600}`},
		{agent, "wait_for_answer", `{"id":"{1}","timeout_seconds":0}`},
		{agent, "wait_for_answer", `{"id":"tkt_1"}`},
		{agent, "wait_for_answer", `{"id":"{1}","timeout_seconds":-1}`},
		{person, "wait_for_answer", `{"id":"{1}"}`},
		{agent, "recent_events", `{"since_id":0}`},
	},
	"list_pending": {
		{agent, "ask_human", `{"question":"Mine?","context":"short"}`},
		{other, "ask_human", `{"question":"Theirs?","context":"` + strings.Repeat("x", 250) + `"}`},
		{agent, "list_pending", `{}`},
		{other, "list_pending", `{}`},
	},
	"cancel_ticket": {
		{agent, "ask_human", `{"question":"Go?"}`},
		{other, "cancel_ticket", `{"id":"{1}"}`},
		{agent, "cancel_ticket", `{"id":"{1}"}`},
		{agent, "cancel_ticket", `{"id":"{1}"}`},
		{person, "ticket_answer", `{"id":"{1}","answer":"yes"}`},
		{agent, "wait_for_answer", `{"id":"{1}"}`},
		{agent, "cancel_ticket", `{"id":"T-0000"}`},
	},
	"ticket_answer": {
		{agent, "ask_human", `{"question":"Go?"}`},
		{other, "ask_human", `{"question":"Go?"}`},
		{agent, "ask_human", `{"question":"Stay?"}`},
		{agent, "ticket_answer", `{"id":"{1}","answer":"yes"}`},
		{shell, "ticket_answer", `{"id":"{1}","answer":"yes"}`},
		{person, "ticket_answer", `{"id":"{1}","answer":" "}`},
		{person, "ticket_answer", `{"id":"{1}","answer":"yes","ids":["{3}"]}`},
		{person, "ticket_answer", `{"id":"{1}","answer":"yes","ids":["{1}","{2}"],"answered_by":"agent"}`},
		{person, "ticket_answer", `{"id":"{2}","answer":"no"}`},
		{person, "ticket_answer", `{"id":"nonsense","answer":"no"}`},
		{person, "ticket_list", `{}`},
	},
	"ticket_undo": {
		{agent, "ask_human", `{"question":"Go?","timeout_seconds":60}`},
		{person, "ticket_undo", `{"id":"{1}"}`},
		{person, "ticket_answer", `{"id":"{1}","answer":"yes"}`},
		{agent, "ticket_undo", `{"id":"{1}"}`},
		{person, "ticket_undo", `{"id":"{1}"}`},
		{person, "recent_events", `{"since_id":1}`},
	},
	"ticket_list": {
		{person, "ticket_list", `{}`},
		{agent, "ticket_list", `{}`},
	},
	"handoff_release": {
		{agent, "handoff_create", `{"target":"dj","instruction":"x","idempotency_key":"k1"}`},
		{person, "handoff_release", `{"handoff_id":"{1}"}`},
		{agent, "handoff_claim", `{"handoff_id":"{1}","worker_session_id":"w-1"}`},
		{person, "handoff_release", `{"handoff_id":"{1}","reason":"w-1 is gone"}`},
		{agent, "handoff_finish", `{"handoff_id":"{1}","worker_session_id":"w-1","status":"done","fence":1}`},
		{agent, "recent_events", `{"since_id":2}`},
	},
	"brief_get": {
		{person, "brief_get", `{}`},
		{agent, "report_done", `{"actor":"codex","type":"failed","object_id":"#12","outcome":"red"}`},
		{agent, "report_done", `{"actor":"codex","type":"failed","object_id":"#12","outcome":"still red"}`},
		{Caller{Surface: Agent, Workspace: "web"}, "report_done", `{"actor":"claude","outcome":"page done","file":"index.html","metrics":{"kb":12}}`},
		{agent, "report_done", `{"actor":"codex","type":"progress","outcome":"half way"}`},
		{agent, "focus_change", `{"object_id":"main.go","object_type":"file"}`},
		{agent, "handoff_create", `{"target":"dj","instruction":"mix\n it","idempotency_key":"k1","attachments":[{"path":"/a"}]}`},
		{person, "brief_get", `{}`},
		{person, "brief_seen", `{"through_id":3}`},
		{onWeb, "brief_get", `{}`},
		{person, "brief_get", `{"since_id":1}`},
		{agent, "brief_get", `{}`},
	},
	"brief_seen": {
		{agent, "report_done", `{"actor":"a"}`},
		{agent, "report_done", `{"actor":"b"}`},
		{person, "brief_seen", `{"through_id":1}`},
		{person, "brief_seen", `{"through_id":0}`},
		{person, "brief_seen", `{"through_id":99}`},
		{person, "brief_seen", `{"through_id":-1}`},
		{person, "brief_seen", `{}`},
		{nobody, "brief_seen", `{"through_id":1}`},
		{agent, "brief_seen", `{"through_id":1}`},
		{person, "recent_events", `{"since_id":2}`},
	},
	"event_get": {
		{agent, "report_done", `{"actor":"codex","object_id":"hnd_01ARZ3NDEKTSV4RRFFQ69G5FAV","outcome":"it names no handoff"}`},
		{agent, "handoff_create", `{"target":"dj","instruction":"x","idempotency_key":"k1"}`},
		{person, "event_get", `{"event_id":1}`},
		{person, "event_get", `{"event_id":2}`},
		{person, "event_get", `{"event_id":3}`},
		{person, "event_get", `{"event_id":0}`},
		{agent, "event_get", `{"event_id":1}`},
	},
	"settings_get": {
		{person, "settings_get", `{}`},
		{shell, "settings_get", `{}`},
	},
	"settings_set": {
		{person, "settings_set", `{"theme":"dark"}`},
		{person, "settings_set", `{"language":"zh-CN","single_keys":false}`},
		{person, "settings_set", `{"update_check":true}`},
		{person, "settings_set", `{"theme":"pink"}`},
		{person, "settings_set", `{"single_keys":"no"}`},
		{person, "settings_set", `{"targets":["x"]}`},
		{person, "settings_set", `{}`},
		{nobody, "settings_set", `{"theme":"dark"}`},
		{agent, "settings_set", `{"theme":"dark"}`},
		{nobody, "settings_set", `{"update_check":true}`},
		{agent, "settings_set", `{"update_check":true}`},
		{shell, "settings_set", `{"update_check":true}`},
	},
	"attachment_open": { // what it does: TestAttachmentOpen
		{agent, "handoff_create", `{"target":"dj","instruction":"x","idempotency_key":"k1","attachments":[{"path":"here.txt"}]}`},
		{person, "attachment_open", `{"handoff_id":"{1}","index":1}`},
		{person, "attachment_open", `{"handoff_id":"{1}","index":0}`},
		{person, "attachment_open", `{"handoff_id":"{1}"}`},
		{person, "attachment_open", `{"handoff_id":"H-0000","index":0}`},
		{onWeb, "attachment_open", `{"handoff_id":"{1}","index":0}`},
		{agent, "attachment_open", `{"handoff_id":"{1}","index":0}`},
	},
}

// Each operation's own words, on a real ledger at a fixed time. Ids that hold
// randomness are numbered in the order in which they appear; {1} in arguments
// stands for the first.
func TestSnapshots(t *testing.T) {
	for name, calls := range conversations {
		t.Run(name, func(t *testing.T) { snapshot(t, name, calls) })
	}
	for _, o := range All() {
		if conversations[o.Name] == nil {
			t.Errorf("%s has no snapshot", o.Name)
		}
	}
}

func snapshot(t *testing.T, name string, calls []call) {
	b := newBench(t)
	var out bytes.Buffer
	var names naming
	for _, c := range calls {
		args := names.fill(c.args)
		r, err := b.Call(context.Background(), c.caller, c.tool, json.RawMessage(args))
		answer := r.JSON
		if err != nil {
			e, _ := errors.AsType[*Error](err)
			answer = e.JSON()
		} else if fault := breach(results[c.tool], answer); fault != "" {
			t.Errorf("%s(%s): not what its schema says: %s", c.tool, args, fault)
		}
		if !json.Valid(answer) || bytes.ContainsAny(answer, "\n\r") {
			t.Errorf("%s(%s): not one line of JSON: %s", c.tool, args, answer)
		}
		fmt.Fprintf(&out, "%s %s\n    %s\n", c.tool, names.hide(args), names.hide(string(answer)))
		b.clock.Add(time.Second)
	}
	golden(t, "calls/"+name+".golden", out.Bytes())
}

// results are the schemas of what each operation answers.
var results = func() map[string]*Schema {
	m := map[string]*Schema{}
	for _, o := range All() {
		m[o.Name] = o.Out
	}
	return m
}()

// An empty ledger is answered in the same form as a full one: a list that holds
// nothing is a list.
func TestNothingToTell(t *testing.T) {
	for _, o := range All() {
		t.Run(o.Name, func(t *testing.T) {
			answered := false
			for _, c := range []Caller{agent, shell, person} {
				r, err := newBench(t).Call(context.Background(), c, o.Name, json.RawMessage(`{}`))
				if err != nil {
					continue
				}
				answered = true
				if fault := breach(o.Out, r.JSON); fault != "" {
					t.Errorf("%v: %s in %s", c.Surface, fault, r.JSON)
				}
			}
			if !answered {
				t.Skip("nothing is answered without arguments")
			}
		})
	}
}

// breach says where a result is not what its schema promises to the front end,
// whose types are made of it; ” for nowhere.
func breach(s *Schema, result []byte) string {
	dec := json.NewDecoder(bytes.NewReader(result))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return err.Error()
	}
	return s.breach("result", v)
}

func (s *Schema) breach(at string, v any) string {
	if v == nil {
		if s.Nullable {
			return ""
		}
		return at + " is null"
	}
	is := ""
	switch v := v.(type) {
	case string:
		is = "string"
		if len(s.Words) > 0 && !slices.Contains(s.Words, v) {
			return fmt.Sprintf("%s is %q", at, v)
		}
	case bool:
		is = "boolean"
	case json.Number:
		is = "number"
		if _, err := v.Int64(); err == nil && s.Type == "integer" {
			is = "integer"
		}
	case []any:
		is = "array"
		for i, e := range v {
			if s.Items != nil {
				if fault := s.Items.breach(fmt.Sprintf("%s[%d]", at, i), e); fault != "" {
					return fault
				}
			}
		}
	case map[string]any:
		is = "object"
		for k, e := range v {
			one := s.Values
			if !s.Free && s.Values == nil {
				i := slices.IndexFunc(s.Props, func(p Prop) bool { return p.Name == k })
				if i < 0 {
					return fmt.Sprintf("%s.%s is not in the schema", at, k)
				}
				one = s.Props[i].Schema
			}
			if one != nil {
				if fault := one.breach(at+"."+k, e); fault != "" {
					return fault
				}
			}
		}
		for _, p := range s.Props {
			if _, there := v[p.Name]; p.Required && !there {
				return fmt.Sprintf("%s.%s is missing", at, p.Name)
			}
		}
	}
	if is != s.Type {
		return fmt.Sprintf("%s: a %s, not a %s", at, is, s.Type)
	}
	return ""
}

// naming numbers the ids of handoffs and tickets.
type naming struct{ ids []string }

var (
	fullID  = regexp.MustCompile(`(?:hnd|tkt)_[0-9A-HJKMNP-TV-Z]{26}`)
	shortID = regexp.MustCompile(`"H-[0-9A-HJKMNP-TV-Z]{4,}"`)
)

func (n *naming) fill(args string) string {
	for i, id := range n.ids {
		args = regexp.MustCompile(fmt.Sprintf(`\{%d\}`, i+1)).ReplaceAllString(args, id)
	}
	return args
}

func (n *naming) hide(s string) string {
	s = fullID.ReplaceAllStringFunc(s, func(id string) string {
		for i, known := range n.ids {
			if id == known {
				return fmt.Sprintf("%s%d", id[:4], i+1)
			}
		}
		n.ids = append(n.ids, id)
		return fmt.Sprintf("%s%d", id[:4], len(n.ids))
	})
	return shortID.ReplaceAllString(s, `"H-…"`)
}
