package handlers

import (
	"context"
	"slices"
	"strings"

	"termic/app/agent"
	"termic/app/settings"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

func (s Services) bindSettings(r *registry.Router) {
	bind(r, verbs.SettingsGet, s.settingsGet)
	bind(r, verbs.SettingsSet, s.settingsSet)
	bind(r, verbs.SettingsList, s.settingsList)
}

func (s Services) settingsGet(_ context.Context, _ registry.Call, in verbs.SettingsGetIn) (verbs.SettingOut, error) {
	setting, err := settings.Find(in.Key)
	if err != nil {
		return verbs.SettingOut{}, err
	}
	return verbs.SettingOut{Setting: s.setting(setting)}, nil
}

func (s Services) settingsSet(ctx context.Context, _ registry.Call, in verbs.SettingsSetIn) (verbs.SettingOut, error) {
	setting, err := settings.Find(in.Key)
	if err != nil {
		return verbs.SettingOut{}, err
	}
	if err := s.fits(in.Key, in.Value); err != nil {
		return verbs.SettingOut{}, err
	}
	if in.TakesPowerAway() {
		s.Endpoint.Off() // first and in any case: it may not depend on a disk that takes the setting (I14)
	}
	if in.Key == settings.MCPPort {
		_, err := s.movePort(ctx, in.Value)
		return verbs.SettingOut{Setting: s.setting(setting)}, err
	}
	if err := s.Settings.Set(in.Key, in.Value); err != nil {
		return verbs.SettingOut{}, err
	}
	if in.Key == settings.MCPEnabled {
		if err := s.Endpoint.Apply(ctx); err != nil {
			return verbs.SettingOut{}, err
		}
	}
	if in.Key == settings.Environment {
		if err := s.Environment.Apply(ctx); err != nil {
			return verbs.SettingOut{}, err
		}
	}
	return verbs.SettingOut{Setting: s.setting(setting)}, nil
}

// fits checks what only the services know of a value.
func (s Services) fits(key, value string) error {
	switch key {
	case settings.DefaultAgent:
		known := slices.ContainsFunc(s.Agents.List(), func(d agent.Definition) bool { return d.ID == value })
		if !known {
			return refusal.New(refusal.NotFound, "no such agent", "see: termic agents")
		}
	case settings.CheckoutsDir:
		if value == s.Store.Dir() || strings.HasPrefix(value, s.Store.Dir()+"/") {
			return refusal.New(refusal.BadInput, "checkouts may not lie in the data directory, which no cage may see", "choose another directory")
		}
	}
	return nil
}

func (s Services) settingsList(context.Context, registry.Call, verbs.None) (verbs.SettingsListOut, error) {
	out := verbs.SettingsListOut{Settings: []verbs.Setting{}}
	for _, setting := range settings.All() {
		out.Settings = append(out.Settings, s.setting(setting))
	}
	return out, nil
}

// setting renders a setting for callers.
func (s Services) setting(setting settings.Setting) verbs.Setting {
	return verbs.Setting{Key: setting.Key, Value: s.Settings.Get(setting.Key), Default: setting.Default, Doc: setting.Doc}
}
