package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"steward/ledger"
	"steward/mcp/ops"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range targets() {
		t.Run(g.file, func(t *testing.T) {
			old, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(g.file)))
			if err != nil {
				t.Fatal(err)
			}
			want, skipped := g.render(old, true)
			if skipped != "" {
				t.Fatal(skipped)
			}
			if string(old) != string(want) {
				t.Errorf("%s is out of date; run: go run ./mcp/ops/gen", g.file)
			}
		})
	}
}

func TestDefinitionsAreOneLine(t *testing.T) {
	text := string(ops.Definitions(ops.All()))
	if strings.ContainsAny(text, "\n\r") {
		t.Error("a line break inside the definitions would break the bridge's protocol")
	}
}

func TestBetween(t *testing.T) {
	render := between("new\n")
	got, skipped := render([]byte("a\n"+beginMark+"\nold\n"+endMark+"\nz\n"), true)
	if want := "a\n" + beginMark + "\nnew\n" + endMark + "\nz\n"; skipped != "" || string(got) != want {
		t.Errorf("got %q (%s), want %q", got, skipped, want)
	}
	if again, _ := render(got, true); string(again) != string(got) {
		t.Errorf("a second run changes %q to %q", got, again)
	}
	for name, text := range map[string]string{"no marks": "a", "no end": beginMark, "reversed": endMark + beginMark} {
		if _, skipped := render([]byte(text), true); skipped == "" {
			t.Errorf("%s: rendered", name)
		}
	}
	if _, skipped := render(nil, false); skipped == "" {
		t.Error("rendered a file that does not exist")
	}
}

func TestEveryToolHasAChineseTitle(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range ops.All() {
		if o.Surfaces&ops.Agent == 0 {
			continue
		}
		seen[o.Name] = true
		if chineseTitles[o.Name] == "" {
			t.Errorf("%s has no Chinese title", o.Name)
		}
	}
	for name := range chineseTitles {
		if !seen[name] {
			t.Errorf("%s is no tool", name)
		}
	}
}

// What a schema says appears as the type that the front end reads.
func TestTypeScript(t *testing.T) {
	type inner struct {
		At   ledger.Millis `json:"at"`
		Kind string        `json:"kind" words:"a|b"`
		Next *inner2       `json:"next" doc:"ends */ here"`
	}
	type in struct {
		Name string `json:"name" arg:"required,max=8" doc:"who"`
		Word string `json:"word" arg:"enum=x|y"`
		Open string `json:"open" arg:"max=8,words=x|y"`
		On   *bool  `json:"on"`
	}
	type out struct {
		List []inner          `json:"list"`
		Kind []string         `json:"kinds,omitempty"`
		N    map[string]int64 `json:"n"`
	}
	ask := ops.Act(ops.Spec{Name: "probe_ask", Title: "t", Text: "Asks.", Surfaces: ops.Window},
		func(context.Context, *ops.Env, ops.Caller, in) (out, error) { return out{}, nil })
	hidden := ops.Act(ops.Spec{Name: "probe_hidden", Title: "t", Text: "t", Surfaces: ops.Agent | ops.Shell},
		func(context.Context, *ops.Env, ops.Caller, struct{}) (out, error) { return out{}, nil })
	bare := ops.Act(ops.Spec{Name: "probe_bare", Title: "t", Text: "t", Surfaces: ops.Web},
		func(context.Context, *ops.Env, ops.Caller, struct{}) (struct{}, error) { return struct{}{}, nil })
	got := typescript([]ops.Op{ask, bare, hidden})
	_, got, _ = strings.Cut(got, "\n\n")
	want := `/** Asks. In the window only. */
export interface ProbeAskArgs {
  /** who */
  name: string;
  word?: "x" | "y";
  open?: string;
  on?: boolean;
}

export interface ProbeAskResult {
  list: inner[];
  kinds?: string[];
  n: Record<string, number>;
}

/** t */
export type ProbeBareArgs = Record<string, never>;

export type ProbeBareResult = Record<string, never>;

export interface inner {
  at: string;
  kind: "a" | "b";
  /** ends *\/ here */
  next: inner2 | null;
}

export interface inner2 {
  x: number;
}

/** Every operation by its name. */
export interface Ops {
  probe_ask: { args: ProbeAskArgs; result: ProbeAskResult };
  probe_bare: { args: ProbeBareArgs; result: ProbeBareResult };
}
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if first := typescript(ops.All()); first != typescript(ops.All()) {
		t.Error("two runs differ")
	}
}

type inner2 struct {
	X float64 `json:"x"`
}
