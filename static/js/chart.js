// Draws figures (JSON in the page) into their boxes. plotly.js is fetched only for a page that has a figure, after its
// tables have painted. Colours named "var(--x)" in a figure are those of the page; they follow its theme.
(() => {
  const CONFIG = { displayModeBar: false, displaylogo: false, showSendToCloud: false, plotlyServerURL: "", responsive: false };
  const NAMED = /^var\((--[\w-]+)\)$/;
  const charts = new Map(); // for each box, the observer of its size
  const probe = document.createElement("i");
  const PAPER_WIDTH = 640; // CSS pixels, of a chart on A4 or Letter
  const TEXT_SCALE = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // the reader's own size of text
  let library;
  let isPrinting = false;

  function loadPlotly(address) {
    library ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = () => resolve(window.Plotly);
      script.onerror = reject;
      document.head.append(script);
    });
    return library;
  }

  function resolveColour(name) {
    probe.className = "visually-hidden";
    probe.style.color = `var(${name})`;
    probe.style.forcedColorAdjust = "none"; // else all lines would have one colour where the system forces its own
    if (!probe.isConnected) document.body.append(probe);
    return getComputedStyle(probe).color;
  }

  // Returns a part of a figure with the page's colours and with texts of the reader's size. Only members that are colours
  // are resolved, because an outcome key may be "var(--bad)", too.
  function adapt(value, name = "") {
    if (Array.isArray(value)) return value.map((inner) => adapt(inner, name));
    if (value && typeof value === "object") {
      const adapted = Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, adapt(inner, member)]));
      return /font$/.test(name) && value.size ? { ...adapted, size: value.size * TEXT_SCALE } : adapted;
    }
    const variable = /color(way)?$/.test(name) && NAMED.exec(value);
    return variable ? resolveColour(variable[1]) : value;
  }

  // Returns `under` with the members of `over`: objects are combined, everything else is replaced by that of `over`.
  function merge(under, over) {
    const both = { ...under };
    for (const [name, value] of Object.entries(over ?? {})) {
      const nested = value && typeof value === "object" && !Array.isArray(value) && typeof both[name] === "object";
      both[name] = nested ? merge(both[name], value) : value;
    }
    return both;
  }

  function buildLayout(layout) {
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
      yaxis: { ...axis, rangemode: "tozero", separatethousands: true, title: { standoff: 8 } }, // without it, long counts run under the title
    };
    return adapt({ ...merge(defaults, layout), showlegend: false });
  }

  // Chooses as many labels of the days as fit side by side, and leaves out the year if it is the same in all.
  function chooseTicks({ data, layout }, width) {
    const labels = data[0]?.x ?? [];
    if (!layout.xaxis?.nticks || !labels.length) return {}; // not an axis of time
    const year = / \d{4}(?=$|,)/.exec(labels[0])?.[0];
    const isShared = year && labels.every((label) => label.includes(year));
    const [annotation] = layout.annotations ?? []; // a word that the chart itself has on some buckets, "partial"
    const shorten = (label) => (isShared ? label.replace(year, "") : label).replace(annotation ? `, ${annotation.text}` : "", "");
    const labelTexts = labels.map(shorten);
    const maxLabels = Math.floor((width - 60 * TEXT_SCALE) / (TEXT_SCALE * (7 * Math.max(...labelTexts.map((label) => label.length)) + 14)));
    const stride = maxLabels < 2 ? Math.max(1, labels.length - 1) : Math.ceil(labels.length / maxLabels); // at least the first and the last
    const isShown = (_, index) => (labels.length - 1 - index) % stride === 0; // the last label always is
    return { tickmode: "array", tickvals: labels.filter(isShown), ticktext: labelTexts.filter(isShown), tickangle: 0 };
  }

  // An axis of counts that are all small has a tick at each whole number, and none between.
  function chooseCountTicks({ data, layout }) {
    const isStacked = layout.barmode === "stack";
    const sums = (data[0]?.y ?? []).map((_, index) => data.map((trace) => trace.y[index] ?? 0).reduce((a, b) => (isStacked ? a + b : Math.max(a, b)), 0));
    return layout.yaxis?.tickformat === ",d" && Math.max(0, ...sums) < 5 ? { dtick: 1 } : {};
  }

  const [NAME_SIZE, NAME_GAP, AXIS_WIDTH] = [11, 13 * TEXT_SCALE, 50 * TEXT_SCALE]; // pixels
  const paper = document.createElement("canvas").getContext("2d");

  function measureName(text) {
    paper.font = `${NAME_SIZE * TEXT_SCALE}px ${getComputedStyle(document.body).fontFamily}`;
    return paper.measureText(text).width;
  }

  const MAX_NAME_LENGTHS = [20, 12, 8]; // letters

  // The texts that may be written beside a mark, the longest first: the first annotation, and how many more there are.
  function listNames({ note, count }) {
    if (!note) return count > 1 ? [`${count} changes`] : [];
    const letters = Array.from(note); // each whole, also one of two UTF-16 code units
    const names = MAX_NAME_LENGTHS.map((length) => (letters.length > length ? `${letters.slice(0, length - 1).join("")}…` : note));
    return count > 1 ? [`${names[0]} and ${count - 1} more`, ...names.map((name) => `${name} +${count - 1}`)] : names;
  }

  // The texts of the marks and where they stand. A name may cover neither a later name nor another mark, to which it
  // would seem to belong. It stays as far from marks as from names, so that it leaves the room between itself and a mark to
  // that mark. If no shortened name fits, it is left out, and several annotations have only their count. The list below
  // the chart has all names.
  function placeNames(marks, bucketWidth, width) {
    const centres = marks.map((mark) => (mark.bucket + 0.5) * bucketWidth);
    let freeWidth = width;
    return marks.toReversed().map((mark) => {
      const x = (mark.bucket + 0.5) * bucketWidth;
      const places = listNames(mark).flatMap((text) => {
        const length = measureName(text);
        return [["center", x - length / 2], ["right", x], ["left", x - length]].map(([side, start]) => ({ text, side, start, end: start + length }));
      });
      const place = places.find(({ start, end }) => {
        const coversMark = centres.some((other) => other !== x && other > start - NAME_GAP && other < end + NAME_GAP);
        return start >= 0 && end <= freeWidth && !coversMark;
      });
      if (place) freeWidth = place.start - NAME_GAP;
      const text = place ? place.text : mark.note && mark.count > 1 ? String(mark.count) : "";
      return { text: escapeMarkup(text), position: `top ${place?.side ?? "center"}` };
    }).toReversed();
  }

  // One mark for each bucket with annotations: a line with a sign on top. Their texts appear under the pointer.
  function buildMarks(figure, marks, width) {
    const labels = figure.data[0]?.x ?? [];
    const visibleMarks = marks.filter((mark) => mark.bucket < labels.length);
    if (!visibleMarks.length) return { traces: [], layout: {} };
    const colours = visibleMarks.map((mark) => (mark.kind === "drift" ? "var(--bad)" : "var(--soft)"));
    const names = placeNames(visibleMarks, (width - AXIS_WIDTH) / labels.length, width - AXIS_WIDTH);
    const trace = {
      type: "scatter", mode: "markers+text", name: "", showlegend: false, cliponaxis: false, yaxis: "y2",
      x: visibleMarks.map((mark) => labels[mark.bucket]),
      y: visibleMarks.map(() => 1),
      text: names.map((name) => name.text),
      textposition: names.map((name) => name.position),
      textfont: { size: NAME_SIZE },
      marker: { size: 9, color: colours, symbol: visibleMarks.map((mark) => (mark.kind === "annotation" ? "triangle-down" : "diamond")) },
      customdata: visibleMarks.map((mark) => mark.texts.map(escapeMarkup).join("<br>")),
      hovertemplate: "%{customdata}<extra></extra>",
    };
    const shapes = visibleMarks.map((mark, index) => ({
      type: "line", xref: "x", yref: "paper", x0: labels[mark.bucket], x1: labels[mark.bucket], y0: 0, y1: 1, layer: "below",
      line: { width: 1, dash: mark.kind === "annotation" ? "dot" : "solid", color: colours[index] },
    }));
    const yaxis2 = { overlaying: "y", range: [0, 1], visible: false, fixedrange: true };
    return { traces: [trace], layout: { shapes: [...(figure.layout.shapes ?? []), ...shapes], yaxis2, margin: { t: 24 * TEXT_SCALE } } };
  }

  const escapeMarkup = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  // The name of a line in the address, which lists the lines that were switched off.
  const lineName = (box, trace) => `${box.id}:${trace.name}`;
  const isHidden = (box, trace) => window.viewState.has("hide", lineName(box, trace));

  // A list of buttons: it wraps like text, and the keyboard reaches it. Each switches its line off and on.
  function drawLegend(box, { data, layout }) {
    box.parentElement.querySelector(".legend")?.remove();
    if (layout.showlegend === false || data.length < 2) return;
    const list = document.createElement("ul");
    list.className = "legend";
    list.append(...data.map((trace, index) => {
      const button = document.createElement("button");
      const line = document.createElement("i");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!isHidden(box, trace)));
      line.className = trace.line?.dash ? "dotted" : trace.type === "bar" ? "bars" : "";
      line.style.borderTopColor = trace.line?.color ?? trace.marker?.color ?? `var(--series-${index % 8 + 1})`;
      const name = new DOMParser().parseFromString(trace.name, "text/html").body.textContent; // escaped for plotly.js
      button.append(line, name);
      button.addEventListener("click", () => {
        const isVisible = isHidden(box, trace);
        window.viewState.set("hide", lineName(box, trace), !isVisible);
        button.setAttribute("aria-pressed", String(isVisible));
        window.Plotly.restyle(box, { visible: isVisible }, [index]);
      });
      const item = document.createElement("li");
      item.append(button);
      return item;
    }));
    box.before(list);
  }

  async function draw(box) {
    const source = document.getElementById(box.dataset.figure);
    const address = box.closest("[data-plotly]").dataset.plotly;
    const Plotly = await loadPlotly(address);
    if (!box.isConnected) return;
    const figure = JSON.parse(source.textContent);
    const data = figure.data.map((trace) => ({ ...trace, visible: !isHidden(box, trace) }));
    const width = isPrinting ? PAPER_WIDTH : box.clientWidth;
    const marks = buildMarks(figure, JSON.parse(document.getElementById(box.dataset.marks)?.textContent ?? "[]"), width);
    const axes = { xaxis: chooseTicks(figure, width), yaxis: chooseCountTicks(figure) };
    const layout = { ...merge(merge(figure.layout, axes), marks.layout), ...(isPrinting ? { width } : { autosize: true }) };
    await Plotly.react(box, adapt([...data, ...marks.traces]), buildLayout(layout), CONFIG);
    if (charts.has(box)) return;
    drawLegend(box, figure);
    let drawnWidth = box.clientWidth;
    const observer = new ResizeObserver(() => {
      if (!box.isConnected || box.clientWidth === drawnWidth) return;
      drawnWidth = box.clientWidth;
      draw(box); // with as many labels and names as fit now
    });
    observer.observe(box);
    charts.set(box, observer);
  }

  function removeCharts(root) {
    for (const [box, observer] of charts) {
      if (root !== box && !root.contains(box)) continue;
      observer.disconnect();
      window.Plotly.purge(box);
      box.parentElement.querySelector(".legend")?.remove();
      charts.delete(box);
    }
  }

  function drawAll(root) {
    for (const box of root.querySelectorAll("[data-figure]")) {
      draw(box).catch(() => { box.hidden = true; }); // the table beside it has the numbers
    }
  }

  // On paper a chart is as wide as the paper, and has the colours of the light theme.
  function setPrinting(value) {
    isPrinting = value;
    document.documentElement.style.colorScheme = value ? "light" : "";
    drawAll(document);
  }

  addEventListener("beforeprint", () => setPrinting(true));
  addEventListener("afterprint", () => setPrinting(false));

  const whenIdle = window.requestIdleCallback ?? ((act) => setTimeout(act, 50));
  addEventListener("load", () => whenIdle(() => drawAll(document)));
  document.addEventListener("colours", () => [...charts.keys()].forEach((box) => draw(box)));
  document.addEventListener("htmx:beforeCleanupElement", (event) => removeCharts(event.target));
  document.addEventListener("htmx:afterSettle", (event) => drawAll(event.target));
  document.addEventListener("replaced", (event) => drawAll(event.target));
  document.addEventListener("replacing", (event) => removeCharts(event.target));
})();
