// Package ticket decides how a question that an agent asks a person may move. An
// agent enqueues a ticket and goes on working; the person drains the queue when
// they choose. Each change of a ticket and the event that tells it commit in one
// transaction, so the ledger is the audit.
//
// # States
//
//	ask
//	 │       answer (person)
//	 ▼  ┌─────────────────────► answered
//	pending ◄───────────────────────┘ undo (person, within 5 minutes)
//	 │  └── cancel (who asked) ──► cancelled
//	 └───── expires_at ──────────► expired
//
// Answered, cancelled and expired are ends; only an answer can be taken back, and
// only by the person.
//
// # Expiry
//
// A ticket is expired from its expires_at on, whoever looks and whether anybody
// does: [Ticket.At] is a pure function of the row and the time, and every reader
// and writer goes through it. With a default it carries that as its answer,
// answered by default; without one it has no answer. Silence is never a person's
// answer. The write that records it comes later, from the service's timer; its
// event says when it was noticed.
//
// # Undo
//
// An answer that is taken back makes the ticket pending again with the time that
// was left when it was answered, five minutes at least. If the asker had been
// handed the answer, its next wait is told once that it no longer counts.
//
// # The same question, many askers
//
// Tickets that are equal in question, options, context, default and
// reversibility have the same Card. What shows them as one names the ids it
// showed when it answers, and reaches those and no others.
package ticket
