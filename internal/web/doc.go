// Package web is the page that shows schedulers: all jobs beside each other over one stretch
// of time, and each by itself with what it does now, what its ticks came to and why.
//
// The page is made here, from package ops, and looks at nothing else: it shows the local cloud
// and a deployed scheduler alike. It changes nothing itself. Its buttons speak to the HTTP
// interface of package devapi, which asks for a token and for the page's own origin; so the
// page must be served beside that interface, by the same server.
//
// Everything it needs comes from that server: the styles, the script and the icon are in this
// package. The script asks for the page's main part again and again and changes what differs,
// so focus, selection and scrolling stay, and a server that went away is asked until it is back.
package web
