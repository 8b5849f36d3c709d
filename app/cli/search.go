package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"steward/ledger"
	"steward/mcp/ops"
)

func searchCommand() *command {
	return &command{
		name:  "search",
		usage: "WORDS…",
		short: "find events by their words",
		text:  howSearchWorks + "\nThe newest come first. Starts the service if none runs.",
		options: []option{
			{name: "limit", value: "N", help: "how many to show, 1 to 200; 20 by default"},
			{name: "before", value: "ID", help: "only events before this event id: the next page"},
		},
		examples: []string{
			"steward search migration owner_id",
			"steward search 下载 --limit 5",
			"steward search login --before 4100",
			"steward search failed --json | jq -r .events[].outcome",
			"steward search -- -v",
		},
		min: 1, max: -1,
		run: runSearch,
	}
}

const howSearchWorks = `Every word must be in an event's outcome, file, actor,
type or object; the beginning of a word is enough. Chinese is found from two
characters on, wherever they stand together.`

func runSearch(s *session, in input) error {
	query := strings.Join(in.args, " ")
	args := map[string]any{"query": query}
	for option, field := range map[string]string{"limit": "limit", "before": "before_id"} {
		if !in.has(option) {
			continue
		}
		n, err := strconv.ParseInt(in.get(option), 10, 64)
		if err != nil || n < 1 {
			return misuse("--"+option, fmt.Sprintf("--%s: a number, 1 or greater; got %s", option, in.get(option)), "")
		}
		args[field] = n
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	result, err := s.ask("event_search", raw)
	if err != nil {
		return err
	}
	if s.json {
		return s.write(append(visibleJSON(result.Structured), '\n'))
	}
	var found ops.Found
	if err := json.Unmarshal(result.Structured, &found); err != nil {
		return fmt.Errorf("read what was found: %w", err)
	}
	var b strings.Builder
	list(&b, query, &found, ledger.At(time.Now()))
	return s.write([]byte(b.String()))
}

// list writes what was found for people.
func list(b *strings.Builder, query string, found *ops.Found, now ledger.Millis) {
	if len(found.Events) == 0 {
		fmt.Fprintf(b, "Nothing found for %s.\n%s\n", visible(query), howSearchWorks)
		return
	}
	_ = table(b, "", eventRows(found.Events, now)) // a strings.Builder takes everything
	if found.HasMore {
		last := found.Events[len(found.Events)-1].ID
		fmt.Fprintf(b, "\nThere are more: the same with --before %d\n", last)
	}
}
