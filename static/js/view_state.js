// What a person chose is in the address: filters (form.filters), what was opened or closed ([data-disclosure]) and the
// lines switched off in charts. live.js then loads what the new address shows, so that page and address always agree.
(() => {
  const VIEW = ["open", "closed", "hide"]; // members that only scripts read, so the hub's links leave them out
  const MAX_LENGTH = 4000; // of a query; beyond it, the oldest choices are dropped from the address
  let timer;
  let typedField = null; // typing in one field is one history entry

  const isLive = Boolean(document.querySelector("main[data-live]"));
  const readAddress = () => new URLSearchParams(location.search);

  function change(members, isNewEntry) {
    for (const name of VIEW) while (members.toString().length > MAX_LENGTH && members.has(name)) members.delete(name, members.get(name));
    const query = members.toString();
    const search = query && `?${query}`;
    if (search === location.search) return false;
    history[isNewEntry ? "pushState" : "replaceState"](null, "", location.pathname + search);
    return true;
  }

  function keepView(members) {
    for (const name of VIEW) members.delete(name);
    for (const [name, value] of readAddress()) if (VIEW.includes(name)) members.append(name, value);
    return members;
  }

  window.viewState = {
    has: (name, value) => readAddress().has(name, value),
    // Adds what was opened and hidden here to an address of this page.
    complete(address) {
      const url = new URL(address, location.href);
      url.search = keepView(url.searchParams);
      return url.href;
    },
    // Scrolls to an element unless its top is in sight.
    show(element) {
      const { top } = element.getBoundingClientRect();
      if (top < 0 || top > innerHeight * 0.8) element.scrollIntoView({ block: "start" });
    },
    set(name, value, isPresent) {
      const members = readAddress();
      if (members.has(name, value) === isPresent) return;
      if (isPresent) members.append(name, value);
      else members.delete(name, value);
      change(members, false);
    },
  };

  function applyFilters(form, { submitter = null, isNewEntry = true } = {}) {
    clearTimeout(timer);
    if (!isLive) return;
    if (!form.isConnected || !form.checkValidity()) return;
    const entries = [...new FormData(form, submitter)].filter(([, value]) => value !== "");
    if (!change(keepView(new URLSearchParams(entries)), isNewEntry)) return;
    const resultId = submitter && form.getAttribute("action")?.replace("#", ""); // of the element with a button's result
    document.dispatchEvent(new CustomEvent("addresschange", { detail: resultId }));
  }

  const findForm = (field) => (field.form?.matches("form.filters[method=get]") ? field.form : null);
  const isText = (field) => field.matches("input:not([type=checkbox], [type=radio], [type=date])");

  document.addEventListener("input", (event) => {
    const field = event.target;
    const form = findForm(field);
    if (!form || !isText(field)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      applyFilters(form, { isNewEntry: typedField !== field });
      typedField = field;
    }, 200);
  });
  document.addEventListener("change", (event) => {
    const form = findForm(event.target);
    if (form) applyFilters(form, { isNewEntry: typedField !== event.target });
    typedField = null;
  });
  document.addEventListener("submit", (event) => {
    if (!isLive || !event.target.matches("form.filters[method=get]")) return;
    event.preventDefault();
    applyFilters(event.target, { submitter: event.submitter, isNewEntry: !typedField });
  });
  addEventListener("popstate", () => {
    clearTimeout(timer);
    typedField = null;
  });

  document.addEventListener("toggle", ({ target: details }) => {
    const key = details.dataset.disclosure;
    if (key === undefined) return;
    const isOpenAtFirst = details.hasAttribute("data-open-at-first");
    window.viewState.set("open", key, details.open && !isOpenAtFirst);
    window.viewState.set("closed", key, !details.open && isOpenAtFirst);
  }, true);

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="?"], a[data-same-page]');
    if (link) link.href = window.viewState.complete(link.href);
  }, true);
  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.path.startsWith("?")) event.detail.path = window.viewState.complete(event.detail.path);
  });
})();
