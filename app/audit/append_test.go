package audit

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"termic/registry"
)

// fillValue sets every field to something that is not zero and survives JSON.
func fillValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 29, 1, 2, 3, 4567, time.UTC)))
			return
		}
		for i := range v.NumField() {
			fillValue(v.Field(i))
		}
	case reflect.String:
		v.SetString("a \"quoted\" <b>\u2028\x01 " + v.Type().Name())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(2)
	case reflect.Int64:
		v.SetInt(-7)
	default:
		panic("fillValue: " + v.Kind().String())
	}
}

func TestAnEventIsWrittenWhole(t *testing.T) {
	var full registry.Event
	fillValue(reflect.ValueOf(&full).Elem())
	events := []registry.Event{full, {}, {Subject: registry.EventSubject{Tab: "b-1"}}, {Caller: "\xff", Why: "ä"}}
	for i := range reflect.TypeFor[registry.Event]().NumField() {
		var one registry.Event // with one field set
		fillValue(reflect.ValueOf(&one).Elem().Field(i))
		events = append(events, one)
	}
	for _, event := range events {
		// What encoding/json makes of the event, read back, is what must be in the log.
		text, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		var want, got map[string]any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		written := appendEvent(nil, event)
		if err := json.Unmarshal(written, &got); err != nil {
			t.Errorf("not JSON: %v: %s", err, written)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %s\nwant %s", written, text)
		}
	}
}
