// Times are in the viewer's own zone: if the address names no zone, the same page is loaded with the viewer's, and the
// new address replaces the old one in the history. Runs before the first paint, and nothing is painted until the page
// in that zone has arrived, so that no reader sees times change. This happens only on pages that the hub marks: they
// can be loaded again from the same address. A page that shows a key once is not marked, nor is the answer to a form.
(() => {
  const root = document.documentElement;
  const PATIENCE = 2_000; // ms, beyond which times in UTC are better than nothing
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const address = new URL(location.href);
  const hasName = Boolean(zone) && zone !== "Etc/Unknown" && !/^[+-]/.test(zone); // a machine may have an offset only
  if (!("inZone" in root.dataset) || !hasName || zone === "UTC" || address.searchParams.has("tz")) return;
  address.searchParams.append("tz", zone);
  root.style.visibility = "hidden";
  setTimeout(() => { root.style.visibility = ""; }, PATIENCE);
  location.replace(address);
})();
