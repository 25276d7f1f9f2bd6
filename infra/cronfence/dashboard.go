package cronfence

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

const (
	// maxJobWidgets leaves room for the others below CloudWatch's 500 a dashboard.
	maxJobWidgets = 480

	wide, high       = 12, 6 // of 24 columns
	narrow, narrowly = 6, 5
)

// dashboard shows a scheduler's jobs. What it shows of all is found by search, so that jobs
// of other stacks and apps are on it; a search shows up to 100 of them.
type dashboard struct {
	awscloudwatch.Dashboard
	scheduler *Scheduler
	jobs      int
}

func (s *Scheduler) newDashboard() *dashboard {
	d := &dashboard{scheduler: s, Dashboard: awscloudwatch.NewDashboard(s, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		// Dashboards are the account's, not a Region's.
		DashboardName: jsii.String("cronfence-" + s.name + "-" + *awscdk.Stack_Of(s).Region()),
	})}
	outcomes := []awscloudwatch.IMetric{}
	for _, name := range []string{MetricSucceeded, MetricFailed, MetricSkipped, MetricMissed} {
		outcomes = append(outcomes, expression("SUM("+s.search(name)+")", name))
	}
	d.AddWidgets(
		graph("Outcomes of all jobs", wide, high, outcomes),
		graph("Run time / interval", wide, high, s.byJob(MetricRatio),
			line(defaultRatio, "soon overlaps"), line(1, "overlaps")),
	)
	d.AddWidgets(
		graph("Skipped", wide, high, s.byJob(MetricSkipped)),
		graph("Overdue, in seconds", wide, high, s.byJob(MetricOverdue)),
	)
	d.AddWidgets(
		graph("Failed and missed", wide, high, append(s.byJob(MetricFailed), s.byJob(MetricMissed)...)),
		graph("Leases lost, stops denied", wide, high, append(s.byJob(MetricLeaseLost), s.MetricStopDenied(nil))),
	)
	return d
}

// add shows a job's run time against its interval. A scheduler may have no dashboard.
func (d *dashboard) add(j *Job) {
	if d == nil || d.jobs == maxJobWidgets {
		return
	}
	d.jobs++
	var interval []*awscloudwatch.HorizontalAnnotation
	if j.interval > 0 {
		interval = append(interval, line(j.interval.Seconds(), "interval"))
	}
	d.AddWidgets(graph(j.name+": run time, in seconds", narrow, narrowly, []awscloudwatch.IMetric{j.MetricRunTime(nil)}, interval...))
}

// search finds a metric of all jobs of the scheduler.
func (s *Scheduler) search(metric string) string {
	return fmt.Sprintf(`SEARCH('{%s,%s,%s} %s="%s" MetricName="%s"', '%s', %d)`,
		MetricNamespace, dimensionScheduler, dimensionJob, dimensionScheduler, s.name, metric, statisticOf(metric), int(metricPeriod.Seconds()))
}

func (s *Scheduler) byJob(metric string) []awscloudwatch.IMetric {
	return []awscloudwatch.IMetric{expression(s.search(metric), metric+" ${PROP('Dim."+dimensionJob+"')}")}
}

func expression(text, label string) awscloudwatch.IMetric {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: &text, Label: &label, Period: duration(metricPeriod), UsingMetrics: &map[string]awscloudwatch.IMetric{},
	})
}

func graph(title string, width, height float64, metrics []awscloudwatch.IMetric, lines ...*awscloudwatch.HorizontalAnnotation) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: &title, Width: &width, Height: &height, Left: &metrics, LeftAnnotations: &lines,
	})
}

func line(at float64, label string) *awscloudwatch.HorizontalAnnotation {
	return &awscloudwatch.HorizontalAnnotation{Value: &at, Label: &label}
}
