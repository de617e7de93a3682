// Keeps an open page up to date: asks for it again every 15 s while it is visible, and replaces those blocks of
// <main> whose HTML has changed, never one in which somebody is at work.
(() => {
  const EVERY = 15_000;
  const main = document.querySelector("main[data-live]");
  if (!main) return;

  // A form's CSRF value differs with every answer and means no change.
  const html = (element) => element.outerHTML.replace(/(name="csrfmiddlewaretoken" value=")[^"]*/g, "$1");

  let served = [...main.children].map(html); // as the hub sent them, not as charts have changed them since
  let address = location.href;
  let etag = "";
  let askedAt = Date.now();
  let goodAt = Date.now();

  function inUse(element) {
    const selection = getSelection();
    return element.contains(document.activeElement)
      || Boolean(element.querySelector("[data-menu][open], dialog[open]"))
      || (!selection.isCollapsed && element.contains(selection.anchorNode));
  }

  function keepOpen(old, fresh) {
    const [was, is] = [old, fresh].map((root) => root.querySelectorAll("details"));
    if (was.length === is.length) was.forEach((details, index) => { is[index].open = details.open; });
  }

  function swap(element, act) {
    element.dispatchEvent(new Event("replacing", { bubbles: true }));
    const fresh = act();
    window.htmx?.process(fresh);
    fresh.dispatchEvent(new Event("replaced", { bubbles: true }));
  }

  // Says whether the page now stands as it was sent.
  function show(fresh) {
    const here = [...main.children];
    const sent = fresh.map(html);
    if (sent.length !== here.length) {
      if (here.some(inUse)) return false;
      swap(main, () => { main.replaceChildren(...fresh); return main; });
      served = sent;
      return true;
    }
    const changed = here.map((_, index) => index).filter((index) => sent[index] !== served[index]);
    const free = changed.filter((index) => !inUse(here[index]));
    for (const index of free) {
      keepOpen(here[index], fresh[index]);
      swap(here[index], () => { here[index].replaceWith(fresh[index]); return fresh[index]; });
      served[index] = sent[index];
    }
    return free.length === changed.length;
  }

  // What waits, beside the sections.
  function showCounts(fresh) {
    const here = document.querySelector(".side nav");
    if (!here || !fresh || inUse(here) || html(here) === html(fresh)) return;
    here.replaceChildren(...[...fresh.childNodes].map((node) => document.adoptNode(node)));
  }

  async function ask() {
    askedAt = Date.now();
    if (location.href !== address) etag = "";
    address = location.href;
    const headers = { Accept: "text/html", ...(etag && { "If-None-Match": etag }) };
    const response = await fetch(address, { headers, cache: "no-store" });
    if (response.status === 304) return;
    if (!response.ok || response.redirected) throw new Error("this is not the page");
    const text = await response.text();
    if (location.href !== address) return;
    const answer = new DOMParser().parseFromString(text, "text/html");
    showCounts(answer.querySelector(".side nav"));
    const sent = answer.querySelector("main");
    const whole = show([...sent.children].map((element) => document.adoptNode(element)));
    etag = whole ? response.headers.get("ETag") ?? "" : "";
  }

  function say(text) {
    const status = document.querySelector("[data-live-status]");
    if (status && status.textContent !== text) status.textContent = text;
  }

  function upToDate() {
    goodAt = Date.now();
    say("");
  }

  // Offline, signed out or failing: the numbers stay, and the page says how old they are.
  function stale() {
    const since = new Date(goodAt).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    say(`Not updated since ${since}`);
  }

  async function refresh() {
    if (document.hidden || document.activeElement?.closest("main :is(input, select, textarea)")) return;
    await ask().then(upToDate, stale);
  }

  setInterval(refresh, EVERY);
  document.addEventListener("visibilitychange", () => { if (Date.now() - askedAt > EVERY) refresh(); });
  // What htmx has put in place is newer than what was sent: every block counts as changed at the next answer.
  document.addEventListener("htmx:afterSwap", () => { served = served.map(() => ""); etag = ""; upToDate(); });
  for (const failed of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) document.addEventListener(failed, stale);
  // Whoever is signed out meanwhile is led to the page on which one signs in, not shown it in a table's place.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (new URL(event.detail.xhr.responseURL).pathname === location.pathname) return;
    event.detail.shouldSwap = false;
    location.reload();
  });
})();
