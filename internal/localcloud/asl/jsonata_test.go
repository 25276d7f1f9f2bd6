package asl

import "testing"

// evalJSONata runs one expression over an input, with the variable $v.
func evalJSONata(t *testing.T, expression, input string) *trial {
	t.Helper()
	return try(t, `{"QueryLanguage":"JSONata","StartAt":"A","States":{
		"A":{"Type":"Pass","Assign":{"v":{"n":null,"list":[]},"none":null},"Next":"S"},
		"S":{"Type":"Pass","Output":"{% `+expression+` %}","End":true}}}`, input, nil)
}

func TestJSONataExpressions(t *testing.T) {
	input := `{"n":2,"list":[{"a":1},{"a":2}],"empty":[],"one":[5],"no":null,"big":9007199254740993,"text":"a-b"}`
	for expression, want := range map[string]string{
		`$states.input.n + 1`:             `3`,
		`$states.input.list.a`:            `[1,2]`,
		`$states.input.list[a=2]`:         `{"a":2}`,
		`$states.input.empty`:             `[]`,
		`$states.input.one`:               `[5]`,
		`$states.input.no`:                `null`,
		`$states.input.big`:               `9007199254740993`,
		`$v`:                              `{"n":null,"list":[]}`,
		`$v.n`:                            `null`,
		`$none`:                           `null`,
		`$none = null`:                    `true`,
		`{'x': $none, 'y': $v.n}`:         `{"x":null,"y":null}`,
		`$states.input.no = null`:         `true`,
		`$states.input.n = null`:          `false`,
		`[$none, 1]`:                      `[null,1]`,
		`$count($states.input.empty)`:     `0`,
		`$exists($nope)`:                  `false`,
		`$split($states.input.text, '-')`: `["a","b"]`,
		`$map($states.input.list, function($x){$x.a * 2})`: `[2,4]`,
		`$states.input.n > 1 ? 'more' : 'less'`:            `"more"`,
		`$partition([1,2,3], 2)`:                           `[[1,2],[3]]`,
		`$range(0, 6, 3)`:                                  `[0,3,6]`,
		`$parse('{\"a\":[1]}')`:                            `{"a":[1]}`,
		`$hash('input data', 'MD5')`:                       `"812f45842bc6d66ee14572ce20db8e86"`,
		`$length($uuid())`:                                 `36`,
		`$random() < 1`:                                    `true`,
		`$states.context.State.Name`:                       `"S"`,
		`$merge([{'a':1}, {'b':$states.input.n}])`:         `{"a":1,"b":2}`,
		`($x := 3; $x * $x)`:                               `9`,
		`$string($states.input.list)`:                      `"[{\"a\":1},{\"a\":2}]"`,
		`$states.input.missing`:                            ``,
		`1 + 'a'`:                                          ``,
		`$error('no')`:                                     ``,
		`function($x){$x}`:                                 ``,
		`$hash('a', 'CRC')`:                                ``,
		`[1..3]`:                                           `[1,2,3]`,
		`$sort([3,1,2])`:                                   `[1,2,3]`,
		`$number('12.5')`:                                  `12.5`,
		`$sum($states.input.list.a) = 3 and $states.input.n=2`: `true`,
	} {
		x := evalJSONata(t, expression, input)
		if want == "" {
			if x.Err == nil || x.Err.Name != ErrNameQuery {
				t.Errorf("%s: got %s, %v; want %s", expression, x.Output, x.Err, ErrNameQuery)
			}
			continue
		}
		if x.Err != nil || !sameJSON(x.Output, []byte(want)) || (expression == `$states.input.big` && string(x.Output) != want) {
			t.Errorf("%s: got %s, %v; want %s", expression, x.Output, x.Err, want)
		}
	}
}
