// Keeps an open page up to date: fetches it again every 15 s while it is visible, and replaces those blocks of
// <main> whose HTML has changed, never one that somebody is using.
(() => {
  const INTERVAL = 15_000;
  const main = document.querySelector("main[data-live]");
  if (!main) return;

  // A form's CSRF value differs with every answer and means no change.
  const comparableHtml = (element) => element.outerHTML.replace(/(name="csrfmiddlewaretoken" value=")[^"]*/g, "$1");

  let served = [...main.children].map(comparableHtml); // as the hub rendered them, before charts changed them
  let address = location.href;
  let etag = "";
  let requestedAt = Date.now();
  let updatedAt = Date.now();
  let isStale = false;

  function isInUse(element) {
    const selection = getSelection();
    const focused = document.activeElement;
    return (element.contains(focused) && !focused.matches("[data-copy]")) // a button that only copies stays focused
      || Boolean(element.querySelector("[data-menu][open], dialog[open]"))
      || (!selection.isCollapsed && element.contains(selection.anchorNode));
  }

  function keepOpen(old, fresh) {
    const [oldDetails, newDetails] = [old, fresh].map((root) => root.querySelectorAll("details"));
    if (oldDetails.length === newDetails.length) oldDetails.forEach((details, index) => { newDetails[index].open = details.open; });
  }

  function replaceBlock(element, act) {
    element.dispatchEvent(new Event("replacing", { bubbles: true }));
    const focused = [...element.querySelectorAll("[data-copy]")].indexOf(document.activeElement);
    const fresh = act();
    if (focused >= 0) (fresh.querySelectorAll("[data-copy]")[focused] ?? main).focus({ preventScroll: true });
    window.htmx?.process(fresh);
    fresh.dispatchEvent(new Event("replaced", { bubbles: true }));
  }

  // Returns whether the page now equals the answer.
  function replaceChanged(fresh) {
    const blocks = [...main.children];
    const received = fresh.map(comparableHtml);
    if (received.length !== blocks.length) {
      if (blocks.some(isInUse)) return false;
      replaceBlock(main, () => { main.replaceChildren(...fresh); return main; });
      served = received;
      return true;
    }
    const changed = blocks.map((_, index) => index).filter((index) => received[index] !== served[index]);
    const replaceable = changed.filter((index) => !isInUse(blocks[index]));
    for (const index of replaceable) {
      keepOpen(blocks[index], fresh[index]);
      replaceBlock(blocks[index], () => { blocks[index].replaceWith(fresh[index]); return fresh[index]; });
      served[index] = received[index];
    }
    return replaceable.length === changed.length;
  }

  // The counts beside the sections.
  function showCounts(fresh) {
    const nav = document.querySelector(".side nav");
    if (!nav || !fresh || isInUse(nav) || comparableHtml(nav) === comparableHtml(fresh)) return;
    nav.replaceChildren(...[...fresh.childNodes].map((node) => document.adoptNode(node)));
  }

  async function update() {
    requestedAt = Date.now();
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
    const answeredMain = answer.querySelector("main");
    const isComplete = replaceChanged([...answeredMain.children].map((element) => document.adoptNode(element)));
    etag = isComplete ? response.headers.get("ETag") ?? "" : "";
  }

  function write(selector, text) {
    const element = document.querySelector(selector);
    if (element && element.textContent !== text) element.textContent = text;
  }

  // Offline, signed out or failing: the numbers stay, and the page says how old they are.
  function showAge() {
    const seconds = Math.max(0, Math.round((Date.now() - updatedAt) / 1000));
    const age = seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
    const since = new Date(updatedAt).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    write("[data-updated]", isStale ? "" : `updated ${age} ago`);
    write("[data-live-status]", isStale ? `not updated since ${since}` : ""); // announced once, unlike each second
  }

  function markUpdated() {
    updatedAt = Date.now();
    isStale = false;
    showAge();
  }

  function markStale() {
    isStale = true;
    showAge();
  }

  async function refresh() {
    if (document.hidden || document.activeElement?.closest("main :is(input, select, textarea)")) return;
    await update().then(markUpdated, markStale);
  }

  showAge();
  setInterval(showAge, 1000);
  setInterval(refresh, INTERVAL);
  document.addEventListener("visibilitychange", () => { if (Date.now() - requestedAt > INTERVAL) refresh(); });
  // What htmx has swapped in is newer than the last answer: every block counts as changed at the next one.
  document.addEventListener("htmx:afterSwap", () => { served = served.map(() => ""); etag = ""; markUpdated(); });
  for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) document.addEventListener(failure, markStale);
  // Somebody who was signed out meanwhile is led to the sign-in page, instead of seeing it inside a table.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (new URL(event.detail.xhr.responseURL).pathname === location.pathname) return;
    event.detail.shouldSwap = false;
    location.reload();
  });
})();
