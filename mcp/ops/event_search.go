package ops

import "steward/ledger"

type eventSearchArgs struct {
	Query  string `json:"query" arg:"required,line,max=256" doc:"Every word must be there; a beginning is enough. Two Chinese characters match wherever they stand together"`
	Before int64  `json:"before_id" arg:"min=0" doc:"Events before this id only: pass the last one's id for the next page"`
	Limit  int    `json:"limit" arg:"min=1,max=200,default=20"`
}

// Found is a page of a search.
type Found struct {
	Events  []ledger.Event `json:"events" doc:"newest first"`
	HasMore bool           `json:"has_more"`
}

func eventSearch() Op {
	return Read(Spec{
		Name:  "event_search",
		Title: "Search the ledger",
		Text:  "Find events by words of their outcome, file, actor, type and object, newest first.",
		// Not a tool: an agent asks for the situation, and a long list of old events would drown it.
		Surfaces: Window | Web | Shell,
	}, func(v *ledger.View, _ Caller, in eventSearchArgs) (out Found, err error) {
		out.Events, out.HasMore, err = v.Search(in.Query, in.Before, in.Limit)
		if kept := fitEvents(out.Events, false); len(kept) < len(out.Events) {
			out.Events, out.HasMore = kept, true
		}
		out.Events = orEmpty(out.Events)
		return out, err
	})
}
