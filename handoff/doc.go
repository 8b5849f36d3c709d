// Package handoff decides how work that one session leaves for another may
// move. A handoff is durable state beside the ledger's history: each change of
// it and the event that tells it commit in one transaction.
//
// # States
//
//	create
//	   │       claim           claim again
//	   ▼
//	pending ──────────► claimed ──────────► running
//	  ▲ ║                 │ ║                 │ ║
//	  ╚═║════ release ════│═╩═════════════════│═╣
//	    ║                 └───────┬───────────┘ ║
//	    ║                         │ finish      ║
//	    ╚═════════ settle ════════▼═════════════╝
//	                done · failed · cancelled
//
// Single lines are a worker's, through handoff_claim and handoff_finish; double
// lines are the person's alone. The three at the bottom are final: nothing leaves
// them. A claim has no time-out: a worker that vanished keeps its claim until the
// person releases the handoff (back to pending, no owner) or settles it (ended as
// the person says).
//
// # One owner
//
// A claim is one step of the ledger's single writer, so of any number of workers
// exactly one wins; the others are told who did, which is an answer and not an
// error. The same worker's second claim says that it has started (running); a
// third changes nothing.
//
// The fence is 0 at creation and goes up by one with each claim of a pending
// handoff, each release and each settlement. It never goes down. A worker that
// passes the fence of its claim to handoff_finish can never end a claim that is no
// longer its own, not even its own later one.
//
// # What a refusal means
//
// A refused finish, release or settlement is a [StateError] that carries the
// handoff as it is. Two sorts:
//
//   - [ErrClosed]: asking again can never help. The handoff has ended
//     ([ErrFinal]), or the claim that the caller speaks for is over
//     ([ErrClaimLost]: its fence is an old one).
//   - [ErrConflict]: the caller may be right about another moment. Nobody holds
//     the handoff ([ErrUnclaimed]), another worker does ([ErrNotOwner]), or the
//     fence is not one that was ever given ([ErrFence]).
//
// An old fence is looked at first, because it says most about what went wrong: the
// owner before a release learns that its claim is over, whatever happened to the
// handoff since. A settlement by the person takes the owner away with the claim, so
// the old owner's late finish is refused even when it has no fence and names the
// very status the person chose: the person's word stands as it was given.
//
// # The same handoff twice
//
// The idempotency key is global and for ever. The same key with the same payload
// (target, instruction, attachments, context) returns the stored handoff; with
// another payload it returns it too, marked as a conflict, and changes nothing.
// Contexts are compared as JSON values: white space, the order of keys and the
// spelling of characters and numbers (1 and 1.0) do not count. Numbers are exact
// decimals, never rounded. canonical.go has the whole rule.
//
// # Failures
//
// A handoff that ends as failed is a failure of its event's actor, with the
// handoff's full id as the object, in the workspace of the connection that
// reported it. It is final, so it cannot be finished again. The failure is
// resolved like any other: by a later `done` or `resolved` receipt of the same
// actor, about the same object, from the same workspace; or by the person's
// acknowledgement. A handoff that the person settles as failed is a failure of
// `user`, and stands until it is acknowledged: others who wait for that work read
// of it in the report. Settling or releasing a handoff resolves nothing: what a
// worker reported as failed on the way remains that worker's failure.
package handoff
