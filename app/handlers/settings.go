package handlers

import (
	"context"

	"termic/app/settings"
	"termic/registry"
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
	if in.TakesPowerAway() {
		s.Endpoint.Off() // first and in any case: it may not depend on a disk that takes the setting (I14)
	}
	if err := s.Settings.Set(in.Key, in.Value); err != nil {
		return verbs.SettingOut{}, err
	}
	if in.Key == settings.MCPEnabled || in.Key == settings.MCPPort {
		if err := s.Endpoint.Apply(ctx); err != nil {
			return verbs.SettingOut{}, err
		}
	}
	return verbs.SettingOut{Setting: s.setting(setting)}, nil
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
