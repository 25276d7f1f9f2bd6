package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"
)

// hashes keeps what was hashed before: a function sees the same few specs again and again. It
// is emptied when it grows large.
var hashes = struct {
	sync.Mutex
	m map[Spec]string
}{m: map[Spec]string{}}

const maxHashes = 4096

// Hash identifies the spec: equal specs have equal hashes.
func (s Spec) Hash() string {
	hashes.Lock()
	defer hashes.Unlock()
	if h, ok := hashes.m[s]; ok {
		return h
	}
	b, err := json.Marshal(s)
	if err != nil { // only an unknown overlap policy cannot be written, and Check refuses it
		return ""
	}
	sum := sha256.Sum256(b)
	h := hex.EncodeToString(sum[:16])
	if len(hashes.m) >= maxHashes {
		clear(hashes.m)
	}
	hashes.m[s] = h
	return h
}
