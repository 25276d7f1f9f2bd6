package cronfence

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
)

// takeName refuses a second scheduler of one name where both would be deployed to one account
// and Region, as far as the app says: the names that are fixed would collide there.
func (s *Scheduler) takeName(name string) error {
	stack := awscdk.Stack_Of(s)
	where := *stack.Environment()
	if strings.Contains(where, "unknown-") { // the same stack at least is one place
		where = *stack.Node().Addr()
	}
	id := "Cronfence scheduler " + name + " in " + where
	root, ok := s.Node().Root().(constructs.Construct)
	if !ok {
		return nil
	}
	if root.Node().TryFindChild(&id) != nil {
		return fmt.Errorf("scheduler name %q: must be unique in an account and Region, and another scheduler of the app has it in %s", name, *stack.Environment())
	}
	constructs.NewConstruct(root, &id)
	return nil
}

func runRoleID(scheduler string) string { return "CronfenceRunRole-" + scheduler }

// checkPlace refuses a job in a stack that cannot refer to the scheduler, or in which another
// construct stands for the scheduler already.
func (s *Scheduler) checkPlace(job constructs.Construct) error {
	own, its := awscdk.Stack_Of(s), awscdk.Stack_Of(job)
	if here, there := *its.Environment(), *own.Environment(); here != there {
		return fmt.Errorf("stack %q in %s: must be in the scheduler's account and Region, %s, with the same Env in its props", *its.Node().Path(), here, there)
	}
	id := runRoleID(s.name)
	if _, known := s.runRoles[*its.Node().Addr()]; !known && its.Node().TryFindChild(&id) != nil {
		return fmt.Errorf("scheduler %q: stack %q has jobs of it by another construct: must be one construct for all jobs of a stack", s.name, *its.Node().Path())
	}
	return nil
}
