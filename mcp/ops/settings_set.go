package ops

import (
	"context"

	"steward/ledger"
)

type settingsSetArgs struct {
	Theme      string `json:"theme" arg:"enum=system|light|dark"`
	Language   string `json:"language" arg:"enum=system|en|zh-CN"`
	SingleKeys *bool  `json:"single_keys" doc:"Whether single letters are shortcuts"`

	UpdateCheck *bool `json:"update_check" doc:"Whether the service asks once a day if there is a newer version"`
}

func settingsSet() Op {
	return Act(Spec{
		Name:       "settings_set",
		Title:      "Change the settings",
		Text:       "Change the person's settings of window and page. They are kept in config.json, of which everything else stays as it is.",
		Surfaces:   Window | Web,
		Idempotent: true,
		Person:     true,
		Stirs:      true,
	}, func(_ context.Context, env *Env, _ Caller, in settingsSetArgs) (SettingsState, error) {
		if env.Settings == nil {
			return SettingsState{}, errNoSettings
		}
		change := PreferenceChange{Theme: said(in.Theme), Language: said(in.Language), SingleKeys: in.SingleKeys, UpdateCheck: in.UpdateCheck}
		if change == (PreferenceChange{}) {
			return SettingsState{}, &ledger.FieldError{Field: "theme", Rule: "at least one of theme, language, single_keys, update_check", Got: "none of them"}
		}
		p, err := env.Settings.Prefer(change)
		if err != nil {
			return SettingsState{}, err
		}
		return settingsState(env, p), nil
	})
}
