package explore

// seq is an interned list whose order means nothing. It never changes: states share it.
type seq[T any] struct {
	all  []T
	hash uint64 // the sum of its elements' hashes
}

// seqs keeps one list of each content. The hash of a changed list is known without making it,
// so that one that is there already costs a look-up and no memory.
type seqs[T any] struct {
	byHash map[uint64]*seq[T]
	hashOf func(*T) uint64
}

func newSeqs[T any](hashOf func(*T) uint64) seqs[T] {
	return seqs[T]{map[uint64]*seq[T]{0: {}}, hashOf}
}

func (q *seqs[T]) empty() *seq[T] { return q.byHash[0] }

func (q *seqs[T]) known(hash uint64, all func() []T) *seq[T] {
	if l, ok := q.byHash[hash]; ok {
		return l
	}
	l := &seq[T]{all(), hash}
	q.byHash[hash] = l
	return l
}

func (q *seqs[T]) with(l *seq[T], v T) *seq[T] {
	return q.known(l.hash+q.hashOf(&v), func() []T {
		return append(append(make([]T, 0, len(l.all)+1), l.all...), v)
	})
}

func (q *seqs[T]) without(l *seq[T], i int) *seq[T] {
	return q.known(l.hash-q.hashOf(&l.all[i]), func() []T {
		return append(append(make([]T, 0, len(l.all)-1), l.all[:i]...), l.all[i+1:]...)
	})
}

func (q *seqs[T]) replaced(l *seq[T], i int, v T) *seq[T] {
	return q.known(l.hash-q.hashOf(&l.all[i])+q.hashOf(&v), func() []T {
		all := append([]T(nil), l.all...)
		all[i] = v
		return all
	})
}
