// Counts down the time that is left for something ([data-seconds-left]). When it is over, its row is [data-over]: what can
// no longer be done there (.until-over) disappears, and what is so now (.when-over) is shown.
(() => {
  const ends = new WeakMap(); // moments of this browser's clock, which may differ from the hub's

  function format(seconds) {
    const rest = seconds % 60;
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(rest).padStart(2, "0")} s`;
  }

  function tick() {
    for (const element of document.querySelectorAll("[data-seconds-left]")) {
      if (!ends.has(element)) ends.set(element, Date.now() + 1000 * element.dataset.secondsLeft);
      const seconds = Math.max(0, Math.ceil((ends.get(element) - Date.now()) / 1000));
      element.textContent = format(seconds);
      element.closest("tr")?.toggleAttribute("data-over", seconds === 0);
    }
  }

  tick();
  setInterval(tick, 1000);
  document.addEventListener("replaced", tick);
})();
