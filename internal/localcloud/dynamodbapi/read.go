package dynamodbapi

import (
	"context"
	"slices"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

type getItem struct {
	TableName                string
	Key                      item
	ConsistentRead           bool
	ProjectionExpression     string
	ExpressionAttributeNames map[string]string
	ReturnConsumedCapacity   string
}

type got struct {
	Item item `json:",omitzero"`
}

func (s *Server) get(ctx context.Context, in getItem) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.table(in.TableName)
	if err != nil {
		return nil, err
	}
	names := expressions{ExpressionAttributeNames: in.ExpressionAttributeNames}.scope()
	paths, err := names.projection(in.ProjectionExpression)
	if err != nil {
		return nil, err
	}
	if err := names.check(); err != nil {
		return nil, err
	}
	found, err := t.read(ctx, in.Key)
	if err != nil {
		return nil, err
	}
	found, err = project(found, paths)
	return got{found}, err
}

func (s *scope) projection(text string) ([]path, error) {
	if text == "" {
		return nil, nil
	}
	p, err := s.parser("ProjectionExpression", text)
	if err != nil {
		return nil, err
	}
	return p.paths()
}

// search is a Query or a Scan.
type search struct {
	TableName                 string
	ConsistentRead            bool
	KeyConditionExpression    string
	FilterExpression          string
	ProjectionExpression      string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]value
	ExclusiveStartKey         item
	Limit                     int
	ScanIndexForward          *bool
	Select                    string
	ReturnConsumedCapacity    string
}

type searched struct {
	Items            []item `json:",omitzero"`
	Count            int
	ScannedCount     int
	LastEvaluatedKey item `json:",omitzero"`
}

// query finds the items of one hash key, in the order of their sort keys.
func (s *Server) query(_ context.Context, in search) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.table(in.TableName)
	if err != nil {
		return nil, err
	}
	names := expressions{ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues}.scope()
	p, err := names.parser("KeyConditionExpression", in.KeyConditionExpression)
	if err != nil {
		return nil, err
	}
	matches, err := p.or()
	if err == nil {
		err = p.end()
	}
	if err == nil {
		err = p.isKeyCondition(t)
	}
	if err != nil {
		return nil, err
	}
	return t.search(in, names, matches)
}

// isKeyCondition holds a condition to what a key condition may say: equality of the hash key,
// and one comparison of the sort key.
func (p *parser) isKeyCondition(t *table) error {
	of := map[string][]comparison{}
	for _, c := range p.compared {
		of[c.path] = append(of[c.path], c)
	}
	hash, sort := of[t.Hash.Name], of[t.Sort.Name]
	if p.beyond != "" || len(hash) != 1 || hash[0].how != "=" || len(sort) > 1 || len(hash)+len(sort) != len(p.compared) {
		return invalid("KeyConditionExpression: must be %s = :v, and at most one of =, <, <=, >, >=, BETWEEN and begins_with of the sort key", t.Hash.Name)
	}
	// A scheduler's table keeps notes among its items, and nothing else.
	if key := (item{schema.PK: hash[0].with, schema.SK: {text: "*"}}); t.Guards != nil && !isNote(key) {
		return t.denied(key)
	}
	return nil
}

func (s *Server) scan(_ context.Context, in search) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.table(in.TableName)
	switch {
	case err != nil:
		return nil, err
	case t.Guards != nil:
		return nil, t.denied(item{schema.PK: {text: "*"}, schema.SK: {text: "*"}})
	case in.KeyConditionExpression != "" || in.ScanIndexForward != nil:
		return nil, invalid("KeyConditionExpression and ScanIndexForward are for queries")
	}
	return t.search(in, expressions{
		ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues,
	}.scope(), always)
}

// after is the items behind the key at which a search begins, in its order.
func (t *table) after(in search) []item {
	all := t.sorted()
	direction := 1
	if in.ScanIndexForward != nil && !*in.ScanIndexForward {
		slices.Reverse(all)
		direction = -1
	}
	if in.ExclusiveStartKey == nil {
		return all
	}
	return slices.DeleteFunc(all, func(one item) bool { return direction*t.order(one, in.ExclusiveStartKey) <= 0 })
}

// search selects items; the limit counts those that the filter drops.
func (t *table) search(in search, names *scope, matches condition) (any, error) {
	passes, err := names.condition("FilterExpression", in.FilterExpression)
	if err != nil {
		return nil, err
	}
	paths, err := names.projection(in.ProjectionExpression)
	if err != nil {
		return nil, err
	}
	if err := names.check(); err != nil {
		return nil, err
	}
	if in.Limit < 0 || in.Select != "" && in.Select != "ALL_ATTRIBUTES" && in.Select != "SPECIFIC_ATTRIBUTES" && in.Select != "COUNT" {
		return nil, notHere("Limit %d, Select %q", in.Limit, in.Select)
	}
	var out searched
	if in.Select != "COUNT" {
		out.Items = []item{}
	}
	for _, one := range t.after(in) {
		if !matches(one) {
			continue
		}
		if in.Limit > 0 && out.ScannedCount == in.Limit {
			break
		}
		out.ScannedCount++
		if out.ScannedCount == in.Limit {
			out.LastEvaluatedKey = t.key(one)
		}
		if !passes(one) {
			continue
		}
		out.Count++
		if in.Select != "COUNT" {
			shown, err := project(one, paths)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, shown)
		}
	}
	return out, nil
}
