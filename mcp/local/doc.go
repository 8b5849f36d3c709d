// Package local is the light half of Steward's protocol: what a process that
// is not the service needs in order to reach it. It has the hello line, the
// dialling, the stdio bridge behind `steward mcp`, the client behind the shell
// commands, and the spool that keeps what was told while nobody listened.
//
// # A connection
//
// The first line each way is Steward's own ([Line]), at most [MaxLine] bytes
// and without a jsonrpc member, so it can never be taken for MCP. After the
// welcome says serving, the lines are JSON-RPC as in MCP.
//
// # The bridge
//
//	LOCAL ──(first call)──► DIALING ──welcome serving──► LIVE ──EOF──► DIALING
//
// It answers initialize, server/discover, ping and tools/list itself in every
// state, from definitions embedded in the binary. Everything else is forwarded
// as the bytes that came. When the connection is lost, every unanswered request
// is sent again in its first order. Five seconds after the loss (or after the
// call, if there was no connection) a receipt is written to the spool and any
// other request fails with what to do; after the first such miss the wait is
// 200 ms until the bridge is LIVE again.
//
// # Exactly once
//
// A bridge has [Slots] session slots. An appending call takes a free one and
// carries a stamp {slot, seq} in params._meta; a repetition carries the same
// stamp, and the service answers it with the stored reply. A spooled call keeps
// its stamp, so it cannot take effect twice even if the service had already
// received it. A slot whose call lies in the spool is not used for a live call
// until the service has taken that file away.
//
// The package imports the standard library only and computes nothing at
// start: a bridge has to answer its first line within milliseconds.
package local
