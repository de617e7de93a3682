// Draws figures (JSON beside their place) with plotly.js, which is fetched only where there is one, after the
// tables have painted. Colours named "var(--x)" in a figure are those of the page; they follow its theme.
(() => {
  const CONFIG = { displayModeBar: false, displaylogo: false, showSendToCloud: false, plotlyServerURL: "", responsive: false };
  const NAMED = /^var\((--[\w-]+)\)$/;
  const drawn = new Map(); // place -> the ResizeObserver of its plot
  const probe = document.createElement("i");
  let library;

  function plotly(address) {
    library ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = () => resolve(window.Plotly);
      script.onerror = reject;
      document.head.append(script);
    });
    return library;
  }

  function colour(name) {
    probe.className = "visually-hidden";
    probe.style.color = `var(${name})`;
    if (!probe.isConnected) document.body.append(probe);
    return getComputedStyle(probe).color;
  }

  function coloured(value) {
    if (typeof value === "string") {
      const named = NAMED.exec(value);
      return named ? colour(named[1]) : value;
    }
    if (Array.isArray(value)) return value.map(coloured);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, coloured(inner)]));
    }
    return value;
  }

  // `over` wins; objects are merged, everything else replaced.
  function merged(under, over) {
    const both = { ...under };
    for (const [name, value] of Object.entries(over ?? {})) {
      const nested = value && typeof value === "object" && !Array.isArray(value) && typeof both[name] === "object";
      both[name] = nested ? merged(both[name], value) : value;
    }
    return both;
  }

  function house(layout) {
    const axis = { gridcolor: "var(--line)", linecolor: "var(--line)", zerolinecolor: "var(--line)", tickcolor: "var(--line)", automargin: true };
    const defaults = {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: "var(--soft)" },
      colorway: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `var(--series-${n})`),
      margin: { l: 8, r: 8, t: 8, b: 8 },
      hovermode: "x unified",
      hoverlabel: { bgcolor: "var(--card)", bordercolor: "var(--edge)", font: { color: "var(--ink)" } },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", traceorder: "normal" },
      dragmode: false,
      bargap: 0.25,
      xaxis: { ...axis, showgrid: false },
      yaxis: { ...axis, rangemode: "tozero", separatethousands: true },
    };
    return coloured(merged(defaults, layout));
  }

  async function draw(place) {
    const source = document.getElementById(place.dataset.figure);
    const address = place.closest("[data-plotly]").dataset.plotly;
    const Plotly = await plotly(address);
    if (!place.isConnected) return;
    const figure = JSON.parse(source.textContent);
    await Plotly.react(place, coloured(figure.data), house(figure.layout), CONFIG);
    if (drawn.has(place)) return;
    const observer = new ResizeObserver(() => place.isConnected && Plotly.Plots.resize(place));
    observer.observe(place);
    drawn.set(place, observer);
  }

  function drop(root) {
    for (const [place, observer] of drawn) {
      if (root !== place && !root.contains(place)) continue;
      observer.disconnect();
      window.Plotly.purge(place);
      drawn.delete(place);
    }
  }

  function drawAll(root) {
    for (const place of root.querySelectorAll("[data-figure]")) {
      draw(place).catch(() => { place.hidden = true; }); // the table beside it has the numbers
    }
  }

  const whenIdle = window.requestIdleCallback ?? ((act) => setTimeout(act, 50));
  addEventListener("load", () => whenIdle(() => drawAll(document)));
  document.addEventListener("colours", () => [...drawn.keys()].forEach((place) => draw(place)));
  document.addEventListener("htmx:beforeCleanupElement", (event) => drop(event.target));
  document.addEventListener("htmx:afterSettle", (event) => drawAll(event.target));
  document.addEventListener("replaced", (event) => drawAll(event.target));
  document.addEventListener("replacing", (event) => drop(event.target));
})();
