package cronfence

import (
	"encoding/json"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// permission is what a run role may do: actions on resources, under conditions if there are.
type permission struct {
	actions, resources []string
	conditions         map[string]any
}

func permit(resources []string, actions ...string) permission {
	return permission{actions: actions, resources: resources}
}

func (p permission) on(resources ...string) awsiam.PolicyStatement {
	s := allow(resources, p.actions...)
	if p.conditions != nil {
		s.AddConditions(&p.conditions)
	}
	return s
}

// runRole is the role of all of a scheduler's state machines in one stack. One for all
// stacks would have to know the jobs' functions, and so make the stacks depend on each
// other both ways.
//
// The permissions of many jobs pass IAM's limits of a policy, and a statement cannot be
// split: so resources are gathered in statements of moderate length, each once, and these
// are laid out over as many policies as it takes.
type runRole struct {
	role     awsiam.Role
	stack    awscdk.Stack
	limit    *stackLimit
	policies []*rolePolicy
	open     map[string]*openStatement // takes further resources, by its actions and conditions
	given    map[string]bool           // what the role has already
}

// rolePolicy is the role's inline policy, or one of the managed ones that follow it.
type rolePolicy struct {
	add         func(awsiam.PolicyStatement)
	size, limit int
}

type openStatement struct {
	statement awsiam.PolicyStatement
	policy    *rolePolicy
	size      int
}

func (s *Scheduler) runRole(scope constructs.Construct) *runRole {
	stack := awscdk.Stack_Of(scope)
	if r, ok := s.runRoles[*stack.Node().Addr()]; ok {
		return r
	}
	role := awsiam.NewRole(stack, jsii.String(runRoleID(s.name)), &awsiam.RoleProps{
		Description: jsii.String("State machines of Cronfence scheduler " + s.name),
		AssumedBy: servicePrincipal("states.amazonaws.com", map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": *stack.Account()},
			"ArnLike":      map[string]any{"aws:SourceArn": s.statesARN("stateMachine", schema.MachinePrefix(s.name)+"*")},
		}),
	})
	inline := &rolePolicy{limit: inlineRoom, add: func(p awsiam.PolicyStatement) { role.AddToPolicy(p) }}
	r := &runRole{
		role: role, stack: stack, limit: &stackLimit{stack: stack}, policies: []*rolePolicy{inline},
		open: map[string]*openStatement{}, given: map[string]bool{},
	}
	r.allow(permit([]string{*s.heartbeat.FunctionArn(), *s.settler.FunctionArn()}, "lambda:InvokeFunction"))
	stack.Node().AddValidation(r.limit)
	role.Node().AddValidation(&roleLimit{role, s.name})
	s.runRoles[*stack.Node().Addr()] = r
	return r
}

// grant adds what one job's target needs.
func (r *runRole) grant(g grants) awsiam.Role {
	for _, p := range g.permissions {
		r.allow(p)
	}
	for _, s := range g.statements {
		if is, size := r.read(s.ToStatementJson()); !r.given[is] {
			r.given[is] = true
			r.place(s, size)
		}
	}
	return r.role
}

// allow adds each resource that the role may not act on so yet.
func (r *runRole) allow(p permission) {
	terms, frame := r.read([]any{p.actions, p.conditions})
	for _, resource := range p.resources {
		is, size := r.read(resource)
		if r.given[terms+is] {
			continue
		}
		r.given[terms+is] = true
		if _, unknown := r.stack.Resolve(resource).(map[string]any); unknown {
			size = max(size, unknownSize+len(`"",`)) // as the CDK counts it
		}
		if o := r.open[terms]; o != nil && o.size+size <= statementRoom && o.policy.size+size <= o.policy.limit {
			o.statement.AddResources(&resource)
			o.size += size
			o.policy.size += size
			continue
		}
		s := p.on(resource)
		size += frame + statementFrame
		r.open[terms] = &openStatement{statement: s, policy: r.place(s, size), size: size}
	}
}

// place adds a statement to the first policy that has room for it.
func (r *runRole) place(s awsiam.PolicyStatement, size int) *rolePolicy {
	for _, p := range r.policies {
		if p.size+size <= p.limit {
			p.size += size
			p.add(s)
			return p
		}
	}
	document := awsiam.NewPolicyDocument(nil)
	awsiam.NewManagedPolicy(r.role, jsii.Sprintf("More%d", len(r.policies)), &awsiam.ManagedPolicyProps{
		Description: jsii.Sprintf("Part of the permissions of %s", *r.role.Node().Path()),
		Document:    document, Roles: &[]awsiam.IRole{r.role},
	})
	p := &rolePolicy{size: size, limit: managedRoom, add: func(s awsiam.PolicyStatement) { document.AddStatements(s) }}
	r.policies = append(r.policies, p)
	p.add(s)
	return p
}

// read returns a part of a policy as it is in the template, and its size.
func (r *runRole) read(part any) (is string, size int) {
	resolved := r.stack.Resolve(part)
	b, _ := json.Marshal(resolved) // what the CDK writes into the template is JSON
	return string(b), policySize(resolved)
}
