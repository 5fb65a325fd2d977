package mapping

import (
	"strconv"
	"strings"
	"time"
)

// evalTime reads an expression as a time. The first term that gives a readable one counts;
// what is found and cannot be read is reported.
func (x *scopes) evalTime(e *expr, f *frame) time.Time {
	if e == nil {
		return time.Time{}
	}
	for _, t := range e.terms {
		if when := x.termTime(t, f); !when.IsZero() {
			return when
		}
	}
	return time.Time{}
}

func (x *scopes) termTime(t *term, f *frame) time.Time {
	g := x.term(t, f)
	if g.empty() {
		return time.Time{}
	}
	text := strings.TrimSpace(x.text(g))
	when, ok := parseTime(text, t.unit, t.layout, t.zone)
	if !ok || when.Year() < yearMin || when.Year() > yearMax {
		if x.badTime != nil {
			x.badTime(text)
		}
	}
	if !ok {
		return time.Time{}
	}
	return when
}

// Years outside of these are kept and reported: no coding agent wrote them.
const yearMin, yearMax = 2015, 2100

// Bounds by which the size of a number tells its unit.
const (
	secondsAbove = 1e8
	msAbove      = 1e11
	usAbove      = 1e14
	nsAbove      = 1e17
)

// parseTime reads RFC3339, "YYYY-MM-DD hh:mm:ss[.f]", or a number; unit, layout and zone
// make it exact. The result is UTC, cut to milliseconds.
func parseTime(text, unit, layout, zone string) (time.Time, bool) {
	loc := time.UTC
	if zone == "local" {
		loc = time.Local
	}
	if layout != "" {
		t, err := time.ParseInLocation(layout, text, loc)
		if err != nil && strings.Contains(layout, "MST") {
			// Go's MST reads "UTC" but no "UTC+2": some programs write offsets so.
			if m := utcOffset().FindStringSubmatchIndex(text); m != nil {
				sign, hours, minutes := text[m[2]:m[3]], text[m[4]:m[5]], "00"
				if m[6] >= 0 {
					minutes = text[m[6]:m[7]]
				}
				if len(hours) == 1 {
					hours = "0" + hours
				}
				text = text[:m[0]] + sign + hours + minutes + text[m[1]:]
				t, err = time.Parse(strings.Replace(layout, "MST", "-0700", 1), text)
			}
		}
		return trim(t), err == nil
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return numberTime(text, n, unit)
	}
	if unit != "" {
		return time.Time{}, false
	}
	for _, l := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.ParseInLocation(l, text, loc); err == nil {
			return trim(t), true
		}
	}
	return time.Time{}, false
}

var utcOffset = lazily(`(?:UTC|GMT)([+-])(\d{1,2})(?::(\d\d))?`)

func numberTime(text string, n float64, unit string) (time.Time, bool) {
	if unit == "" {
		switch {
		case n > nsAbove:
			unit = "ns"
		case n > usAbove:
			unit = "us"
		case n > msAbove:
			unit = "ms"
		case n > secondsAbove:
			unit = "s"
		default:
			return time.Time{}, false
		}
	}
	per := map[string]float64{"s": 1e3, "ms": 1, "us": 1e-3, "ns": 1e-6}[unit]
	// Whole numbers keep all their digits.
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch unit {
		case "ms":
			return trim(time.UnixMilli(i)), inRange(n * per)
		case "us":
			return trim(time.UnixMicro(i)), inRange(n * per)
		case "ns":
			return trim(time.Unix(0, i)), inRange(n * per)
		}
	}
	if !inRange(n * per) {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(n*per + 0.5)).UTC(), true
}

// inRange keeps to the years that RFC3339 can write.
func inRange(ms float64) bool { return ms > -62135596800000 && ms < 253402300800000 }

func trim(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
