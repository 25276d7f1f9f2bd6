package ops

import (
	"iter"
	"slices"
	"sync"
)

// head is a sequence with its next entry.
type head struct {
	next  func() (Entry, error, bool)
	entry Entry
	err   error
	ok    bool
}

func (h *head) advance() { h.entry, h.err, h.ok = h.next() }

// merged merges sequences that are each ordered newest first.
func merged(sequences ...iter.Seq2[Entry, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		heads := make([]*head, len(sequences))
		var wg sync.WaitGroup
		for i, seq := range sequences {
			next, stop := iter.Pull2(seq)
			defer stop()
			heads[i] = &head{next: next}
			wg.Go(heads[i].advance) // side by side: the first line waits for all of them
		}
		wg.Wait()
		for _, h := range heads {
			if h.err != nil {
				yield(Entry{}, h.err)
				return
			}
		}
		heads = slices.DeleteFunc(heads, func(h *head) bool { return !h.ok })
		for len(heads) > 0 {
			newest := 0
			for i, h := range heads {
				if h.entry.At.After(heads[newest].entry.At) {
					newest = i
				}
			}
			h := heads[newest]
			if !yield(h.entry, nil) {
				return
			}
			switch h.advance(); {
			case h.err != nil:
				yield(Entry{}, h.err)
				return
			case !h.ok:
				heads = slices.Delete(heads, newest, newest+1)
			}
		}
	}
}
