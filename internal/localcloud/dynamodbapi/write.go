package dynamodbapi

import (
	"context"
	"slices"
)

// expressions is what most requests share.
type expressions struct {
	ConditionExpression       string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]value
}

func (e expressions) scope() *scope {
	return &scope{names: e.ExpressionAttributeNames, values: e.ExpressionAttributeValues, used: map[string]bool{}}
}

// write is one change, or check, of one item, as itself or in a transaction.
type write struct {
	expressions
	TableName                           string
	Item                                item // of a put
	Key                                 item // of the others
	UpdateExpression                    string
	ReturnValues                        string
	ReturnValuesOnConditionCheckFailure string
	unmeasured
}

// unmeasured are parameters that ask for measures, of which there are none here.
type unmeasured struct {
	ReturnConsumedCapacity, ReturnItemCollectionMetrics string
}

type verb string

const (
	put    verb = "Put"
	update verb = "Update"
	remove verb = "Delete"
	check  verb = "ConditionCheck"
)

// planned is a write that may be done: what it changes, and into what.
type planned struct {
	table    *table
	id       string
	old, new item
	changed  []action
}

// plan judges a write. The caller holds the lock from here until commit.
func (s *Server) plan(ctx context.Context, v verb, w write) (planned, error) {
	t, err := s.table(w.TableName)
	if err != nil {
		return planned{}, err
	}
	key := w.Key
	if v == put {
		if _, err := t.keyOf(w.Item, false); err != nil {
			return planned{}, err
		}
		key = t.key(w.Item)
	}
	id, err := t.keyOf(key, true)
	if err != nil {
		return planned{}, err
	}
	names := w.scope()
	holds, err := names.condition("ConditionExpression", w.ConditionExpression)
	if err != nil {
		return planned{}, err
	}
	p := planned{table: t, id: id}
	if w.UpdateExpression != "" {
		if p.changed, err = names.update(w.UpdateExpression); err != nil {
			return p, err
		}
	}
	if err := names.check(); err != nil {
		return p, err
	}
	if v != check {
		if err := t.mayWrite(key); err != nil {
			return p, err
		}
	}
	if p.old, err = t.read(ctx, key); err != nil {
		return p, err
	}
	if !holds(p.old) {
		refused := &apiError{code: "ConditionalCheckFailedException", message: "The conditional request failed"}
		if w.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
			refused.item = p.old
		}
		return p, refused
	}
	p.new, err = after(v, w, t, key, p)
	return p, err
}

// after is the item as a write leaves it, nil where it leaves none.
func after(v verb, w write, t *table, key item, p planned) (item, error) {
	switch v {
	case put:
		return w.Item, nil
	case update:
		from := p.old
		if from == nil {
			from = key
		}
		for _, a := range p.changed {
			if name := a.path[0].name; name == t.Hash.Name || name == t.Sort.Name {
				return nil, invalid("UpdateExpression: %s is part of the key", name)
			}
		}
		return apply(p.changed, from)
	case remove:
		return nil, nil
	default: // a check changes nothing
		return p.old, nil
	}
}

func (p planned) commit() {
	if p.new == nil {
		delete(p.table.items, p.id)
		return
	}
	p.table.items[p.id] = p.new
}

// attributes is what a write returns of the item.
func (p planned) attributes(want string) (item, error) {
	switch want {
	case "", "NONE":
		return nil, nil
	case "ALL_OLD":
		return p.old, nil
	case "ALL_NEW":
		return p.new, nil
	}
	from := map[string]item{"UPDATED_OLD": p.old, "UPDATED_NEW": p.new}[want]
	if want != "UPDATED_OLD" && want != "UPDATED_NEW" {
		return nil, invalid("ReturnValues %q: must be NONE, ALL_OLD, ALL_NEW, UPDATED_OLD or UPDATED_NEW", want)
	}
	if slices.ContainsFunc(p.changed, func(a action) bool { return len(a.path) > 1 }) {
		return nil, notHere("ReturnValues %s for nested attributes", want)
	}
	out := item{}
	for _, a := range p.changed {
		if v, found := a.path.get(from); found {
			out[a.path[0].name] = v
		}
	}
	return out, nil
}

type written struct {
	Attributes item `json:",omitzero"`
}

// one does a single write.
func (s *Server) one(ctx context.Context, v verb, w write) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.plan(ctx, v, w)
	if err != nil {
		return nil, err
	}
	attributes, err := p.attributes(w.ReturnValues)
	if err != nil {
		return nil, err
	}
	p.commit()
	return written{attributes}, nil
}
