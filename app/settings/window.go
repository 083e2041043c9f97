package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Checks of what concerns the window alone.

func isFontSize(value string) error {
	// Below 9 px no font is legible; above 32 px a terminal of 80 columns is wider than most screens.
	if n, err := strconv.Atoi(value); err != nil || n < 9 || n > 32 {
		return fmt.Errorf("is a number from 9 to 32")
	}
	return nil
}

// oneOf returns a check for a value that is one of a few.
func oneOf(values ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(values, value) {
			return fmt.Errorf("is one of %s", strings.Join(values, ", "))
		}
		return nil
	}
}

// isShortcuts admits an object of texts. Which actions and keys there are is the window's to know: what it does
// not know it ignores.
func isShortcuts(value string) error {
	var keys map[string]string
	if err := json.Unmarshal([]byte(value), &keys); err != nil || keys == nil {
		return fmt.Errorf(`is a JSON object of texts, as {"palette": "Ctrl+Shift+P"}`)
	}
	return nil
}
