// <details> menus close like menus: by Escape, by a click beside them, by opening another. Fills the list of time
// zones when it is first needed, and lets the keyboard scroll what overflows.
(() => {
  const findOpenMenus = () => document.querySelectorAll("[data-menu][open]");

  document.addEventListener("click", (event) => {
    for (const menu of findOpenMenus()) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of findOpenMenus()) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  document.addEventListener("focusin", (event) => {
    for (const menu of findOpenMenus()) if (!menu.contains(event.target)) menu.open = false;
    const zones = document.querySelector("[data-zones]");
    if (event.target.getAttribute("list") !== "zones" || !zones || zones.children.length) return;
    const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    zones.append(...new Set([ownZone, "UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => new Option(zone, zone))));
  });

  function makeScrollableFocusable() {
    for (const box of document.querySelectorAll(".card:has(> table), .scroll, .tree, pre")) {
      const scrolls = box.scrollWidth > box.clientWidth + 1;
      if (scrolls && !box.hasAttribute("tabindex")) {
        box.tabIndex = 0;
        box.setAttribute("role", "region");
        box.setAttribute("aria-label", box.getAttribute("aria-label") ?? box.querySelector("h2, caption")?.textContent ?? "Scrolls sideways");
      }
    }
  }

  // On a phone the sections are one row: scroll the current one into view, without scrolling the page.
  function showCurrentSection() {
    const link = document.querySelector(".side nav [aria-current]");
    const row = link?.closest("nav");
    if (row) row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
  }

  function fitToWindow() {
    makeScrollableFocusable();
    showCurrentSection();
  }
  addEventListener("load", fitToWindow);
  addEventListener("resize", fitToWindow);
  document.addEventListener("htmx:afterSettle", fitToWindow);
  document.addEventListener("replaced", makeScrollableFocusable);
  document.addEventListener("toggle", makeScrollableFocusable, true);
})();
