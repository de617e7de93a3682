// Fills the list of time zones when it is first needed, the viewer's own first.
(() => {
  document.addEventListener("focusin", (event) => {
    const zones = document.querySelector("[data-zones]");
    if (event.target.getAttribute("list") !== "zones" || !zones || zones.children.length) return;
    const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    zones.append(...new Set([ownZone, "UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => new Option(zone, zone))));
  });
})();
