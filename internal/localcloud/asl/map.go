package asl

import (
	"context"
	"encoding/json"
	"fmt"
)

// maxIterations is how many iterations of an inline Map run side by side at most.
const maxIterations = 40

// runMap runs the processor over every item. The first iteration that fails ends the
// state with its error, cancels those that run and keeps the others from starting. What
// failures are tolerated plays no part: on AWS too only distributed Maps count them.
func (v *visit) runMap(ctx context.Context, input any) (any, *Error) {
	items, failed := v.items(input)
	if failed != nil {
		return nil, failed
	}
	width, failed := v.concurrency(input)
	if failed != nil {
		return nil, failed
	}
	v.x.event("MapStateStarted", v.state.name, nil)
	return v.beside(ctx, "MapStateSucceeded", len(items), int(width), func(ctx context.Context, i int) (any, *Error) {
		return v.iterate(ctx, input, i, items[i])
	})
}

// iterate runs one iteration.
func (v *visit) iterate(ctx context.Context, input any, i int, item any) (any, *Error) {
	v.x.event("MapIterationStarted", v.state.name, nil)
	f := v.frame.inner()
	f.item = map[string]any{"Item": map[string]any{"Index": number(i), "Value": item}}
	selected, failed := v.selectItem(f, input, item)
	if failed != nil {
		return nil, failed
	}
	result, failed := v.x.runGraph(ctx, v.state.processor, selected, f)
	switch {
	case failed != nil && !failed.fatal():
		v.x.event("MapIterationFailed", v.state.name, failed)
	case failed == nil && ctx.Err() == nil:
		v.x.event("MapIterationSucceeded", v.state.name, nil)
	}
	return result, failed
}

// selectItem makes an iteration's input with ItemSelector, or Parameters as it was called.
func (v *visit) selectItem(f frame, input, item any) (any, *Error) {
	field := &v.state.ItemSelector
	if !field.given {
		field = &v.state.Parameters
	}
	if !field.given {
		return item, nil
	}
	within := *v // the context object of this item
	within.frame = f
	within.context = map[string]any{}
	for name, part := range v.context {
		within.context[name] = part
	}
	within.context["Map"] = f.item
	out, err := field.eval(within.scope(input))
	if err != nil {
		return nil, v.asError(err)
	}
	return out, nil
}

func (v *visit) items(input any) ([]any, *Error) {
	var got any
	var failed *Error
	if v.state.Items.given || v.state.ItemsPath != nil {
		got, failed = v.field(&v.state.Items, v.state.ItemsPath, input)
	} else {
		got = input
	}
	if failed != nil {
		return nil, failed
	}
	list, ok := got.([]any)
	if !ok {
		text, _ := encodeJSON(got)
		return nil, v.asError(v.mistyped(fmt.Sprintf("Map state input must be an array but was: %s", text)))
	}
	return list, nil
}

// concurrency reads how many iterations run side by side. As AWS was recorded to do, a
// path may lead to a number that is written as a string.
func (v *visit) concurrency(input any) (int64, *Error) {
	got, failed := v.field(&v.state.MaxConcurrency, v.state.MaxConcurrencyPath, input)
	if failed != nil || got == nil {
		return maxIterations, failed
	}
	if text, ok := got.(string); ok {
		got = json.Number(text)
	}
	n, ok := wholeNumber(got)
	switch {
	case !ok || n < 0:
		return 0, v.asError(v.mistyped(fmt.Sprintf("the field MaxConcurrency refers to %v, which is not a valid integer", got)))
	case n == 0 || n > maxIterations:
		return maxIterations, nil
	}
	return n, nil
}
