package cronfence

import "fmt"

// An alarm's text says what happened, who minds, and the commands to look with: it is all
// that a person who is woken up has. CloudWatch allows 1,024 characters.
const (
	maxOwner   = 128
	maxRunbook = 256
)

func overdueText(job string) string {
	return fmt.Sprintf("No run of job %s has succeeded when one should have: it is locked out, it fails again and again, "+
		"its ticks do not come, or the sentinel is silent.", job)
}

func failedText(job string, n int) string {
	if n == 1 {
		return fmt.Sprintf("A run of job %s failed, and none has succeeded since.", job)
	}
	return fmt.Sprintf("%d runs of job %s in a row failed.", n, job)
}

func ratioText(job string, threshold float64) string {
	return fmt.Sprintf("A run of job %s took %v of its interval or more: the next tick is about to find it running.", job, threshold)
}

func skipsText(job string, n int) string {
	if n == 1 {
		return fmt.Sprintf("A tick of job %s was skipped: a run takes longer than the interval, or hangs.", job)
	}
	return fmt.Sprintf("%d ticks of job %s in a row were skipped: its runs take longer than its interval, or one hangs.", n, job)
}

// alarmText adds to what happened whom and how to ask, and what to do about its kind.
func (j *Job) alarmText(kind, what string) string {
	if j.owner != "" {
		what += " Owner: " + j.owner + "."
	}
	if j.runbook != "" {
		what += " Runbook: " + j.runbook
	}
	return what + "\n" + commands(j.spec.Scheduler, j.name) + "\n" + playbook(kind)
}

// playbook is where an alarm of a kind is explained.
func playbook(kind string) string { return "What to do: " + playbooks + kind + ".md" }

const playbooks = "https://github.com/cronfence/cronfence/blob/main/docs/playbooks/"

func commands(scheduler, job string) string {
	return fmt.Sprintf("What is: cronfence status %s --scheduler %s\nWhy a tick did what it did: cronfence why %s TICK --scheduler %s",
		job, scheduler, job, scheduler)
}

// checkText refuses what would break an alarm's text apart.
func checkText(name, text string, limit int, bad *problems) {
	if len(text) > limit {
		bad.addf("%s of %d bytes, %.20q...: must be at most %d", name, len(text), text, limit)
		return
	}
	for _, r := range text {
		if r < ' ' || r == 0x7f {
			bad.addf("%s %q: must be one line of text", name, text)
			return
		}
	}
}
