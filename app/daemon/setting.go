package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"steward/ledger"
)

// Setting is one thing a person may set, in every form it has. What is not in
// the list of Known cannot be set.
type Setting struct {
	Var   string // the environment variable; "": none
	Older string // its older name, which counts while Var is not set
	Key   string // in config.json
	Flag  string // of `steward serve`; it comes before the others

	Meaning Words
	Default Words

	secret bool                                                   // a child never gets the variable
	read   func(c *Config, field string, v json.RawMessage) error // the key's value
	set    func(c *Config, field, v string) error                 // the variable's value, which is not blank
}

// Words is one line of Markdown in the languages of the READMEs.
type Words struct{ English, Chinese string }

// known is the only list of what can be set, in the order in which people are
// told.
var known = []Setting{
	{Var: "STEWARD_HOME", Older: "READYROOM_STATE_DIR",
		Meaning: Words{"the state folder, an absolute path", "状态文件夹，绝对路径"},
		Default: Words{"see above", "见上"}},
	{Var: "STEWARD_DB", Older: "SHADOWROOM_STEWARD_DB",
		Meaning: Words{"the ledger file, an absolute path. An older program's ledger is taken over once and stays as it is", "账本文件，绝对路径。如果是旧程序的账本，只接收一次，原文件不变"},
		Default: Words{"`ledger.db` in the state folder", "状态文件夹中的 `ledger.db`"}},
	{Var: "STEWARD_SOCKET",
		Meaning: Words{`the service's socket; on Windows a pipe ` + "`" + `\\.\pipe\NAME` + "`", "服务的套接字；在 Windows 上是管道 " + "`" + `\\.\pipe\NAME` + "`"},
		Default: Words{"made from the ledger's path", "由账本路径得出"}},
	{Var: "STEWARD_STREAM", Older: "READYROOM_STREAM",
		Meaning: Words{"the name of the work a bridge belongs to", "桥接进程所属工作的名称"},
		Default: Words{"the folder's name", "文件夹名"}},
	{Var: "STEWARD_TARGETS", Key: "targets",
		Meaning: Words{"to whom work may be handed; in the variable separated by commas", "工作可以交给谁；在环境变量中用逗号分隔"},
		Default: Words{"`studio`, `dj`, `library`", "`studio`、`dj`、`library`"},
		read: func(c *Config, field string, v json.RawMessage) error {
			names, err := list(field, v, `["studio","dj"]`)
			if err != nil {
				return err
			}
			return c.setTargets(field, names)
		},
		set: func(c *Config, field, v string) error { return c.setTargets(field, strings.Split(v, ",")) }},
	{Var: "STEWARD_LOG_LEVEL", Key: "log_level",
		Meaning: Words{"`debug`, `info`, `warn` or `error`", "`debug`、`info`、`warn` 或 `error`"},
		Default: Words{"`info`", "`info`"},
		read:    text((*Config).setLevel, "one of debug, info, warn, error"),
		set:     (*Config).setLevel},
	{Var: "STEWARD_BACKUP_DAILY", Key: "backup_daily",
		Meaning: Words{"a copy of the ledger every day; the newest 7 are kept. `true` or `false`", "每天复制一份账本，保留最新的 7 份。`true` 或 `false`"},
		Default: Words{"`true`", "`true`"},
		read:    func(c *Config, field string, v json.RawMessage) error { return truth(field, &c.BackupDaily, string(v)) },
		set:     func(c *Config, field, v string) error { return truth(field, &c.BackupDaily, v) }},
	{Var: "STEWARD_BIND", Older: "READYROOM_BIND", Key: "listen", Flag: "listen",
		Meaning: Words{"turns HTTP on and says at which address: an IP address or `localhost`; with the flag and the key `ADDRESS:PORT`. Others than this machine need `STEWARD_TOKEN` set. A change counts from the next start", "启用 HTTP，并指定监听地址：IP 地址或 `localhost`；命令行选项和配置键写作 `ADDRESS:PORT`。供其他机器访问时必须设置 `STEWARD_TOKEN`。改动在下次启动时生效"},
		Default: Words{"no HTTP; else `127.0.0.1`", "不启用 HTTP；启用时为 `127.0.0.1`"},
		read: text(func(c *Config, field, v string) (err error) {
			if c.Listen = ""; strings.TrimSpace(v) != "" {
				c.Listen, err = listenAddress(field, v)
			}
			return err
		}, `an address such as "127.0.0.1:8971", or "" for none`),
		set: (*Config).setBind},
	{Var: "STEWARD_PORT", Older: "READYROOM_PORT",
		Meaning: Words{"turns HTTP on and says at which port. A change counts from the next start", "启用 HTTP，并指定端口。改动在下次启动时生效"},
		Default: Words{"`8971`", "`8971`"},
		set:     (*Config).setPort},
	{Var: "STEWARD_ALLOWED_ORIGINS", Older: "READYROOM_ALLOWED_ORIGINS", Key: "allowed_origins",
		Meaning: Words{"origins besides the service's own that web pages may come from, such as `https://steward.example.org`; their hosts may be asked for as well. In the variable separated by commas", "除服务自身外，允许网页来自的源，例如 `https://steward.example.org`；也允许以这些主机名访问。在环境变量中用逗号分隔"},
		Default: Words{"none", "无"},
		read: func(c *Config, field string, v json.RawMessage) error {
			origins, err := list(field, v, `["https://steward.example.org"]`)
			if err != nil {
				return err
			}
			return c.setOrigins(field, origins)
		},
		set: func(c *Config, field, v string) error { return c.setOrigins(field, strings.Split(v, ",")) }},
	{Key: "theme",
		Meaning: Words{"how window and page look: `system`, `light` or `dark`", "窗口和网页的外观：`system`、`light` 或 `dark`"},
		Default: Words{"`system`", "`system`"},
		read:    func(c *Config, field string, v json.RawMessage) error { return choice(field, &c.Theme, v, themes) }},
	{Key: "language",
		Meaning: Words{"language of window and page: `system`, `en` or `zh-CN`", "窗口和网页的语言：`system`、`en` 或 `zh-CN`"},
		Default: Words{"`system`", "`system`"},
		read: func(c *Config, field string, v json.RawMessage) error {
			return choice(field, &c.Language, v, languages)
		}},
	{Key: "single_keys",
		Meaning: Words{"whether single letters are shortcuts in window and page. `true` or `false`", "在窗口和网页中是否启用单字母快捷键。`true` 或 `false`"},
		Default: Words{"`true`", "`true`"},
		read:    func(c *Config, field string, v json.RawMessage) error { return truth(field, &c.SingleKeys, string(v)) }},
	{Key: "update_check",
		Meaning: Words{"whether the service asks once a day if there is a newer version; nothing is fetched or installed. `true` or `false`", "服务是否每天查询一次有没有新版本；不会下载或安装任何东西。`true` 或 `false`"},
		Default: Words{"`false`", "`false`"},
		read:    func(c *Config, field string, v json.RawMessage) error { return truth(field, &c.UpdateCheck, string(v)) }},
	{Var: "STEWARD_TOKEN", Older: "READYROOM_TOKEN", secret: true,
		Meaning: Words{"the owner's token for HTTP, which opens everything", "HTTP 的所有者令牌，可以访问一切"},
		Default: Words{"in the file `token`", "在文件 `token` 中"}},
	{Var: "STEWARD_AGENT_TOKEN", secret: true,
		Meaning: Words{"the agents' token for HTTP, which opens `/mcp` alone", "HTTP 的智能体令牌，只能访问 `/mcp`"},
		Default: Words{"in the file `agent-token`", "在文件 `agent-token` 中"}},
}

// Known returns everything that can be set.
func Known() []Setting { return slices.Clone(known) }

// names are those of a variable, the newer first. Asking for one that is not in
// the list is a programmer's error and panics.
func names(variable string) []string {
	for _, s := range known {
		if s.Var == variable {
			return s.names()
		}
	}
	panic("daemon: " + variable + " is not in the list of settings")
}

func (s Setting) names() []string {
	if s.Older == "" {
		return []string{s.Var}
	}
	return []string{s.Var, s.Older}
}

// settingOf finds the setting of a key in config.json.
func settingOf(key string) *Setting {
	for i := range known {
		if known[i].Key == key && key != "" {
			return &known[i]
		}
	}
	return nil
}

func knownKeys() string {
	var keys []string
	for _, s := range known {
		if s.Key != "" {
			keys = append(keys, s.Key)
		}
	}
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}

// list reads a list of texts.
func list(field string, v json.RawMessage, such string) ([]string, error) {
	var out []string
	if err := json.Unmarshal(v, &out); err != nil || out == nil {
		return nil, fmt.Errorf("%s: a list of names such as %s; got %s", field, such, ledger.Clip(string(v), 40))
	}
	return out, nil
}

// text makes the reader of a key out of the one of its text.
func text(set func(c *Config, field, v string) error, rule string) func(*Config, string, json.RawMessage) error {
	return func(c *Config, field string, v json.RawMessage) error {
		var s *string
		if err := json.Unmarshal(v, &s); err != nil || s == nil {
			return fmt.Errorf("%s: %s; got %s", field, rule, ledger.Clip(string(v), 40))
		}
		return set(c, field, *s)
	}
}
