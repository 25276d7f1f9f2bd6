package dynamodbapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

type transaction struct {
	ClientRequestToken string
	TransactItems      []struct{ Put, Update, Delete, ConditionCheck *write }
	unmeasured
}

// reason says why an item of a transaction was refused; its code is None where it was not.
type reason struct {
	Code    string
	Message string `json:",omitzero"`
	Item    item   `json:",omitzero"`
}

const maxTransaction = 100

// transact does all writes or none. A guard that one of them checks cannot be another's before
// the writes are seen: whoever reads them waits for the lock.
func (s *Server) transact(ctx context.Context, body []byte, t transaction) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(t.TransactItems); n == 0 || n > maxTransaction {
		return nil, invalid("TransactItems has %d items: must be 1-%d", n, maxTransaction)
	}
	sum := contents(body)
	if before, known := s.tokens[t.ClientRequestToken]; known && t.ClientRequestToken != "" {
		if before != sum {
			return nil, &apiError{code: "IdempotentParameterMismatchException", message: "the token was that of another request"}
		}
		return struct{}{}, nil
	}
	plans, err := s.planAll(ctx, t)
	if err != nil {
		return nil, err
	}
	for i, p := range plans {
		if t.TransactItems[i].ConditionCheck == nil {
			p.commit()
		}
	}
	s.tokens[t.ClientRequestToken] = sum
	return struct{}{}, nil
}

// contents is the same for requests that say the same: SDKs write members in any order.
func contents(body []byte) [sha256.Size]byte {
	var document any
	if json.Unmarshal(body, &document) == nil {
		if sorted, err := json.Marshal(document); err == nil {
			body = sorted
		}
	}
	return sha256.Sum256(body)
}

func (s *Server) planAll(ctx context.Context, t transaction) ([]planned, error) {
	plans, reasons := make([]planned, len(t.TransactItems)), make([]reason, len(t.TransactItems))
	seen, codes, refused := map[string]bool{}, make([]string, len(reasons)), false
	for i, one := range t.TransactItems {
		v, w, err := pick(one.Put, one.Update, one.Delete, one.ConditionCheck)
		if err != nil {
			return nil, err
		}
		reasons[i].Code = "None"
		plans[i], err = s.plan(ctx, v, *w)
		var failed *apiError
		switch {
		case errors.As(err, &failed) && failed.code == "ConditionalCheckFailedException":
			reasons[i], refused = reason{"ConditionalCheckFailed", failed.message, failed.item}, true
		case err != nil:
			return nil, err
		}
		at := plans[i].table.Name + " " + plans[i].id
		if seen[at] {
			return nil, invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[at], codes[i] = true, reasons[i].Code
	}
	if refused {
		return nil, &apiError{
			code: "TransactionCanceledException", reasons: reasons,
			message: fmt.Sprintf("Transaction cancelled, please refer cancellation reasons for specific reasons [%s]", strings.Join(codes, ", ")),
		}
	}
	return plans, nil
}

func pick(puts, updates, deletes, checks *write) (verb, *write, error) {
	var v verb
	var only *write
	for name, w := range map[verb]*write{put: puts, update: updates, remove: deletes, check: checks} {
		if w == nil {
			continue
		}
		if only != nil {
			return "", nil, invalid("TransactItems: each item must be one of Put, Update, Delete, ConditionCheck")
		}
		v, only = name, w
	}
	if only == nil || v == check && only.ConditionExpression == "" {
		return "", nil, invalid("TransactItems: each item must be one of Put, Update, Delete, ConditionCheck, the last with a condition")
	}
	return v, only, nil
}
