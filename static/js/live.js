// Keeps an open page up to date: fetches it again every 15 s while it is visible, and replaces what has changed, never
// what somebody is using. When the address changes, by a filter or by Back, the whole page is updated at once.
(() => {
  const INTERVAL = 15_000;
  const FRAME = [".side nav", ".top"];
  const SENT_BY_BUTTON = "main form:not(.filters[method=get]) :is(input, select, textarea)"; // filters apply at once
  const main = document.querySelector("main[data-live]");
  if (!main) return;

  // The CSRF value of a form differs in every answer, and a reader opens and closes sections: neither is a change of the page.
  const comparableHtml = (element) => element.outerHTML
    .replace(/(name="csrfmiddlewaretoken" value=")[^"]*/g, "$1").replace(/(<details [^>]*?) open=""/g, "$1");
  const readAddress = () => location.pathname + location.search;

  let servedHtml = [...main.children].map(comparableHtml); // as the hub rendered them, before charts changed them
  const servedFrame = {};
  let address = readAddress();
  let isBehind = false; // the address has changed, and the page could not follow
  let etag = "";
  let request = new AbortController();
  let requestedAt = Date.now();
  let updatedAt = Date.now();
  let isStale = false;
  let isSignedOut = false;

  // Whether a field has another value than it was served with.
  function isChanged(field) {
    if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
    if (!field.matches("select")) return field.value !== field.defaultValue;
    return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
  }

  function isInUse(element) {
    const selection = getSelection();
    const focused = document.activeElement;
    return Boolean(element.querySelector("[data-steady]:hover")) || element.matches("[data-steady]:hover") // rows must not move under the pointer
      || (element.contains(focused) && !focused.matches("[data-copy]")) // a button that only copies stays focused
      || Boolean(element.querySelector("[data-menu][open], dialog[open]"))
      || [...element.querySelectorAll(SENT_BY_BUTTON)].some(isChanged) // not sent yet
      || (!selection.isCollapsed && element.contains(selection.anchorNode));
  }

  // Returns the same control in a fresh copy of an element.
  function findTwin(control, fresh) {
    if (control.id) return fresh.querySelector(`#${CSS.escape(control.id)}`);
    const twins = [...fresh.querySelectorAll(control.tagName)];
    const isTwin = (twin) => twin.name === control.name && twin.type === control.type && (control.type !== "checkbox" || twin.value === control.value);
    return twins.find((twin) => control.name && isTwin(twin));
  }

  // Makes `old` like `fresh` around the focused control, which stays in the page: so it keeps the focus and its text.
  function replaceAround(control, twin, old, fresh) {
    if (old === control) return;
    const keptChild = [...old.children].find((child) => child.contains(control));
    const freshChild = [...fresh.children].find((child) => child.contains(twin));
    const nodes = [...fresh.childNodes];
    const position = nodes.indexOf(freshChild);
    for (const node of [...old.childNodes]) if (node !== keptChild) node.remove();
    keptChild.before(...nodes.slice(0, position));
    keptChild.after(...nodes.slice(position + 1));
    replaceAround(control, twin, keptChild, freshChild);
  }

  function replace(old, fresh, takesValue) {
    const control = old.contains(document.activeElement) ? document.activeElement : null;
    const twin = control && findTwin(control, fresh);
    const copyButton = [...old.querySelectorAll("[data-copy]")].indexOf(control);
    let result = old;
    old.dispatchEvent(new Event("replacing", { bubbles: true }));
    if (twin) {
      const { value, checked } = twin;
      replaceAround(control, twin, old, fresh);
      if (takesValue) Object.assign(control, { value, checked });
    } else if (old === main) {
      main.replaceChildren(...fresh.childNodes);
    } else {
      old.replaceWith(fresh);
      result = fresh;
    }
    if (control && !control.isConnected) (result.querySelectorAll("[data-copy]")[copyButton] ?? main).focus({ preventScroll: true });
    window.htmx?.process(result);
    result.dispatchEvent(new Event("replaced", { bubbles: true }));
  }

  // Returns whether the page now equals the answer. followsAddress: a person waits for it, so nothing is left out.
  function replaceChanged(fresh, { followsAddress, takesValue }) {
    const blocks = [...main.children];
    const freshBlocks = [...fresh.children];
    const receivedHtml = freshBlocks.map(comparableHtml);
    const mayReplace = (block) => followsAddress || !isInUse(block);
    if (receivedHtml.length !== blocks.length) {
      if (!blocks.every(mayReplace)) return false;
      replace(main, fresh, takesValue);
      servedHtml = receivedHtml;
      return true;
    }
    const changed = blocks.map((_, index) => index).filter((index) => receivedHtml[index] !== servedHtml[index]);
    const replaceable = changed.filter((index) => mayReplace(blocks[index]));
    for (const index of replaceable) {
      replace(blocks[index], freshBlocks[index], takesValue);
      servedHtml[index] = receivedHtml[index];
    }
    return replaceable.length === changed.length;
  }

  // Replaces the title, the counts beside the sections, and the links to other environments and periods.
  function replaceFrame(answer) {
    document.title = answer.title;
    for (const selector of FRAME) {
      const [old, fresh] = [document, answer].map((page) => page.querySelector(selector));
      if (!old || !fresh || isInUse(old) || servedFrame[selector] === comparableHtml(fresh)) continue;
      servedFrame[selector] = comparableHtml(fresh);
      old.replaceChildren(...[...fresh.childNodes].map((node) => document.adoptNode(node)));
    }
  }

  // The styles and scripts of a page: after an upgrade of the hub, its answers have others, which an open page has not loaded.
  const listFiles = (page) => [...page.querySelectorAll("head > :is(link[rel=stylesheet], script[defer])")]
    .map((element) => element.getAttribute("href") ?? element.getAttribute("src")).join(" ");
  const isPageInUse = () => Boolean(document.querySelector("dialog[open]"))
    || [...main.children, ...FRAME.map((selector) => document.querySelector(selector))].some((element) => element && isInUse(element));

  async function update({ followsAddress = isBehind, takesValue = false } = {}) {
    request.abort(); // only the latest answer counts
    request = new AbortController();
    requestedAt = Date.now();
    const requestedAddress = readAddress();
    if (requestedAddress !== address) etag = "";
    address = requestedAddress;
    const headers = { Accept: "text/html", ...(etag && { "If-None-Match": etag }) };
    const { signal } = request;
    const response = await fetch(requestedAddress, { headers, signal, cache: "no-store" });
    if (response.status === 304) return;
    if (response.redirected && followsAddress) location.reload(); // signed out: the hub leads to the sign-in page
    isSignedOut = response.redirected;
    if (!response.ok || isSignedOut) throw new Error("this is not the page");
    const answer = new DOMParser().parseFromString(await response.text(), "text/html");
    if (signal.aborted) return;
    if (readAddress() !== requestedAddress) { // a section was opened or closed meanwhile
      if (followsAddress) await followAddress(takesValue);
      return;
    }
    const isOfThisVersion = listFiles(answer) === listFiles(document);
    if (!isOfThisVersion && (followsAddress || !isPageInUse())) {
      location.reload();
      return;
    }
    isBehind = false;
    replaceFrame(answer);
    const isComplete = replaceChanged(document.adoptNode(answer.querySelector("main")), { followsAddress, takesValue });
    etag = isComplete && isOfThisVersion ? response.headers.get("ETag") ?? "" : "";
  }

  function write(selector, text) {
    const element = document.querySelector(selector);
    if (element && element.textContent !== text) element.textContent = text;
  }

  // Formats a time as the page does: in the page's time zone, with the day unless it is today.
  function formatMoment(moment) {
    const timeZone = document.querySelector("[data-zone]")?.dataset.zone;
    const [day, today] = [moment, Date.now()].map((time) => new Date(time).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone }));
    const time = new Date(moment).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZone });
    return day === today ? time : `${day}, ${time}`;
  }

  // Offline, signed out or failing: the numbers stay, and the page says how old they are.
  function showAge() {
    const seconds = Math.max(0, Math.round((Date.now() - updatedAt) / 1000));
    const age = seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
    const status = `${isSignedOut ? "signed out, " : ""}page not refreshed since ${formatMoment(updatedAt)}`;
    write("[data-updated]", isStale ? "" : `page refreshed ${age} ago`);
    write("[data-live-status]", isStale ? status : ""); // announced once, not every second
    document.querySelector("[data-sign-in]")?.toggleAttribute("hidden", !(isStale && isSignedOut));
  }

  function markUpdated() {
    updatedAt = Date.now();
    isStale = false;
    showAge();
  }

  function markStale(error) {
    if (error?.name === "AbortError") return; // a later request is under way
    isStale = true;
    showAge();
  }

  async function refresh() {
    if (document.hidden) return;
    await update().then(markUpdated, markStale);
  }

  // The texts that a screen reader should say, such as how many rows match. It says the age of the page already.
  const listStatuses = () => [...main.querySelectorAll("[role=status]:not([data-live-status])")].filter((element) => element.checkVisibility())
    .map((element) => element.innerText.replace(/\s+/g, " ").trim());

  // Screen readers do not say the text of a status that is replaced together with its block. So what is new among these
  // texts is also written into an element that stays.
  function announceChanges(earlierTexts) {
    const newTexts = listStatuses().filter((text) => !earlierTexts.includes(text));
    document.getElementById("announcement").textContent = newTexts.join(" ");
  }

  async function followAddress(takesValue) {
    const progress = document.getElementById("progress");
    const earlierTexts = listStatuses();
    isBehind = true;
    progress.classList.add("htmx-request");
    const updating = update({ followsAddress: true, takesValue });
    const { signal } = request;
    await updating.then(markUpdated, markStale);
    if (signal.aborted) return;
    progress.classList.remove("htmx-request");
    announceChanges(earlierTexts);
  }

  showAge();
  setInterval(showAge, 1000);
  setInterval(refresh, INTERVAL);
  document.addEventListener("visibilitychange", () => { if (Date.now() - requestedAt > INTERVAL) refresh(); });
  document.addEventListener("addresschange", async ({ detail: elementId }) => {
    await followAddress(false);
    const element = elementId && document.getElementById(elementId);
    if (element) window.viewState.show(element);
  });
  // Back and Forward: every control shows what the address says, whatever was chosen in it meanwhile.
  addEventListener("popstate", () => {
    if (readAddress() === address) return;
    servedHtml = servedHtml.map(() => "");
    followAddress(true);
  });
  // What htmx has swapped in is newer than the last answer: at the next update every block counts as changed.
  document.addEventListener("htmx:afterSwap", ({ target }) => {
    if (!main.contains(target)) return; // the search box is not part of the page
    servedHtml = servedHtml.map(() => "");
    etag = "";
    markUpdated();
  });
  for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) document.addEventListener(failure, () => markStale());
  // Somebody who was signed out meanwhile is led to the sign-in page, instead of seeing it inside a table.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { pathInfo, xhr } = event.detail;
    if (new URL(xhr.responseURL).pathname === new URL(pathInfo.requestPath, location.href).pathname) return;
    event.detail.shouldSwap = false;
    location.reload();
  });
})();
