// Draws figures (JSON beside their place) with plotly.js, which is fetched only where there is one, after the
// tables have painted. Colours named "var(--x)" in a figure are those of the page; they follow its theme.
(() => {
  const CONFIG = { displayModeBar: false, displaylogo: false, showSendToCloud: false, plotlyServerURL: "", responsive: false };
  const NAMED = /^var\((--[\w-]+)\)$/;
  const drawn = new Map(); // place -> { observer: of its size, hidden: the lines that were switched off in its legend }
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
      dragmode: false,
      bargap: 0.25,
      xaxis: { ...axis, showgrid: false },
      yaxis: { ...axis, rangemode: "tozero", separatethousands: true },
    };
    return coloured({ ...merged(defaults, layout), showlegend: false });
  }

  // As many labels of the days as fit side by side, without the year where it is the same in all.
  function ticks({ data, layout }, width) {
    const labels = data[0]?.x ?? [];
    if (!layout.xaxis?.nticks || !labels.length) return {}; // not an axis of time
    const year = / \d{4}$/.exec(labels[0])?.[0];
    const same = year && labels.every((label) => label.endsWith(year));
    const short = same ? labels.map((label) => label.slice(0, -year.length)) : labels;
    const fitting = Math.max(2, Math.floor((width - 60) / (7 * Math.max(...short.map((label) => label.length)) + 14)));
    const each = Math.ceil(labels.length / fitting);
    const kept = (_, index) => index % each === 0;
    return { tickmode: "array", tickvals: labels.filter(kept), ticktext: short.filter(kept), tickangle: 0 };
  }

  // A list of buttons: it wraps like text, and the keyboard reaches it. Each switches its line off and on.
  function legend(place, { data, layout }, hidden) {
    place.parentElement.querySelector(".legend")?.remove();
    if (layout.showlegend === false || data.length < 2) return;
    const list = document.createElement("ul");
    list.className = "legend";
    list.append(...data.map((trace, index) => {
      const button = document.createElement("button");
      const line = document.createElement("i");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!hidden.has(index)));
      line.className = trace.line?.dash ? "dotted" : trace.type === "bar" ? "bars" : "";
      line.style.borderTopColor = trace.line?.color ?? trace.marker?.color ?? `var(--series-${index % 8 + 1})`;
      const name = new DOMParser().parseFromString(trace.name, "text/html").body.textContent; // escaped for plotly.js
      button.append(line, name);
      button.addEventListener("click", () => {
        if (!hidden.delete(index)) hidden.add(index);
        button.setAttribute("aria-pressed", String(!hidden.has(index)));
        window.Plotly.restyle(place, { visible: !hidden.has(index) }, [index]);
      });
      const item = document.createElement("li");
      item.append(button);
      return item;
    }));
    place.before(list);
  }

  async function draw(place) {
    const source = document.getElementById(place.dataset.figure);
    const address = place.closest("[data-plotly]").dataset.plotly;
    const Plotly = await plotly(address);
    if (!place.isConnected) return;
    const figure = JSON.parse(source.textContent);
    const hidden = drawn.get(place)?.hidden ?? new Set();
    const data = figure.data.map((trace, index) => ({ ...trace, visible: !hidden.has(index) }));
    const layout = merged(figure.layout, { xaxis: ticks(figure, place.clientWidth) });
    await Plotly.react(place, coloured(data), house(layout), CONFIG);
    if (drawn.has(place)) return;
    legend(place, figure, hidden);
    const observer = new ResizeObserver(() => place.isConnected && resize(place, figure));
    observer.observe(place);
    drawn.set(place, { observer, hidden });
  }

  async function resize(place, figure) {
    await window.Plotly.Plots.resize(place);
    const xaxis = Object.entries(ticks(figure, place.clientWidth)).map(([name, value]) => [`xaxis.${name}`, value]);
    if (place.isConnected && xaxis.length) await window.Plotly.relayout(place, Object.fromEntries(xaxis));
  }

  function drop(root) {
    for (const [place, { observer }] of drawn) {
      if (root !== place && !root.contains(place)) continue;
      observer.disconnect();
      window.Plotly.purge(place);
      place.parentElement.querySelector(".legend")?.remove();
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
