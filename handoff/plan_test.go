package handoff

import (
	"context"
	"strings"
	"testing"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

// TestQueryPlans holds each question to its index, so that none grows with the
// ledger: no walk over the table but in its own order to a limit, and no sorting.
func TestQueryPlans(t *testing.T) {
	l := ledgertest.Open(t, nil)
	for name, c := range map[string]struct {
		query string
		args  []any
		want  []string // in the plan
	}{
		"id":          {selectID, []any{"x"}, []string{"sqlite_autoindex_handoffs_1 (id=?)"}},
		"key":         {selectKey, []any{"x"}, []string{"sqlite_autoindex_handoffs_2 (idempotency_key=?)"}},
		"short id":    {naming.selectSuffix(), []any{"ABCD", 5, "ZABCD", 6}, []string{"handoffs_short (<expr>=?)"}},
		"all":         {listAll, []any{10}, []string{"SCAN handoffs"}},
		"rows":        {listRows, []any{"[1,2]"}, []string{"INTEGER PRIMARY KEY (rowid=?)"}},
		"run":         {selectRun, []any{"dj", 0, 10}, []string{"COVERING INDEX handoffs_target_status (target=? AND status=?)"}},
		"targets":     {selectTargets, nil, []string{"(target>?)"}},
		"transitions": {selectEvents, []any{1, 100}, []string{"PRIMARY KEY (handoff=?)"}},
	} {
		var plan []string
		err := l.View(context.Background(), func(v *ledger.View) error {
			rows, err := v.Query(`EXPLAIN QUERY PLAN `+c.query, c.args...)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					return err
				}
				plan = append(plan, detail)
			}
			return rows.Err()
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all := strings.Join(plan, "\n")
		for _, w := range c.want {
			if !strings.Contains(all, w) {
				t.Errorf("%s: no %q in\n%s", name, w, all)
			}
		}
		if name != "all" && strings.Contains(all, "SCAN handoffs") {
			t.Errorf("%s walks the table:\n%s", name, all)
		}
		if strings.Contains(all, "TEMP B-TREE") {
			t.Errorf("%s sorts:\n%s", name, all)
		}
	}
}
