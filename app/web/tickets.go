package web

import (
	"net/http"

	"steward/mcp/ops"
)

// The paths of the person's queue. They are calls of operations under shorter
// names, for pages and scripts that know nothing else of Steward.
const (
	TicketsPath = "/api/tickets"
	AnswerPath  = "/api/answer"
	UndoPath    = "/api/undo"
)

// Tickets answers GET /api/tickets with what waits for the person and what they
// answered in the last five minutes.
func (w *Web) Tickets() http.Handler { return w.short("ticket_list", http.MethodGet, http.MethodHead) }

// Answer answers POST /api/answer {id, answer, ids?}. A ticket that is no longer
// pending is 409.
func (w *Web) Answer() http.Handler { return w.short("ticket_answer", http.MethodPost) }

// Undo answers POST /api/undo {id, ids?}. What cannot be undone is 409.
func (w *Web) Undo() http.Handler { return w.short("ticket_undo", http.MethodPost) }

// short calls one operation.
func (w *Web) short(name string, methods ...string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !allow(rw, r, methods...) || !w.owner(rw, r) {
			return
		}
		var args []byte
		if r.Method == http.MethodPost {
			var bad *refusal
			if args, bad = body(rw, r, maxArgs); bad != nil {
				bad.write(rw)
				return
			}
		}
		res, err := w.cfg.Set.Call(r.Context(), w.caller(), name, args)
		if err != nil {
			e, status := ops.AsError(err), 0
			if e.Code == ops.Closed {
				status = http.StatusConflict
			}
			refuse(rw, status, e)
			return
		}
		answer(rw, http.StatusOK, res.JSON)
	})
}
