package ops

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"

	"steward/handoff"
	"steward/ledger"
)

// Every sentinel that ledger and handoff export has a line in the table of
// codes: read from the sources, so that a new one cannot be forgotten.
func TestEverySentinelIsMapped(t *testing.T) {
	mapped := map[string]bool{}
	ast.Inspect(parse(t, "code.go"), func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "sentinels" {
			ast.Inspect(v, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					mapped[fmt.Sprintf("%s.%s", s.X, s.Sel.Name)] = true
				}
				return true
			})
		}
		return true
	})
	for _, pkg := range []string{"ledger", "handoff", "handoff/ticket"} {
		found := 0
		for _, name := range exportedErrors(t, "../../"+pkg) {
			found++
			if !mapped[path.Base(pkg)+"."+name] {
				t.Errorf("%s.%s has no code", pkg, name)
			}
		}
		if found == 0 {
			t.Errorf("no sentinel found in %s: the scan looks in the wrong place", pkg)
		}
	}
}

func exportedErrors(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	files, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, d := range parse(t, dir+"/"+file).Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					if strings.HasPrefix(id.Name, "Err") {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSentinels(t *testing.T) {
	for _, s := range sentinels {
		wrapped := fmt.Errorf("report_done: insert into /home/a/ledger.db: %w", s.err)
		e := AsError(wrapped)
		if e.Code != s.code || CodeOf(wrapped) != s.code {
			t.Errorf("%v: code %s, want %s", s.err, e.Code, s.code)
		}
		if !errors.Is(e, s.err) {
			t.Errorf("%v: the cause is lost", s.err)
		}
		if !s.own && strings.Contains(e.Message, "/home") {
			t.Errorf("%v: a path goes out: %s", s.err, e.Message)
		}
		if !s.code.ToolError() && e.Hint == "" {
			t.Errorf("%v: a caller is not told what to do", s.err)
		}
	}
}

// A finer sentinel keeps the class it wraps: the table's order must not turn a
// closed handoff into a conflict.
func TestFinerSentinels(t *testing.T) {
	for err, want := range map[error]Code{
		handoff.ErrFinal: Closed, handoff.ErrClaimLost: Closed, handoff.ErrNotOwner: Conflict,
		handoff.ErrUnclaimed: Conflict, handoff.ErrFence: Conflict, handoff.ErrNotFound: NotFound,
		&ledger.FieldError{Field: "a", Rule: "b"}: Invalid,
	} {
		if got := CodeOf(fmt.Errorf("x: %w", err)); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

func TestCodes(t *testing.T) {
	for code, want := range map[Code]struct {
		http, exit int
		tool       bool
	}{
		Invalid: {400, 2, true}, NotFound: {404, 3, true}, Conflict: {409, 4, true}, Closed: {410, 4, true}, Forbidden: {403, 5, true},
		Unavailable: {503, 6, false}, Version: {426, 6, false}, Corrupt: {500, 7, false}, Internal: {500, 1, false},
		"unheard of": {http.StatusInternalServerError, 1, false},
	} {
		if code.HTTP() != want.http || code.Exit() != want.exit || code.ToolError() != want.tool {
			t.Errorf("%s: %d, %d, %v", code, code.HTTP(), code.Exit(), code.ToolError())
		}
	}
	if len(codes) != 9 {
		t.Errorf("%d codes", len(codes))
	}
}

func TestAsError(t *testing.T) {
	if AsError(nil) != nil || CodeOf(nil) != "" {
		t.Error("nil is an error")
	}
	secret := errors.New("no such column: password")
	e := AsError(secret)
	if e.Code != Internal || e.ID == "" || strings.Contains(string(e.JSON()), "password") || !errors.Is(e, secret) {
		t.Errorf("internal error goes out as %s", e.JSON())
	}
	if !strings.Contains(e.Message, e.ID) {
		t.Errorf("the message %q does not name the id", e.Message)
	}
	if again := AsError(fmt.Errorf("x: %w", e)); again != e {
		t.Error("an error that has its form gets a new one")
	}
	if other := AsError(secret); other.ID == e.ID {
		t.Error("two internal errors have one id")
	}
	for _, err := range []error{context.Canceled, fmt.Errorf("x: %w", context.DeadlineExceeded)} {
		if CodeOf(err) != Unavailable {
			t.Errorf("%v: %s", err, CodeOf(err))
		}
	}
	f := AsError(&ledger.FieldError{Field: "outcome", Rule: "at most 512 characters", Got: "700"})
	if want := `{"error":{"code":"invalid","field":"outcome","message":"outcome: at most 512 characters; got 700"}}`; string(f.JSON()) != want {
		t.Errorf("got %s, want %s", f.JSON(), want)
	}
	full := &Error{Code: Conflict, Message: `a "b"`, Hint: "h", State: []byte(`{"x":1}`)}
	if want := `{"error":{"code":"conflict","message":"a \"b\"","hint":"h"},"current":{"x":1}}`; string(full.JSON()) != want {
		t.Errorf("got %s, want %s", full.JSON(), want)
	}
}
