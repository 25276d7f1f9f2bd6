package schema

// NotePK is the partition key of a job's progress notes. They are not under the job's own
// name: IAM policies can name partition keys but no sort keys, so who may put an item beside
// the guard may put a guard. No job's name has a '#'.
func NotePK(job string) string { return "note#" + job }

// NoteSK is the sort key of one note of a tick; the notes of a tick begin with
// NoteSK(tick, "").
func NoteSK(tick, name string) string { return tick + "#" + name }
