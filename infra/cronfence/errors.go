package cronfence

import (
	"fmt"
	"strings"
)

// PropsError says what is wrong with a construct's props. The constructors panic with
// it, as the CDK does, so that synth fails before anything is deployed.
type PropsError struct {
	// Path is the construct path, such as "Jobs/Scheduler/Jobs/cleanup".
	Path string
	// Problems name the value got and what is allowed, one each.
	Problems []string
}

// Error lists every problem of the construct.
func (e *PropsError) Error() string {
	return fmt.Sprintf("cronfence: construct %q: %s", e.Path, strings.Join(e.Problems, "; "))
}

// problems collects what is wrong, so that one synth shows all of it.
type problems []string

func (p *problems) addf(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

func (p *problems) add(err error) {
	if err != nil {
		*p = append(*p, err.Error())
	}
}

// check panics if there are problems.
func (p problems) check(path string) {
	if len(p) > 0 {
		panic(&PropsError{Path: path, Problems: p})
	}
}
