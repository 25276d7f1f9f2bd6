package explore

// hashSet is a set of hashes in one flat table, open addressed: eight bytes an entry where a
// map takes three times as much. No state has hash 0.
type hashSet struct {
	table []uint64
	n     int
}

func (h *hashSet) add(v uint64) bool {
	if h.n*4 >= len(h.table)*3 {
		h.grow()
	}
	if !put(h.table, max(v, 1)) {
		return false
	}
	h.n++
	return true
}

func (h *hashSet) grow() {
	old := h.table
	h.table = make([]uint64, max(1024, 2*len(old)))
	for _, v := range old {
		if v != 0 {
			put(h.table, v)
		}
	}
}

func put(table []uint64, v uint64) bool {
	mask := uint64(len(table) - 1)
	for i := v & mask; ; i = (i + 1) & mask {
		switch table[i] {
		case 0:
			table[i] = v
			return true
		case v:
			return false
		}
	}
}
