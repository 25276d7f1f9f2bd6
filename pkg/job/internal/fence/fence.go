// Package fence says which numbers are fences.
package fence

import "fmt"

// Max is the greatest fence: JavaScript's and Lua's numbers are exact up to there.
const Max = 1<<53 - 1

// Check returns an error for a number that no run can have. Written somewhere, one too high
// would shut every run out.
func Check(n int64) error {
	if n < 1 || n > Max {
		return fmt.Errorf("fence %d: must be from 1 to %d", n, int64(Max))
	}
	return nil
}
