package devapi

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// access says who may ask and who may change something.
type access struct {
	token    string
	loopback bool // the server listens on loopback only
	private  bool // see Server.Private
	next     http.Handler
}

// headers go with every answer. The page takes everything from here and nothing from anywhere
// else, runs no script that stands in it, and is shown in no frame.
var headers = map[string]string{
	"Cache-Control":                "no-store",
	"X-Content-Type-Options":       "nosniff",
	"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

// ServeHTTP lets a request through or answers why not.
func (a access) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	if !a.hostAllowed(r.Host) {
		deny(w, http.StatusMisdirectedRequest, "host "+quote(r.Host)+": must be an address of this machine or localhost")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if origin := r.Header.Get("Origin"); origin != "http://"+r.Host {
			deny(w, http.StatusForbidden, "origin "+quote(origin)+": must be http://"+r.Host)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if (!reads || a.private && strings.HasPrefix(r.URL.Path, "/api/")) && !carries(r, a.token) {
		deny(w, http.StatusUnauthorized, "the token is missing or wrong: it is part of the page's address that was printed, and in the file that `cronfence dev` leaves for its user")
		return
	}
	a.next.ServeHTTP(w, r)
}

// carries tells whether a request carries the token.
func carries(r *http.Request, token string) bool {
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// hostAllowed accepts addresses and localhost: a name could be somebody else's, pointed here.
func (a access) hostAllowed(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || !a.loopback)
}

func deny(w http.ResponseWriter, status int, why string) {
	writeProblem(w, status, problem{Kind: kindDenied, Message: why})
}
