package ops

import (
	"context"

	"steward/ledger"
)

// Preferences is how the person wants the window and the page to be.
type Preferences struct {
	Theme      string `json:"theme" words:"system|light|dark"`
	Language   string `json:"language" words:"system|en|zh-CN"`
	SingleKeys bool   `json:"single_keys" doc:"whether single letters are shortcuts"`

	UpdateCheck bool `json:"update_check" doc:"whether the service asks once a day if there is a newer version"`
}

// PreferenceChange is what of the preferences is to be another; nil stays.
type PreferenceChange struct {
	Theme, Language *string
	SingleKeys      *bool
	UpdateCheck     *bool
}

// Settings keeps the preferences of the person.
type Settings interface {
	// Preferences returns what counts now.
	Preferences() Preferences
	// Prefer keeps the change and returns what counts then. Its errors are as
	// AsError sees them; after one nothing has changed.
	Prefer(PreferenceChange) (Preferences, error)
}

// About is what a service says about itself to the person.
type About struct {
	Version string   `json:"version"`
	Ledger  string   `json:"ledger" doc:"path of the ledger file"`
	State   string   `json:"state_folder"`
	Config  string   `json:"config" doc:"path of config.json, which need not exist"`
	Log     string   `json:"log" doc:"path of the log"`
	Role    string   `json:"role" words:"auto|serve|window"`
	HTTP    *string  `json:"http" doc:"address of the page; null when HTTP is off"`
	License string   `json:"license"`
	Targets []string `json:"targets" doc:"to whom work may be handed"`
	Update  Update   `json:"update"`
}

// Update is what the service knows of a newer version.
type Update struct {
	State     string        `json:"state" words:"unset|off|unknown|current|newer|failed" doc:"unset: this build knows no address to ask; off: the person has not turned it on; unknown: it has not been asked yet"`
	Version   string        `json:"version,omitempty" doc:"the newer one"`
	Notes     string        `json:"notes,omitempty" doc:"address of the page that says what is new in it"`
	Problem   string        `json:"problem,omitempty" doc:"why the last look failed"`
	CheckedAt ledger.Millis `json:"checked_at,omitempty" doc:"when it was asked last"`
}

type settingsGetArgs struct{}

// SettingsState is the preferences, and what the service says about itself.
type SettingsState struct {
	Preferences
	About About `json:"about"`
}

func settingsGet() Op {
	return Act(Spec{
		Name:       "settings_get",
		Title:      "Read the settings",
		Text:       "Read the person's settings of window and page, and where this service keeps its files.",
		Surfaces:   Window | Web,
		Idempotent: true,
	}, func(_ context.Context, env *Env, _ Caller, _ settingsGetArgs) (SettingsState, error) {
		if env.Settings == nil {
			return SettingsState{}, errNoSettings
		}
		return settingsState(env, env.Settings.Preferences()), nil
	})
}

var errNoSettings = &Error{Code: Unavailable, Message: "this service keeps no settings"}

func settingsState(env *Env, p Preferences) SettingsState {
	s := SettingsState{Preferences: p}
	if env.About != nil {
		s.About = env.About()
	}
	s.About.Targets = orEmpty(env.targets())
	return s
}
