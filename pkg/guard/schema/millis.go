package schema

import "time"

// Millis is an instant in milliseconds since the Unix epoch, as the table keeps it.
// Zero means "not set"; the zero instant is never a tick.
type Millis int64

// MillisOf returns t in whole milliseconds, rounded down; the zero time is 0.
func MillisOf(t time.Time) Millis {
	if t.IsZero() {
		return 0
	}
	return Millis(t.UnixMilli())
}

// Time returns the instant in UTC.
func (m Millis) Time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m)).UTC()
}

// Add returns m later by d, to the millisecond.
func (m Millis) Add(d time.Duration) Millis { return m + Millis(d.Milliseconds()) }

// Sub returns the time from n to m.
func (m Millis) Sub(n Millis) time.Duration { return time.Duration(m-n) * time.Millisecond }

// String returns the instant as RFC 3339 in UTC, or "never" when it is not set.
func (m Millis) String() string {
	if m == 0 {
		return "never"
	}
	return m.Time().Format("2006-01-02T15:04:05.999Z07:00")
}
