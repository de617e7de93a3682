// Lets the keyboard scroll what is wider than its place, and scrolls the current section into view on a phone.
(() => {
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
