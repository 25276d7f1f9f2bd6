package dynamodbapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// passOn hands requests to an emulator as they came.
func passOn(to string) (http.Handler, error) {
	target, err := url.Parse(to)
	if err != nil || target.Host == "" {
		return nil, fmt.Errorf("endpoint %q of DynamoDB: must be a URL such as http://127.0.0.1:4566", to)
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}, nil
}

// askedOf tells whether a request is for tables that are here, and for any that are not. One
// that names none, such as a list of all tables, is not for here.
func (s *Server) askedOf(body []byte) (here, there bool) {
	var document any
	if json.Unmarshal(body, &document) != nil {
		return false, true
	}
	for _, name := range tableNames(document) {
		if s.tables[plainName(name)] != nil {
			here = true
		} else {
			there = true
		}
	}
	return here, there || !here
}

// tableNames finds the tables that a request names: as TableName, in it or in the items of a
// transaction, or as a member of RequestItems.
func tableNames(v any) (names []string) {
	switch v := v.(type) {
	case []any:
		for _, member := range v {
			names = append(names, tableNames(member)...)
		}
	case map[string]any:
		if name, ok := v["TableName"].(string); ok {
			return []string{name}
		}
		if batch, ok := v["RequestItems"].(map[string]any); ok {
			for name := range batch {
				names = append(names, name)
			}
			return names
		}
		for _, member := range v {
			names = append(names, tableNames(member)...)
		}
	}
	return names
}
