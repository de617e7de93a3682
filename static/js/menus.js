// <details> menus close like menus: by Escape, by a click beside them, by opening another.
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
  });
})();
