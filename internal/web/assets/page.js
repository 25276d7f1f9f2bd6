"use strict";
// Keeps the page as it is now, and sends what its buttons ask for. See package web.

const body = document.body;
const every = Number(body.dataset.every);
const $ = (id) => document.getElementById(id);

// The token is in the part of the address that is sent to nobody. It is kept for this tab, and
// taken out of the address, so that it is in no bookmark.
const tokenKey = "cronfence-token";
const token = () => sessionStorage.getItem(tokenKey);
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(tokenKey, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  $("readonly").hidden = Boolean(token() || $("locked"));
}
takeToken();
addEventListener("hashchange", () => {
  takeToken();
  look();
});

// morph makes a node like another one and leaves alone what is alike: the focus, a selection
// and what is open stay as they are.
function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || from.id !== to.id) {
    from.replaceWith(to);
    return;
  }
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return;
  }
  for (const a of [...from.attributes]) {
    const stays = a.name === "open" || (a.name === "tabindex" && from.classList.contains("mark"));
    if (!to.hasAttribute(a.name) && !stays) from.removeAttribute(a.name);
  }
  for (const a of to.attributes) {
    if (a.name === "tabindex" && from.classList.contains("mark")) continue; // the arrow keys moved it
    if (from.getAttribute(a.name) !== a.value) from.setAttribute(a.name, a.value);
  }
  if (from === document.activeElement && from.nodeName === "INPUT") return;
  const named = new Map();
  for (const child of from.children) if (child.id) named.set(child.id, child);
  const ids = new Set([...to.children].map((child) => child.id));
  let at = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const same = wanted.id ? named.get(wanted.id) : at && !at.id ? at : null;
    if (!same) {
      from.insertBefore(wanted, at);
      continue;
    }
    for (let n = at; n && n !== same; ) { // what is gone goes first, so that what stays need not move
      const next = n.nextSibling;
      if (!n.id || !ids.has(n.id)) {
        if (n === at) at = next;
        n.remove();
      }
      n = next;
    }
    if (same === at) at = at.nextSibling;
    else from.insertBefore(same, at);
    morph(same, wanted);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

// show puts the main part of a page into this one.
function show(html) {
  const main = new DOMParser().parseFromString(html, "text/html").querySelector("main");
  if (!main) return;
  if (main.dataset.version !== body.dataset.version) {
    location.reload(); // the server is another one
    return;
  }
  document.title = main.dataset.title;
  morph($("main"), document.adoptNode(main));
  aim();
}

// Looking: one request at a time, and none while nobody sees the page.
let looking = null;
let timer = 0;
let failures = 0;

async function look(anew) {
  clearTimeout(timer);
  if ($("locked") && !token()) return; // nothing would be shown
  if (looking) looking.abort();
  const mine = (looking = new AbortController());
  const href = location.href;
  try {
    const headers = { "X-Cronfence-Part": "main" };
    if (token()) headers.Authorization = "Bearer " + token();
    if (anew) headers["Cache-Control"] = "no-cache";
    const answer = await fetch(href, { headers, signal: mine.signal });
    const html = await answer.text();
    if (mine.signal.aborted) return;
    if (answer.ok || answer.status === 404) show(html);
    else throw new Error(new DOMParser().parseFromString(html, "text/html").querySelector(".problem")?.textContent || answer.statusText);
    failures = 0;
    connection("live", "");
  } catch (err) {
    if (mine.signal.aborted) return;
    failures++;
    connection("lost", err instanceof TypeError ? "no answer; trying again" : err.message);
  }
  looking = null;
  again();
}

function again() {
  clearTimeout(timer);
  if (document.hidden) {
    connection("still", "");
    return;
  }
  timer = setTimeout(look, Math.min(30000, every * 2 ** Math.min(failures, 3)));
}

function connection(state, why) {
  const text = { live: "live", lost: why, still: "not looking while hidden" }[state];
  if ($("connection").textContent !== text) $("connection").textContent = text;
  $("connection").className = "connection " + state;
}

document.addEventListener("visibilitychange", () => (document.hidden ? again() : look()));
addEventListener("popstate", () => look());

// Links within the page change what is shown and not the page.
function go(url, keep) {
  const elsewhere = url.pathname !== location.pathname;
  if (keep) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  look().then(() => {
    if (!elsewhere) return;
    scrollTo(0, 0);
    $("main").focus({ preventScroll: true });
  });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href.baseVal ?? link.href, location.href);
  if (url.origin !== location.origin || url.hash) return;
  event.preventDefault();
  if (link.classList.contains("mark")) link.focus();
  go(url, false);
});

let typing = 0;
document.addEventListener("input", (event) => {
  if (event.target.id !== "q") return;
  clearTimeout(typing);
  typing = setTimeout(() => find(event.target.form), 150);
});
document.addEventListener("submit", (event) => {
  if (!event.target.classList.contains("find")) return;
  event.preventDefault();
  find(event.target);
});
function find(form) {
  const url = new URL(form.action);
  url.search = new URLSearchParams([...new FormData(form)].filter(([, v]) => v)).toString();
  go(url, true);
}

// Within a timeline the arrow keys go from tick to tick.
const placeOf = (mark) => parseFloat(mark.querySelector(".on-tick").getAttribute("x"));
const marks = () => [...document.querySelectorAll(".timeline .mark")].sort((a, b) => placeOf(a) - placeOf(b));
function aim(to) {
  const all = marks();
  if (!all.length) return;
  const wanted = to || all.find((m) => m === document.activeElement) || all.find((m) => m.tabIndex === 0) || all[all.length - 1];
  for (const m of all) {
    const index = m === wanted ? "0" : "-1";
    if (m.getAttribute("tabindex") !== index) m.setAttribute("tabindex", index);
  }
}
document.addEventListener("keydown", (event) => {
  const mark = event.target.closest?.(".timeline .mark");
  if (!mark || event.metaKey || event.ctrlKey || event.altKey) return;
  const all = marks();
  const at = all.indexOf(mark);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const next = all[Math.max(0, Math.min(all.length - 1, to))];
  aim(next);
  next.focus();
});
aim();

// Acting.
let hiding = 0;
function say(text, kind) {
  clearTimeout(hiding);
  const message = $("message");
  message.textContent = text;
  message.className = "message " + kind;
  message.hidden = false;
  hiding = setTimeout(() => (message.hidden = true), kind === "done" ? 8000 : 20000);
}

async function send(method, path, content) {
  const answer = await fetch(path, {
    method,
    headers: { Authorization: "Bearer " + token(), "Content-Type": "application/json" },
    body: content && JSON.stringify(content),
  });
  const result = await answer.json();
  if (answer.ok) return result;
  if (answer.status === 401) {
    sessionStorage.removeItem(tokenKey);
    $("readonly").hidden = false;
  }
  const err = new Error(result.message);
  err.kind = answer.status === 409 ? "refused" : "failed";
  throw err;
}

const post = (path, content) => send("POST", path, content);
const by = body.dataset.by;
const acts = {
  run: (job, path) => ({ send: () => post(path + "/run", { by }), done: (r) => [r.message, r.refused ? "refused" : "done"] }),
  pause: (job, path) => ({
    title: "Pause " + job,
    text: "Its ticks are skipped, on the record. A run that goes on is left alone.",
    verb: "Pause",
    length: true,
    send: (reason, minutes) => post(path + "/pause", { by, reason, for: minutes * 60e9 }),
    done: () => [job + " is paused.", "done"],
  }),
  resume: (job, path) => ({ send: () => post(path + "/resume", {}), done: (s) => [job + " is resumed; " + (s.backlog ? "its " + s.backlog.kind.replace("catchup", "catch-up") + " goes on." : "that starts nothing by itself."), "done"] }),
  // The run as it is now: the button goes on to be that of whichever holds the guard.
  release: (job, path, { run }) => ({
    title: "Release the guard of " + job,
    text: "Run " + run + " is stopped and its tick recorded as Aborted. The guard comes free once the run has ended.",
    verb: "Stop the run and release",
    send: (reason) => post(path + "/release", { by, reason, run }),
    done: (r) => [r.message, "done"],
  }),
  fault: (job, path, data) => ({ send: () => post(path, JSON.parse(data.fault)), done: (f) => [f.text + (f.last ? ": " + f.last : " is asked for; it waits for its occasion."), "done"] }),
  end: (job, path, data) => ({ send: () => send("DELETE", path + "/" + data.id), done: (f) => [f.text + " is over.", "done"] }),
};

async function act(a, ...with_) {
  try {
    const [text, kind] = a.done(await a.send(...with_));
    say(text, kind);
  } catch (err) {
    say(err instanceof TypeError ? "No answer: it is not known whether that was done." : err.message, err.kind || "failed");
  }
  look(true);
}

let asked = null;
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-act]");
  if (!button) return;
  if (!token()) {
    $("readonly").hidden = false;
    say("The buttons need the token; open the page at the address that was printed when it was started.", "refused");
    return;
  }
  const group = button.closest("[data-path]");
  const a = acts[button.dataset.act](group.dataset.job, group.dataset.path, button.dataset);
  if (!a.title) {
    act(a);
    return;
  }
  asked = a;
  $("ask-title").textContent = a.title;
  $("ask-text").textContent = a.text;
  $("ask-do").textContent = a.verb;
  $("ask-for").hidden = !a.length;
  $("ask-reason").value = "";
  $("ask").returnValue = "";
  $("ask").showModal();
  $("ask-reason").focus();
});
$("ask-cancel").addEventListener("click", () => $("ask").close(""));
$("ask").addEventListener("close", () => {
  if ($("ask").returnValue === "do") act(asked, $("ask-reason").value.trim(), Number($("ask-length").value));
});

if ($("locked")) look();
else again();
