package audit

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"termic/registry"
)

// appendEvent appends an event as encoding/json would write it. Two of them are written for each call, which is a tenth of
// what a call costs with an encoder that looks up every member (TestAnEventIsWrittenWhole finds one that is missing here).
func appendEvent(b []byte, e registry.Event) []byte {
	b = append(b, `{"time":"`...)
	b = e.Time.AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	b = appendText(b, `,"phase":`, e.Phase)
	b = appendText(b, `,"request":`, e.Request)
	b = appendText(b, `,"verb":`, e.Verb)
	b = appendText(b, `,"class":`, e.Class.String())
	b = appendText(b, `,"way":`, e.Way.String())
	b = appendText(b, `,"scope":`, e.Scope.String())
	b = appendText(b, `,"caller":`, e.Caller)
	b = appendNotEmpty(b, `,"grant":`, e.Grant)
	b = appendNotEmpty(b, `,"caller_task":`, e.Task)
	if e.Subject != (registry.EventSubject{}) {
		b = append(b, `,"subject":{`...)
		begun := len(b)
		b = appendNotEmpty(b, `,"project":`, e.Subject.Project)
		b = appendNotEmpty(b, `,"task":`, e.Subject.Task)
		b = appendNotEmpty(b, `,"tab":`, e.Subject.Tab)
		b = append(b[:begun], b[begun+1:]...) // the first comma
		b = append(b, '}')
	}
	b = strconv.AppendBool(append(b, `,"allow":`...), e.Allow)
	if e.TakesPowerAway {
		b = append(b, `,"takes_power_away":true`...)
	}
	b = appendNotEmpty(b, `,"code":`, e.Code)
	b = appendNotEmpty(b, `,"rule":`, e.Rule)
	b = appendNotEmpty(b, `,"why":`, e.Why)
	b = appendNotEmpty(b, `,"arguments":`, e.Arguments)
	b = appendNotEmpty(b, `,"client_says":`, e.ClientSays)
	if e.Millis != 0 {
		b = strconv.AppendInt(append(b, `,"ms":`...), e.Millis, 10)
	}
	return append(b, '}')
}

func appendNotEmpty[T ~string](b []byte, name string, text T) []byte {
	if text == "" {
		return b
	}
	return appendText(b, name, text)
}

// appendText appends a member; text that is not UTF-8 is mended.
func appendText[T ~string](b []byte, name string, text T) []byte {
	b, _ = jsontext.AppendQuote(append(b, name...), text) // its one error is that it had to mend
	return b
}
