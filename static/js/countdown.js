// Counts down the time that is left for something ([data-seconds-left]). When the time is over, its row becomes
// [data-over]: there, elements of the class until-over disappear, and those of the class when-over are shown.
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
