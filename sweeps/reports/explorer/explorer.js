"use strict";
// Sorts the tables of a report, and draws its numbers seed by seed. No library, no storage, no network: the page must
// work in a sandbox that allows scripts and nothing else.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MISSING = "-";

  // An element with attributes and children; text is never read as markup.
  const make = (tag, attributes = {}, ...children) => {
    const element = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // ---- tables: a click, or Enter, on a heading sorts by its column

  // The first number of a cell counts; a cell without one is text, and what is missing comes last.
  const keyOf = (cell) => {
    const text = cell.textContent.trim();
    const number = /^[<>(\[]?\s*([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)/i.exec(text);
    return { text, number: number ? Number(number[1]) : NaN, missing: text === "" || text === MISSING };
  };

  const compare = (one, other) => {
    if (Number.isNaN(one.number) || Number.isNaN(other.number)) return one.text.localeCompare(other.text);
    return one.number - other.number;
  };

  const sortBy = (table, column, heading) => {
    const ascending = heading.getAttribute("aria-sort") !== "ascending";
    for (const each of table.tHead.rows[0].cells) each.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: keyOf(row.cells[column]) }));
    rows.sort((a, b) => a.key.missing - b.key.missing || (ascending ? 1 : -1) * compare(a.key, b.key));
    table.tBodies[0].append(...rows.map((each) => each.row));
  };

  const makeSortable = (table) => {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      heading.setAttribute("aria-sort", "none");
      heading.setAttribute("tabindex", "0");
      heading.addEventListener("click", () => sortBy(table, column, heading));
      heading.addEventListener("keydown", (event) => {
        if (event.key === "Enter") sortBy(table, column, heading);
      });
    });
  };

  document.querySelectorAll("table").forEach(makeSortable);

  // ---- the numbers, seed by seed

  const source = document.getElementById("data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const choose = (id) => document.getElementById(id);
  const digits = (value) => (Math.abs(value) >= 1000 ? value.toPrecision(6) : value.toFixed(2));
  const show = (value, signed) =>
    value === null ? MISSING : (signed && value >= 0 ? "+" : "") + digits(value === 0 ? 0 : value);

  const option = (select, value, label) => select.append(make("option", { value }, label));
  data.metrics.forEach((metric, place) => option(choose("metric"), place, metric.label));
  choose("metric").value = data.primary;
  option(choose("baseline"), "", "nothing");
  [...new Set(data.rows.map((row) => row.arm))].forEach((arm) => option(choose("baseline"), arm, arm));
  option(choose("point"), "", "all");
  data.points.forEach((point, place) => option(choose("point"), place, point));
  choose("point").parentElement.hidden = data.points.length < 2;

  // Student's t interval of the mean of values; none where fewer than three, or where all are equal.
  const meanInterval = (values) => {
    const n = values.length;
    if (n === 0) return [null, null, null];
    const mean = values.reduce((sum, value) => sum + value, 0) / n;
    const std = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1));
    if (n < 3 || !(std > 100 * data.equal)) return [mean, null, null];
    const half = (data.t[n] * std) / Math.sqrt(n);
    return [mean, mean - half, mean + half];
  };

  // What is drawn of a row: by seed its value, or its difference to the baseline with the same seed and at its point.
  const drawnOf = (row, metric, baseline) => {
    const other = baseline && data.rows.find((each) => each.arm === baseline && each.point === row.point);
    const own = row.values[metric];
    if (!own || (baseline && !(other && other.values[metric]))) return null;
    const seeds = [];
    row.seeds.forEach((seed, index) => {
      const value = own[index];
      const at = other ? other.seeds.indexOf(seed) : -1;
      const minus = other ? (at < 0 ? null : other.values[metric][at]) : 0;
      if (value !== null && minus !== null) seeds.push({ seed, value: value - minus });
    });
    const [mean, low, high] = other ? meanInterval(seeds.map((each) => each.value)) : row.means[metric];
    const label = data.points.length > 1 && choose("point").value === "" ? `${row.arm}, ${data.points[row.point]}` : row.arm;
    return { row, label, seeds, mean, low, high };
  };

  const interval = (each, signed) =>
    each.low === null ? MISSING : `[${show(each.low, signed)}, ${show(each.high, signed)}]`;

  const sentence = (each, signed) =>
    `${each.label}: ${show(each.mean, signed)} ${interval(each, signed)}, ${each.seeds.length} of ` +
    `${each.row.seeds.length} seeds` +
    (each.row.failed.length ? `; failed: ${each.row.failed.join(", ")}` : "") +
    (each.row.params ? `; ${each.row.params}` : "");

  const say = (text) => choose("said").replaceChildren(text);

  // Something that tells its text when the pointer is over it, or when it has the focus.
  const telling = (element, text) => {
    element.append(make("svg:title", {}, text));
    element.addEventListener("pointerenter", () => say(text));
    element.addEventListener("focus", () => say(text));
    return element;
  };

  const ticks = (low, high) => {
    const step = 10 ** Math.floor(Math.log10((high - low) / 4));
    const wide = [1, 2, 5, 10].map((factor) => factor * step).find((each) => (high - low) / each <= 7);
    const found = [];
    for (let at = Math.ceil(low / wide); at * wide <= high; at += 1) found.push(at * wide);
    return { found, decimals: Math.max(0, -Math.floor(Math.log10(wide) + 1e-9)) };
  };

  const LEFT = 330;
  const WIDTH = 1100;
  const ROW = 28;

  const draw = (shown, signed, label) => {
    const all = shown.flatMap((each) => [each.mean, each.low, each.high, ...each.seeds.map((one) => one.value)]);
    const known = all.filter((value) => value !== null);
    if (signed) known.push(0);
    let [low, high] = [Math.min(...known), Math.max(...known)];
    if (!(high > low)) [low, high] = [low - 1, high + 1];
    [low, high] = [low - 0.04 * (high - low), high + 0.04 * (high - low)];
    const x = (value) => LEFT + ((value - low) / (high - low)) * (WIDTH - LEFT - 20);
    const bottom = ROW * shown.length + 10;
    const svg = make("svg:svg", { viewBox: `0 0 ${WIDTH} ${bottom + 44}`, role: "img", "aria-label": label });
    const { found, decimals } = ticks(low, high);
    for (const at of found) {
      svg.append(make("svg:line", { x1: x(at), x2: x(at), y1: 4, y2: bottom, stroke: at === 0 && signed ? "#888" : "#ddd" }));
      svg.append(make("svg:text", { x: x(at), y: bottom + 17, "text-anchor": "middle" }, at.toFixed(decimals)));
    }
    svg.append(make("svg:text", { x: (LEFT + WIDTH) / 2, y: bottom + 37, "text-anchor": "middle" }, label));
    shown.forEach((each, place) => {
      const y = ROW * place + ROW / 2 + 4;
      const name = each.label.length > 46 ? `${each.label.slice(0, 45)}…` : each.label;
      svg.append(make("svg:text", { x: LEFT - 12, y: y + 4, "text-anchor": "end" }, name));
      for (const one of each.seeds) {
        const dot = make("svg:circle", { cx: x(one.value), cy: y + 6, r: 4, fill: each.row.colour, "fill-opacity": 0.35 });
        svg.append(telling(dot, `${each.label}, seed ${one.seed}: ${show(one.value, signed)}`));
      }
      if (each.mean === null) return;
      const group = make("svg:g", { tabindex: 0, stroke: each.row.colour, "stroke-width": 2 });
      if (each.low !== null) group.append(make("svg:line", { x1: x(each.low), x2: x(each.high), y1: y - 4, y2: y - 4 }));
      group.append(make("svg:circle", { cx: x(each.mean), cy: y - 4, r: 4.5, fill: each.row.colour }));
      svg.append(telling(group, sentence(each, signed)));
    });
    return svg;
  };

  const tabulate = (shown, signed) => {
    const head = make("tr");
    for (const [name, kind] of [["configuration", "text"], ["mean"], ["interval"], ["seeds"], ["lowest"], ["highest"]]) {
      head.append(make("th", { scope: "col", ...(kind && { class: kind }) }, name));
    }
    const body = make("tbody");
    for (const each of shown) {
      const values = each.seeds.map((one) => one.value);
      const cells = [
        show(each.mean, signed),
        interval(each, signed),
        `${values.length} of ${each.row.seeds.length}`,
        show(values.length ? Math.min(...values) : null, signed),
        show(values.length ? Math.max(...values) : null, signed),
      ];
      body.append(make("tr", {}, make("td", { class: "text" }, each.label), ...cells.map((cell) => make("td", {}, cell))));
    }
    const table = make("table", {}, make("thead", {}, head), body);
    makeSortable(table);
    return table;
  };

  const update = () => {
    const metric = Number(choose("metric").value);
    const baseline = choose("baseline").value;
    const point = choose("point").value;
    const shown = data.rows
      .filter((row) => (point === "" || row.point === Number(point)) && row.arm !== baseline)
      .map((row) => drawnOf(row, metric, baseline))
      .filter((each) => each !== null);
    const label = data.metrics[metric].label + (baseline ? `, minus that of ${baseline} with the same seed` : "");
    if (!shown.some((each) => each.mean !== null)) {
      choose("drawing").replaceChildren("No configuration has a value of this.");
      choose("numbers").replaceChildren();
      return;
    }
    choose("drawing").replaceChildren(draw(shown, baseline !== "", label));
    choose("numbers").replaceChildren(tabulate(shown, baseline !== ""));
    const percent = `${+(100 * data.confidence).toPrecision(6)} %`;
    say(
      `Dots are seeds, lines ${percent} intervals of single means` +
        (baseline ? ", not corrected for their number: to look around, not to claim." : ".")
    );
  };

  for (const id of ["metric", "baseline", "point"]) choose(id).addEventListener("change", update);
  document.getElementById("explorer").hidden = false;
  update();
})();
