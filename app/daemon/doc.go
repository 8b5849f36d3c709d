// Package daemon runs Steward's service: it finds the places, holds the lock,
// opens the ledger, makes the operations and listens, on its socket and, if
// asked to, for HTTP, and closes all of it in reverse. Its own chores are the
// take-over of an older program's ledger and the daily copies. It also has what
// every process of Steward needs to reach or start a service: the state folder,
// the settings, the log file.
//
// # The life of a service
//
//	          lock free, or the owner yields
//	start ───────────────────────────────────► Opening ───────────────► Serving
//	  │ another process owns the ledger           │ the ledger cannot be    │
//	  ├ auto: ends, once that one answers         │ used                    │
//	  └ serve, window: Waiting on the lock        └──► Refusing (60 s)      │
//	                                                       │                │
//	end ◄─ give the lock back ◄─ close the ledger ◄────────┴──── Draining ◄─┘
//	                                      asked to yield or stop · signal · idle
//
// Only the holder of the lock touches the ledger file or the socket's path.
// While Opening, connections are told how far it is; while Refusing, why. HTTP
// clients wait while it is Opening and find nobody while it is Refusing.
package daemon
