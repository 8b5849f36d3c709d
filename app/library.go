//go:build desktop && !bindings

package app

import (
	"log/slog"
	"strings"

	"steward/ledger"
)

// libraryLog writes what the window's library says into Steward's log. The
// library repeats what the page sent it: that is left out.
type libraryLog struct{ to *slog.Logger }

func bare(message string) string {
	message, _, cut := strings.Cut(strings.TrimSpace(message), "{")
	if cut {
		message += "…"
	}
	return ledger.Clip(message, 160)
}

func (libraryLog) Print(string)     {}
func (libraryLog) Trace(string)     {}
func (l libraryLog) Debug(m string) { l.to.Debug("the window's library", "says", bare(m)) }
func (l libraryLog) Info(m string)  { l.to.Debug("the window's library", "says", bare(m)) }

func (l libraryLog) Warning(m string) { l.to.Warn("the window's library", "says", bare(m)) }
func (l libraryLog) Error(m string)   { l.to.Error("the window's library", "says", bare(m)) }
func (l libraryLog) Fatal(m string)   { l.to.Error("the window's library", "says", bare(m)) }
