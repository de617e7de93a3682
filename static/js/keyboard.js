// The keyboard: the dialog that `?` opens says what each key does. Keys only follow links of the page.
(() => {
  const ROWS = "main tbody tr, main .tree .row:not(.titles), main .line > li, main .list > li";
  const SEARCH_FIELDS = ["main input[type=search]", "main [data-search]", "main form.filters :is(input:not([type=hidden]), select)"];
  const REACHABLE = "a[href], button, summary";
  let gPressedAt = 0;

  const isTyping = (element) => element.closest("input, select, textarea, [contenteditable]");
  const dialog = () => document.getElementById("keyboard-help");
  const follow = (selector) => document.querySelector(selector)?.click();

  function focusSearch() {
    const field = SEARCH_FIELDS.map((selector) => document.querySelector(selector)).find((element) => element?.checkVisibility());
    if (!field) follow("[data-search-everything]");
    field?.focus();
    field?.select?.();
  }

  function moveFocus(by) {
    const rows = [...document.querySelectorAll(ROWS)].filter((row) => row.checkVisibility());
    const position = rows.findIndex((row) => row.contains(document.activeElement));
    const row = rows[position < 0 ? (by > 0 ? 0 : rows.length - 1) : position + by];
    if (!row) return;
    const target = row.matches("summary") ? row : row.querySelector(REACHABLE) ?? row;
    if (target === row && !row.matches("summary")) row.tabIndex = -1;
    target.focus();
    row.scrollIntoView({ block: "nearest" });
  }

  // An element that scrolls sideways or has its own arrow keys keeps them. With Shift, arrows change a selection.
  function changePeriod(which, { shiftKey }) {
    if (shiftKey) return;
    const element = document.activeElement;
    const keepsArrows = element.closest("pre, [role=tablist], [role=region], dialog") || element.scrollWidth > element.clientWidth + 1;
    if (!keepsArrows || element === document.body) follow(`[data-period=${which}]`);
  }

  const ACTIONS = {
    "/": (event) => {
      event.preventDefault();
      focusSearch();
    },
    "?": () => dialog()?.showModal(),
    g: () => { gPressedAt = Date.now(); },
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
    ArrowLeft: (event) => changePeriod("earlier", event),
    ArrowRight: (event) => changePeriod("later", event),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (Date.now() - gPressedAt < 1500 && event.key !== "g") {
      gPressedAt = 0;
      if (/^[a-z]$/.test(event.key)) follow(`[data-go=${event.key}]`);
      return;
    }
    ACTIONS[event.key]?.(event);
  });

  document.addEventListener("click", (event) => event.target.closest("[data-keys]") && dialog()?.showModal());
})();
