package cli

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/app/daemon"
	"steward/handoff"
	"steward/ledger"
	"steward/mcp/ops"
)

// typed runs a command in this process; its environment has only a home.
func typed(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(args, strings.NewReader(""), &out, &errs, []string{"HOME=" + t.TempDir(), "LOCALAPPDATA=" + t.TempDir()})
	return code, out.String(), errs.String()
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		line string
		code int
		says string
	}{
		{"", 2, "Usage: steward COMMAND"},
		{"statsu", 2, "did you mean `steward status`?"},
		{"frobnicate", 2, "see `steward --help`"},
		{"status --wrokspace x", 2, "did you mean --workspace?"},
		{"status --workspace", 2, "--workspace: a value must follow"},
		{"status --workspace a --workspace b", 2, "--workspace: once; got it twice"},
		{"status --since -1", 2, "--since: an event id, 0 or greater; got -1"},
		{"status extra", 2, `status: does not take "extra"`},
		{"serve --auto=perhaps", 2, "--auto: alone, or =true or =false; got =perhaps"},
		{"emit", 2, "emit: too few arguments"},
		{"emit hello", 2, "--actor: required"},
		{"emit hello --actor me --metric n", 2, "--metric: KEY=NUMBER, or one JSON object; got n"},
		{"emit hello --actor me --metric n=many", 2, "got n=many"},
		{"emit hello --actor me --injectable maybe", 2, "--injectable: true or false; got maybe"},
		{"call", 2, "call: too few arguments"},
		{"call reprot_done", 3, "did you mean report_done?"},
		{"call zzz", 3, "there are app_command, ask_human, backup_now"},
		{"call handoff_settle", 5, "a person decides this"},
		{"call report_done --actr me", 2, "did you mean --actor?"},
		{"call report_done [] ", 2, "arguments: one JSON object; got something else"},
		{"call report_done {} --actor me", 2, "as one JSON object or as options; got both"},
		{"call recent_events --limit many", 2, "--limit: a number; got many"},
		{"call handoff_create --context {", 2, "--context: not valid JSON"},
		{"call handoff_create --attachments /a", 2, "--attachments: each item as JSON; got /a"},
		{"call report_done -", 2, "arguments: one JSON object"},
		{"verify", 3, "there is no ledger at"},
		{"verify none.db", 3, "FILE: there is no "},
		{"search", 2, "search: too few arguments"},
		{"search x --limit none", 2, "--limit: a number, 1 or greater; got none"},
		{"search x --before 0", 2, "--before: a number, 1 or greater; got 0"},
		{"export", 3, "there is no ledger at"},
		{"export all", 2, `export: does not take "all"`},
		{"export --from yesterday", 2, "--from: a time such as"},
		{"export --from 1h --to 2h", 2, "--from: before --to"},
		{"export --actor=", 2, "--actor: a name; got an empty one"},
		{"backup a b", 2, `backup: does not take "b"`},
		{"import", 2, "import: too few arguments"},
		{"serve --listen steward.lan:1", 2, "--listen: ADDRESS:PORT"},
		{"serve --listen :8971", 2, "--listen: ADDRESS:PORT"},
		{"serve --listen 0.0.0.0:8971", 2, "STEWARD_TOKEN: must be set to listen on 0.0.0.0:8971"},
	} {
		code, out, errs := typed(t, strings.Fields(c.line)...)
		if code != c.code || !strings.Contains(errs, c.says) || out != "" {
			t.Errorf("steward %s: exit %d, stdout %q, stderr %q; want %d and %q", c.line, code, out, errs, c.code, c.says)
		}
		if c.line == "" {
			continue
		}
		words := strings.Fields(c.line)
		code, out, errs = typed(t, append([]string{words[0], "--json"}, words[1:]...)...)
		var e struct {
			Error struct{ Code, Message string }
		}
		if err := json.Unmarshal([]byte(errs), &e); err != nil || code != c.code || e.Error.Code == "" || e.Error.Message == "" || out != "" {
			t.Errorf("steward %s --json: exit %d, stderr %q: %v", c.line, code, errs, err)
		}
	}
}

// By exit code 6 of stop the installer for Windows knows a service that it cannot
// replace: settings that lead nowhere must not look like one.
func TestStopWhereNothingCanRun(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  []string
		code int
	}{
		{nil, 2},
		{[]string{"STEWARD_HOME=here"}, 2},
		{[]string{"STEWARD_HOME=" + home, "STEWARD_DB=here"}, 2},
		{[]string{"STEWARD_HOME=" + home, "STEWARD_SOCKET=here"}, 2},
		{[]string{"STEWARD_HOME=" + filepath.Join(home, "config.json")}, 2},
		{[]string{"STEWARD_HOME=" + home}, 0},
	} {
		var out, errs bytes.Buffer
		if code := Main([]string{"stop", "--json"}, strings.NewReader(""), &out, &errs, c.env); code != c.code {
			t.Errorf("%v: exit %d, want %d\n%s%s", c.env, code, c.code, &out, &errs)
		}
	}
}

func TestHelp(t *testing.T) {
	code, all, _ := typed(t, "--help")
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	for _, c := range commands() {
		if !strings.Contains(all, "\n  "+c.name+" ") {
			t.Errorf("the overview does not list %s", c.name)
		}
		code, one, errs := typed(t, c.name, "--help")
		if code != 0 || errs != "" {
			t.Errorf("%s --help: exit %d, %q", c.name, code, errs)
		}
		if !strings.Contains(one, "\nExamples:\n") || !strings.Contains(one, "--json") {
			t.Errorf("%s --help has no examples or does not name --json:\n%s", c.name, one)
		}
		if _, two, _ := typed(t, "help", c.name); one != two {
			t.Errorf("help %s differs from %s --help", c.name, c.name)
		}
		for _, line := range strings.Split(one, "\n") {
			if columns(line) > 130 {
				t.Errorf("%s --help: a line of %d columns: %s", c.name, columns(line), line)
			}
		}
	}
	for _, name := range toolNames() {
		code, one, errs := typed(t, "call", name, "--help")
		if code != 0 || errs != "" || !strings.HasPrefix(one, "Usage: steward call "+name) {
			t.Errorf("call %s --help: exit %d, %q, %q", name, code, one, errs)
		}
	}
	if code, _, errs := typed(t, "help", "frobnicate"); code != 2 || !strings.Contains(errs, "frobnicate") {
		t.Errorf("help frobnicate: exit %d, %q", code, errs)
	}
}

func TestParse(t *testing.T) {
	options := []option{{name: "name", value: "X"}, {name: "many", value: "X", repeat: true}, {name: "on"}}
	in, err := parse([]string{"a", "--many=1", "--on", "-name", "-", "--many", "", "-", "--", "--on", "-h"}, options)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(in.args, []string{"a", "-", "--on", "-h"}) {
		t.Errorf("arguments %q", in.args)
	}
	if in.get("name") != "-" || !in.on("on") || !slices.Equal(in.values["many"], []string{"1", ""}) || in.help {
		t.Errorf("%+v", in)
	}
	if !slices.Equal(in.order, []string{"many", "on", "name", "many"}) {
		t.Errorf("order %q", in.order)
	}
}

func TestToolArguments(t *testing.T) {
	for _, c := range []struct{ tool, line, want string }{
		{"report_done", `--actor|me|--outcome|say "hi"|--metrics|b=1|--metrics|a=2.5`, `{"actor":"me","outcome":"say \"hi\"","metrics":{"b":1,"a":2.5}}`},
		{"report_done", `--metrics|{"z":1,"a":2}|--actor|me|--injectable=false`, `{"metrics":{"z":1,"a":2},"actor":"me","injectable":false}`},
		{"report_done", `--object_id|x|--injectable`, `{"object_id":"x","injectable":true}`},
		{"recent_events", `--since-id|0|--limit|5`, `{"since_id":0,"limit":5}`},
		{"handoff_create", `--attachments|{"path":"/a"}|--attachments|{"path":"/b"}|--context|{"k":[1]}`, `{"attachments":[{"path":"/a"},{"path":"/b"}],"context":{"k":[1]}}`},
		{"handoff_create", `--attachments|[{"path":"/a"}]`, `{"attachments":[{"path":"/a"}]}`},
		{"situation_report", ``, `{}`},
	} {
		op, err := toolNamed(c.tool)
		if err != nil {
			t.Fatal(err)
		}
		special, err := callTool([]string{c.tool})
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		if c.line != "" {
			words = strings.Split(c.line, "|")
		}
		in, err := parse(words, special.options)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := argumentsOf(in, op); err != nil || string(got) != c.want {
			t.Errorf("%s %s: %s, %v; want %s", c.tool, c.line, got, err, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"serve", "status", "stop", "verify", "version", "doctor"}
	for written, want := range map[string]string{"sevre": "serve", "stat": "status", "stopp": "stop", "verfiy": "verify", "docter": "doctor", "x": "", "completely": "", "": ""} {
		if got := nearest(written, names); got != want {
			t.Errorf("nearest(%q) = %q; want %q", written, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü 你好 👩‍🚀":     "plain ü 你好 👩‍🚀",
		"\x1b[31mred\x1b[0m": "␛[31mred␛[0m",
		"a\nb\tc\r":          "a␊b␉c␍",
		"\x7f\u009b2J":       "␡<U+009B>2J",
		"evil\u202etxt":      "evil<U+202E>txt",
		"bad\xffbyte":        "bad�byte",
		"\u2028":             "<U+2028>",
		"tag\U000e0041":      "tag<U+E0041>",
		"�":                  "�",
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q; want %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "a", "\x1b]0;x\a", "\xff\xfe", "\u202e", "\U000e0001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := visible(s); strings.ContainsFunc(got, dangerous) || got != visible(got) {
			t.Errorf("visible(%q) = %q", s, got)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		shown := visibleJSON(b)
		var back, same string
		if err := json.Unmarshal(shown, &back); err != nil {
			t.Fatalf("%s: %v", shown, err)
		}
		if err := json.Unmarshal(b, &same); err != nil {
			t.Fatal(err)
		}
		if back != same || bytes.ContainsFunc(shown, dangerous) {
			t.Errorf("visibleJSON(%s) = %s", b, shown)
		}
	})
}

func TestSituation(t *testing.T) {
	now := ledger.At(time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC))
	ago := func(d time.Duration) ledger.Millis { return now - ledger.Millis(d.Milliseconds()) }
	workspace, object := "api", "login"
	r := ops.Report{
		Headline: "1 unresolved failure and 1 moving actor.",
		KeyEvents: []ledger.Event{
			{ID: 41, At: ago(30 * time.Second), Actor: "codex", Workspace: "api", Type: "done", Object: "login", Outcome: "works \x1b[2J now", File: "/a/b.go", Metrics: ledger.Metrics{{Key: "tests", Value: "12"}}},
			{ID: 7, At: ago(50 * time.Hour), Actor: "ci", Type: "released"},
		},
		KeyEventsMore: true,
		Failures: ops.FailureList{Total: 3, Items: []ops.FailureItem{
			{Event: ledger.Event{ID: 40, At: ago(5 * time.Minute), Actor: "ci", Type: "failed", Object: "main", Outcome: "红色"}, FirstAt: ago(3 * time.Hour), Count: 4}}},
		Movers: ops.MoverList{Total: 1, Items: []ops.MoverItem{{Actor: "codex", Workspace: "api", LastAt: ago(0), Count: 1, Last: ops.LastWord{Type: "progress", Object: "login", Outcome: "halfway"}}}},
		Focus:  &ops.Focus{Workspace: &workspace, Object: &object, At: ago(2 * time.Minute)},
		Handoffs: ops.OpenHandoffs{Counts: handoff.Count{Pending: 2, Done: 1}, Open: []handoff.Summary{
			{ID: "hnd_01ARZ3NDEKTSV4RRFFQ69G5FAV", Target: "studio", Preview: "Record the vocals", CreatedAt: ago(time.Hour)},
		}},
		Cut: true,
	}
	var b strings.Builder
	situation(&b, &r, now)
	want := `1 unresolved failure and 1 moving actor.

Unresolved failures (1 of 3)
  5 min ago  ci  main  4 times since 3 h ago  红色

Moving
  just now  codex in api  1 event  progress  login  halfway

Handoffs: 2 pending, 0 claimed, 0 running, 1 done, 0 failed, 0 cancelled
  1 h ago  H-5FAV  for studio  pending  Record the vocals
  … and 1 more: steward call handoff_list

In focus
  2 min ago  api  login

Newest key events
  #41  just now    codex in api  done  login  works ␛[2J now  /a/b.go  tests=12
  #7   2 days ago  ci            released

More did not fit: steward call recent_events shows everything.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "",
		"plain 下载":             "plain 下载",
		"=1+1":                 "'=1+1",
		"+49 30 1":             "'+49 30 1",
		"-1":                   "'-1",
		"@SUM(A1)":             "'@SUM(A1)",
		"  =1":                 "'  =1",
		"\t=1":                 "␉=1",
		"＝1":                   "'＝1",
		"a=1":                  "a=1",
		"\x1b[2J":              "␛[2J",
		`{"a":1}`:              `{"a":1}`,
		"2026-05-04T12:00:00Z": "2026-05-04T12:00:00Z",
	} {
		if got := harmless(in); got != want {
			t.Errorf("harmless(%q) = %q; want %q", in, got, want)
		}
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"", "a", `say "hi", twice`, "=1\r\n", "\xff", "@", "\u202e-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		w := bufio.NewWriter(&b)
		r := newRows(w)
		err := errors.Join(r.header(), r.event(ledger.Event{ID: 1, Actor: s, Type: "done", Outcome: s, File: s}))
		r.w.Flush()
		if err := errors.Join(err, w.Flush()); err != nil {
			t.Fatal(err)
		}
		all, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(all) != 2 || len(all[1]) != len(csvHeader) {
			t.Fatalf("%q: %d rows, %v", s, len(all), err)
		}
		for i, cell := range all[1] {
			if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@") || strings.ContainsFunc(cell, dangerous) {
				t.Errorf("%q: column %s is %q", s, csvHeader[i], cell)
			}
		}
		if want := harmless(s); all[1][3] != want {
			t.Errorf("%q: read back %q; want %q", s, all[1][3], want)
		}
	})
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		v    string
		end  bool
		want string
	}{
		{"24h", false, "2026-05-03T12:00:00.000Z"},
		{"24h ago", true, "2026-05-03T12:00:00.000Z"},
		{"7d", false, "2026-04-27T12:00:00.000Z"},
		{"2 w ago", false, "2026-04-20T12:00:00.000Z"},
		{"90min", false, "2026-05-04T10:30:00.000Z"},
		{"90m", false, "2026-05-04T10:30:00.000Z"},
		{"30s", false, "2026-05-04T11:59:30.000Z"},
		{"2026-05-01", false, "2026-05-01T00:00:00.000Z"},
		{"2026-05-01", true, "2026-05-01T23:59:59.999Z"},
		{"2026-05-01T10:00:00+02:00", true, "2026-05-01T08:00:00.000Z"},
		{"2026-05-01t10:00:00.5z", false, "2026-05-01T10:00:00.500Z"},
	} {
		if got, err := moment("from", c.v, now, c.end); err != nil || got.String() != c.want {
			t.Errorf("%q: %s, %v; want %s", c.v, got, err, c.want)
		}
	}
	if got, err := moment("from", " ", now, false); err != nil || got != 0 {
		t.Errorf("nothing: %d, %v", got, err)
	}
	for _, v := range []string{"yesterday", "2026-13-01", "24", "-24h", "1y", "9999999h", "2026-05-04 12:00"} {
		if _, err := moment("to", v, now, true); ops.CodeOf(err) != ops.Invalid || !strings.Contains(err.Error(), "--to: ") || !strings.HasSuffix(err.Error(), "got "+v) {
			t.Errorf("%q: %v", v, err)
		}
	}
}

func TestWelcomeShowsNoToken(t *testing.T) {
	text := welcome(&daemon.Door{URL: "http://127.0.0.1:8971", Owner: "STEWARD_TOKEN", Agent: "/a folder/it's/agent-token", Wide: "0.0.0.0:8971"}, "/opt/steward")
	for _, want := range []string{"http://127.0.0.1:8971/mcp/NAME", `"Authorization: Bearer $(cat '/a folder/it'\''s/agent-token')"`, "The token in STEWARD_TOKEN opens everything", "Other machines reach it at 0.0.0.0:8971", "  /opt/steward open\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(welcome(&daemon.Door{URL: "http://127.0.0.1:8971"}, "steward"), "Other machines") {
		t.Error("other machines are named, though none reaches it")
	}
}

func TestCallName(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder, name, path := t.TempDir(), "steward", quoted(exe)
	if runtime.GOOS == "windows" {
		name += ".exe"
		path, _ = quotedWindows(exe)
	}
	t.Setenv("PATH", folder)
	if got := callName(); got != path {
		t.Errorf("nowhere on the path: %s; want %s", got, path)
	}
	at := filepath.Join(folder, name)
	if err := os.WriteFile(at, []byte("another program\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := callName(); got != path {
		t.Errorf("another one on the path: %s; want %s", got, path)
	}
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(exe, at); err != nil {
		t.Skip(err) // another file system
	}
	if got := callName(); got != "steward" {
		t.Errorf("on the path: %s; want steward", got)
	}
}

func TestShortIDs(t *testing.T) {
	got := shortIDs([]handoff.Summary{{ID: "hnd_01AAAA1234"}, {ID: "hnd_01AAAB1234"}, {ID: "hnd_01AAAA9999"}})
	if want := []string{"H-A1234", "H-B1234", "H-9999"}; !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}

func TestAgeAndCount(t *testing.T) {
	now := ledger.At(time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC))
	for d, want := range map[time.Duration]string{0: "just now", -time.Second: "just now", -time.Hour: "ahead of the clock", 90 * time.Second: "1 min ago",
		61 * time.Minute: "1 h ago", 25 * time.Hour: "1 day ago", 49 * time.Hour: "2 days ago", 400 * time.Hour: "2026-04-17"} {
		if got := age(now-ledger.Millis(d.Milliseconds()), now); got != want {
			t.Errorf("age of %s: %q; want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", 1234567: "1 234 567", -1000: "-1 000"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q; want %q", n, got, want)
		}
	}
}
