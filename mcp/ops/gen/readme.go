package main

import (
	"bytes"
	"fmt"
	"strings"

	"steward/mcp/ops"
)

const (
	beginMark = "<!-- tools:begin -->"
	endMark   = "<!-- tools:end -->"
)

// between renders text between the two marks of a file.
func between(text string) func([]byte, bool) ([]byte, string) {
	return func(old []byte, exists bool) ([]byte, string) {
		if !exists {
			return nil, "there is no such file"
		}
		head, rest, ok := bytes.Cut(old, []byte(beginMark))
		_, tail, closed := bytes.Cut(rest, []byte(endMark))
		if !ok || !closed {
			return nil, fmt.Sprintf("it has no %s … %s", beginMark, endMark)
		}
		return bytes.Join([][]byte{head, []byte(beginMark + "\n" + text), append([]byte(endMark), tail...)}, nil), ""
	}
}

// language is the words of one README's table.
type language struct {
	header  string
	effects map[ops.Kind]string
	title   func(ops.Op) string
	none    string
}

var english = language{
	header:  "| Tool | What it is for | Arguments (**required**) | Effect |",
	effects: map[ops.Kind]string{ops.Reads: "reads", ops.Waits: "waits", ops.Appends: "writes", ops.Acts: "acts"},
	title:   func(o ops.Op) string { return o.Title },
	none:    "none",
}

var chinese = language{
	header:  "| 工具 | 用途 | 参数（**必填**） | 作用 |",
	effects: map[ops.Kind]string{ops.Reads: "只读", ops.Waits: "等待", ops.Appends: "写入", ops.Acts: "执行"},
	title:   func(o ops.Op) string { return chineseTitles[o.Name] },
	none:    "无",
}

// chineseTitles must name every tool; a test says so.
var chineseTitles = map[string]string{
	"app_command":      "检查一条应用指令是否有效",
	"ask_human":        "向人提问，不等待回答",
	"cancel_ticket":    "撤回一个问题",
	"list_pending":     "列出等待人回答的问题",
	"wait_for_answer":  "等待人的回答",
	"focus_change":     "说明当前关注的对象",
	"handoff_claim":    "认领一项交接",
	"handoff_create":   "把工作交给别人",
	"handoff_finish":   "结束一项交接",
	"handoff_get":      "查看一项交接的全部内容",
	"handoff_list":     "列出交接",
	"recent_events":    "按顺序读取账本",
	"report_done":      "留下一张回执",
	"situation_report": "了解当前情况",
}

// table lists the tools that agents are offered.
func table(l language) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n|---|---|---|---|\n", l.header)
	for _, o := range ops.All() {
		if o.Surfaces&ops.Agent == 0 {
			continue
		}
		args := make([]string, len(o.In.Props))
		for i, p := range o.In.Props {
			args[i] = p.Name
			if p.Required {
				args[i] = "**" + p.Name + "**"
			}
		}
		if len(args) == 0 {
			args = []string{l.none}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Name, l.title(o), strings.Join(args, ", "), l.effects[o.Kind])
	}
	return b.String()
}
