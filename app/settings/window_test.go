package settings

import "testing"

func TestChecksOfTheWindowsSettings(t *testing.T) {
	for _, c := range []struct {
		key, value string
		ok         bool
	}{
		{FontSize, "9", true}, {FontSize, "8", false}, {FontSize, "32", true}, {FontSize, "33", false}, {FontSize, "13px", false},
		{Theme, "dark", true}, {Theme, "Dark", false}, {Theme, "", false},
		{Contrast, "more", true}, {Contrast, "less", false},
		{Shortcuts, `{}`, true}, {Shortcuts, `{"palette":"Ctrl+Shift+K"}`, true},
		{Shortcuts, `null`, false}, {Shortcuts, `[]`, false}, {Shortcuts, `{"palette":1}`, false}, {Shortcuts, ``, false},
	} {
		if err := Check(c.key, c.value); (err == nil) != c.ok {
			t.Errorf("%s = %q: %v, want allowed %v", c.key, c.value, err, c.ok)
		}
	}
}
