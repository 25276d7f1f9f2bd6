package asl

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	mathrand "math/rand/v2"
	"slices"
	"strings"
)

// list is the first argument, where lists stand.
func (c call) list() ([]any, error) {
	list, ok := c.args[0].([]any)
	if !ok {
		return nil, fmt.Errorf("argument 1: %v must be an array", c.args[0])
	}
	return list, nil
}

func (c call) text(i int) (string, error) {
	text, ok := c.args[i].(string)
	if !ok {
		return "", fmt.Errorf("argument %d: %v must be a string", i+1, c.args[i])
	}
	return text, nil
}

// whole rounds a number half up, as AWS was recorded to do: -1.5 becomes -1.
func (c call) whole(i int) (int, error) {
	r, ok := asNumber(c.args[i])
	if !ok {
		return 0, fmt.Errorf("argument %d: %v must be a number", i+1, c.args[i])
	}
	r = new(big.Rat).Add(r, big.NewRat(1, 2))
	n := new(big.Int).Div(r.Num(), r.Denom()) // rounds down
	if !n.IsInt64() {
		return 0, fmt.Errorf("argument %d: %v is too large", i+1, c.args[i])
	}
	return int(n.Int64()), nil
}

func arrayPartition(c call) (any, error) {
	list, err := c.list()
	if err != nil {
		return nil, err
	}
	size, err := c.whole(1)
	if err != nil {
		return nil, err
	}
	return partition(list, size)
}

func partition(list []any, size int) (any, error) {
	if size < 1 {
		return nil, fmt.Errorf("size %d: must be at least 1", size)
	}
	parts := []any{}
	for part := range slices.Chunk(list, size) {
		parts = append(parts, part)
	}
	return parts, nil
}

func arrayContains(c call) (any, error) {
	list, err := c.list()
	return slices.ContainsFunc(list, func(v any) bool { return equalJSON(v, c.args[1]) }), err
}

// maxRange is how many items States.ArrayRange makes at most.
const maxRange = 1000

func arrayRange(c call) (any, error) {
	var n [3]int
	for i := range n {
		var err error
		if n[i], err = c.whole(i); err != nil {
			return nil, err
		}
	}
	return numberRange(n[0], n[1], n[2])
}

func numberRange(from, to, by int) ([]any, error) {
	if by == 0 {
		return nil, fmt.Errorf("increment 0: must not be")
	}
	list := []any{}
	for at := from; by > 0 && at <= to || by < 0 && at >= to; at += by {
		if len(list) == maxRange {
			return nil, fmt.Errorf("range from %d to %d by %d: has more than %d items", from, to, by, maxRange)
		}
		list = append(list, number(at))
	}
	return list, nil
}

func arrayGetItem(c call) (any, error) {
	list, err := c.list()
	if err != nil {
		return nil, err
	}
	i, err := c.whole(1)
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= len(list) {
		return nil, fmt.Errorf("index %d: the array has %d items", i, len(list))
	}
	return list[i], nil
}

func arrayLength(c call) (any, error) {
	list, err := c.list()
	return number(len(list)), err
}

func arrayUnique(c call) (any, error) {
	list, err := c.list()
	unique := []any{}
	for _, v := range list {
		if !slices.ContainsFunc(unique, func(u any) bool { return equalJSON(u, v) }) {
			unique = append(unique, v)
		}
	}
	return unique, err
}

func base64Encode(c call) (any, error) {
	text, err := c.text(0)
	return base64.StdEncoding.EncodeToString([]byte(text)), err
}

func base64Decode(c call) (any, error) {
	text, err := c.text(0)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(text)
	return string(b), err
}

func hashText(data, algorithm any) (any, error) {
	text, ok := data.(string)
	if !ok {
		return nil, fmt.Errorf("data %v: must be a string", data)
	}
	var sum []byte
	switch b := []byte(text); algorithm {
	case "MD5":
		s := md5.Sum(b)
		sum = s[:]
	case "SHA-1":
		s := sha1.Sum(b)
		sum = s[:]
	case "SHA-256":
		s := sha256.Sum256(b)
		sum = s[:]
	case "SHA-384":
		s := sha512.Sum384(b)
		sum = s[:]
	case "SHA-512":
		s := sha512.Sum512(b)
		sum = s[:]
	default:
		return nil, fmt.Errorf("algorithm %v: must be MD5, SHA-1, SHA-256, SHA-384 or SHA-512", algorithm)
	}
	return hex.EncodeToString(sum), nil
}

func jsonMerge(c call) (any, error) {
	a, ok := c.args[0].(map[string]any)
	b, ok2 := c.args[1].(map[string]any)
	if !ok || !ok2 {
		return nil, fmt.Errorf("arguments 1 and 2: must be objects")
	}
	if c.args[2] != false {
		return nil, fmt.Errorf("argument 3: must be false: AWS merges shallowly only")
	}
	merged := maps.Clone(a)
	maps.Copy(merged, b)
	return merged, nil
}

func stringToJSON(c call) (any, error) {
	text, err := c.text(0)
	if err != nil || strings.TrimSpace(text) == "" {
		return nil, err
	}
	return decodeJSON([]byte(text))
}

// jsonToString writes fields in the order of their names: decoded JSON has lost its own.
func jsonToString(c call) (any, error) {
	b, err := encodeJSON(c.args[0])
	return string(b), err
}

// mathRandom gives the same number for the same seed, though not the one that AWS gives.
func mathRandom(c call) (any, error) {
	from, err := c.whole(0)
	if err != nil {
		return nil, err
	}
	to, err := c.whole(1)
	if err != nil {
		return nil, err
	}
	if to <= from {
		return nil, fmt.Errorf("end %d: must be more than start %d", to, from)
	}
	random := c.scope.random
	if len(c.args) == 3 {
		seed, err := c.whole(2)
		if err != nil {
			return nil, err
		}
		random = mathrand.New(mathrand.NewPCG(uint64(seed), 0)).Float64
	}
	return number(from + int(random()*float64(to-from))), nil
}

func mathAdd(c call) (any, error) {
	a, err := c.whole(0)
	if err != nil {
		return nil, err
	}
	b, err := c.whole(1)
	return number(a + b), err
}

// stringSplit splits at every character of the delimiter and drops what is empty.
func stringSplit(c call) (any, error) {
	text, err := c.text(0)
	if err != nil {
		return nil, err
	}
	at, err := c.text(1)
	parts := []any{}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(at, r) }) {
		parts = append(parts, part)
	}
	return parts, err
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
