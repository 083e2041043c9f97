package verbs

import (
	"termic/registry"
	"termic/registry/refusal"
)

// Setting is one setting as callers see it.
type Setting struct {
	Key     string `json:"key" jsonschema:"name of the setting" cli:"col"`
	Value   string `json:"value" jsonschema:"its value now" cli:"col"`
	Default string `json:"default" jsonschema:"its value unless set" cli:"col"`
	Doc     string `json:"doc" jsonschema:"what it does" cli:"col"`
}

// SettingOut is the result of verbs that answer with one setting.
type SettingOut struct {
	Setting Setting `json:"setting" jsonschema:"the setting"`
}

// SettingsGetIn are the arguments of settings_get.
type SettingsGetIn struct {
	Key string `json:"key" min:"1" max:"64" jsonschema:"name of the setting" cli:"arg"`
}

var SettingsGet = registry.Define[SettingsGetIn, SettingOut](registry.Verb{
	Name:       "settings_get",
	Summary:    "show one setting",
	Doc:        "Shows the value of a setting and what it does.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound},
	CLI:        registry.Command{Path: "settings get", Example: "settings get mcp.enabled"},
})

// SettingsSetIn are the arguments of settings_set.
type SettingsSetIn struct {
	Key   string `json:"key" min:"1" max:"64" jsonschema:"name of the setting" cli:"arg"`
	Value string `json:"value" max:"4096" jsonschema:"its new value" cli:"arg"`
}

// TakesPowerAway implements registry.Relinquishing: switching the endpoint off must always work.
func (in SettingsSetIn) TakesPowerAway() bool { return in.Key == "mcp.enabled" && in.Value == "false" }

var SettingsSet = registry.Define[SettingsSetIn, SettingOut](registry.Verb{
	Name:       "settings_set",
	Summary:    "change a setting",
	Doc:        "Changes a setting. It takes effect at once.",
	Class:      registry.Write,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	Refusals:   []refusal.Code{refusal.NotFound, refusal.BadInput, refusal.Unavailable},
	CLI:        registry.Command{Path: "settings set", Example: "settings set mcp.enabled true"},
})

// SettingsListOut is the result of settings_list.
type SettingsListOut struct {
	Settings []Setting `json:"settings" jsonschema:"every setting"`
}

var SettingsList = registry.Define[None, SettingsListOut](registry.Verb{
	Name:       "settings_list",
	Summary:    "list all settings",
	Doc:        "Lists every setting with its value, its default and what it does.",
	Class:      registry.Read,
	Scope:      registry.Full,
	Audience:   registry.ForCLI,
	Reach:      registry.ReachSelf,
	Idempotent: true,
	CLI:        registry.Command{Path: "settings list", Example: "settings list"},
})
