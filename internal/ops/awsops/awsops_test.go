package awsops_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/ops/awsops"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

func TestASchedulerIsFoundByItsGroupOfSchedules(t *testing.T) {
	client := scheduler.NewFromConfig(rig.Moto(t).Config)
	find := func(name string) (awsops.Found, error) {
		return awsops.Find(t.Context(), client, name, "eu-west-1")
	}
	var wrong *ops.SchedulerError
	if _, err := find(""); !errors.As(err, &wrong) || err.Error() != "no scheduler in this account in eu-west-1" {
		t.Errorf("none: got %v", err)
	}
	group := func(name string, tags ...types.Tag) {
		t.Helper()
		if _, err := client.CreateScheduleGroup(t.Context(), &scheduler.CreateScheduleGroupInput{Name: &name, Tags: tags}); err != nil {
			t.Fatal(err)
		}
	}
	group("unrelated")
	group("cronfence-shop", types.Tag{Key: aws.String("team"), Value: aws.String("x")}, types.Tag{Key: aws.String(schema.TagTable), Value: aws.String("Shop-Table")})
	if got, err := find(""); err != nil || got != (awsops.Found{Name: "shop", Table: "Shop-Table"}) {
		t.Errorf("the only one: got %+v, %v", got, err)
	}
	group("cronfence-old")
	if _, err := find(""); err == nil || err.Error() != "2 schedulers in this account in eu-west-1: name one with --scheduler: old, shop" {
		t.Errorf("two: got %v", err)
	}
	if got, err := find("shop"); err != nil || got.Table != "Shop-Table" {
		t.Errorf("by name: got %+v, %v", got, err)
	}
	if _, err := find("nope"); err == nil || !strings.HasSuffix(err.Error(), "must be one of old, shop") {
		t.Errorf("unknown: got %v", err)
	}
	if _, err := find("old"); err == nil || !strings.Contains(err.Error(), "has no tag cronfence:table") {
		t.Errorf("without tag: got %v", err)
	}
}
