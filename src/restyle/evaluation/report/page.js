"use strict";
// The sentence browser. Text only ever enters the page as textContent, so no sentence can become markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const PER_PAGE = 50;
  // Above this the word table of a pair (words x words) would stop the page; such texts are shown unmarked.
  const MOST_CELLS = 400000;
  const coded = (column, i) => (column ? column.names[column.rows[i]] : "");

  // One row per output: which system, which line.
  const total = data.systems.reduce((sum, system) => sum + system.output.length, 0);
  const systemOf = new Uint16Array(total), lineOf = new Uint32Array(total);
  let filled = 0;
  data.systems.forEach((system, s) => {
    for (let i = 0; i < system.output.length; i++, filled++) { systemOf[filled] = s; lineOf[filled] = i; }
  });
  const systemAt = (row) => data.systems[systemOf[row]];
  const sharedAt = (row) => data.shared[systemAt(row).shared];
  const number = (name) => (row) => { const column = systemAt(row).columns[name]; const value = column ? column[lineOf[row]] : null; return value === null ? NaN : value; };
  const texts = {
    input: (row) => (sharedAt(row).input || [])[lineOf[row]] || "",
    output: (row) => systemAt(row).output[lineOf[row]],
    reference: (row) => ((sharedAt(row).references || [])[lineOf[row]] || []).join(" / "),
    target: (row) => coded(sharedAt(row).target, lineOf[row]),
    style: (row) => coded(sharedAt(row).style, lineOf[row]),
    "judged as": (row) => coded(systemAt(row).predicted, lineOf[row]),
    system: (row) => systemAt(row).name,
  };
  const present = Object.keys(texts).filter((name) => {
    for (let row = 0; row < total; row++) if (texts[name](row)) return true;
    return false;
  });

  const state = { page: 0 };
  let rows = [];

  function chosen() {
    const words = byId("search").value.toLowerCase(), tests = [];
    if (words) tests.push((row) => (texts.input(row) + "\n" + texts.output(row) + "\n" + texts.reference(row)).toLowerCase().includes(words));
    for (const [id, name] of [["system", "system"], ["target", "target"], ["predicted", "judged as"]]) {
      const wanted = byId(id).value;
      if (wanted) tests.push((row) => texts[name](row) === wanted);
    }
    for (const field of byId("ranges").querySelectorAll("input")) {
      if (field.value === "" || Number.isNaN(Number(field.value))) continue;
      const value = number(field.dataset.column), bound = Number(field.value);
      tests.push(field.dataset.end === "low" ? (row) => value(row) >= bound : (row) => value(row) <= bound);
    }
    const kept = [];
    for (let row = 0; row < total; row++) if (tests.every((test) => test(row))) kept.push(row);
    return kept;
  }

  function sorted(kept) {
    const name = byId("sort").value, order = Number(byId("order").value);
    if (!name) return order < 0 ? kept.reverse() : kept;
    if (data.columns.includes(name)) {
      const value = number(name), keys = new Float64Array(total);
      for (const row of kept) keys[row] = value(row);
      // Rows without a value come last in either order.
      return kept.sort((a, b) => (Number.isNaN(keys[a]) - Number.isNaN(keys[b])) || order * (keys[a] - keys[b]) || a - b);
    }
    const length = name === "length of the output", key = length ? (row) => texts.output(row).length : texts[name];
    return kept.sort((a, b) => order * (length ? key(a) - key(b) : key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) || a - b);
  }

  // The words of a and b that are in a longest common subsequence, case and punctuation aside.
  function shared(a, b) {
    const plain = (word) => word.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "") || word;
    const x = a.map(plain), y = b.map(plain), wide = y.length + 1;
    const lengths = new Uint32Array((x.length + 1) * wide);
    for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--)
      lengths[i * wide + j] = x[i] === y[j] ? lengths[(i + 1) * wide + j + 1] + 1 : Math.max(lengths[(i + 1) * wide + j], lengths[i * wide + j + 1]);
    const inA = new Set(), inB = new Set();
    for (let i = 0, j = 0; i < x.length && j < y.length;) {
      if (x[i] === y[j]) { inA.add(i++); inB.add(j++); }
      else if (lengths[(i + 1) * wide + j] >= lengths[i * wide + j + 1]) i++; else j++;
    }
    return [inA, inB];
  }

  function line(what, text, marked, kept) {
    const div = document.createElement("div");
    div.className = what === "output" ? "said" : "said other";
    div.dataset.is = what;
    if (!kept) { div.append(text); return div; }
    text.forEach((word, i) => {
      if (i) div.append(" ");
      if (kept.has(i)) { div.append(word); return; }
      const mark = document.createElement("mark");
      mark.className = marked;
      mark.textContent = word;
      div.append(mark);
    });
    return div;
  }

  function texted(row) {
    const cell = document.createElement("td");
    cell.className = "text";
    const against = byId("against").value;
    const other = against === "reference" ? (((sharedAt(row).references || [])[lineOf[row]] || [])[0] || "") : against ? texts.input(row) : "";
    const a = other.split(/\s+/).filter(Boolean), b = texts.output(row).split(/\s+/).filter(Boolean);
    const marks = other && a.length * b.length <= MOST_CELLS ? shared(a, b) : null;
    const references = (sharedAt(row).references || [])[lineOf[row]] || [];
    if (sharedAt(row).input) cell.append(marks && against === "input" ? line("input", a, "removed", marks[0]) : line("input", texts.input(row)));
    cell.append(marks ? line("output", b, "added", marks[1]) : line("output", texts.output(row)));
    references.forEach((text, i) => cell.append(marks && against === "reference" && i === 0 ? line("reference", a, "removed", marks[0]) : line("reference", text)));
    return cell;
  }

  const labels = ["system", "target", "judged as"].filter((name) => present.includes(name) && (name !== "system" || data.systems.length > 1));

  function draw() {
    const pages = Math.max(1, Math.ceil(rows.length / PER_PAGE));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const body = document.createElement("tbody");
    for (const row of rows.slice(state.page * PER_PAGE, (state.page + 1) * PER_PAGE)) {
      const tr = document.createElement("tr");
      const cell = (text, name) => { const td = document.createElement("td"); td.textContent = text; td.dataset.name = name; tr.append(td); return td; };
      cell(String(lineOf[row] + 1), "line").className = "n";
      labels.forEach((name) => cell(texts[name](row), name));
      tr.append(texted(row));
      data.columns.forEach((name) => {
        const value = number(name)(row), td = cell(Number.isNaN(value) ? "–" : String(Math.round(value * 1000) / 1000), name);
        td.className = "n";
        td.dataset.value = "";
      });
      body.append(tr);
    }
    byId("browser").tBodies[0].replaceWith(body);
    byId("found").textContent = `${rows.length.toLocaleString("en")} of ${total.toLocaleString("en")} outputs`;
    byId("page").textContent = `page ${state.page + 1} of ${pages}`;
    byId("back").disabled = state.page === 0;
    byId("next").disabled = state.page === pages - 1;
    for (const th of byId("browser").tHead.rows[0].cells) {
      if (th.dataset.column === byId("sort").value) th.setAttribute("aria-sort", byId("order").value === "1" ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    }
  }

  function update(page = 0) {
    rows = sorted(chosen());
    state.page = page;
    draw();
    remember();
  }

  // The view stands in the address, so that it can be sent and comes back on reload.
  function fields() { return [...byId("controls").querySelectorAll("input, select")]; }
  function remember() {
    const kept = new URLSearchParams();
    for (const field of fields()) if (field.value !== field.dataset.default) kept.set(field.id, field.value);
    if (state.page) kept.set("page", String(state.page + 1));
    try { history.replaceState(null, "", "#" + kept); } catch (_) { /* not allowed for some local files */ }
  }
  function recall() {
    const kept = new URLSearchParams(location.hash.slice(1));
    for (const field of fields()) if (kept.has(field.id)) field.value = kept.get(field.id);
    update(Number(kept.get("page") || 1) - 1);
  }

  function options(select, names, first) {
    for (const [value, text] of [["", first], ...names.map((name) => [name, name])]) {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = text;
      select.append(option);
    }
  }
  function distinct(name) {
    const found = new Set();
    for (let row = 0; row < total; row++) found.add(texts[name](row));
    found.delete("");
    return [...found].sort();
  }

  function build() {
    for (const [id, name] of [["system", "system"], ["target", "target"], ["predicted", "judged as"]]) {
      const names = distinct(name);
      options(byId(id), names, "all");
      byId(id).parentElement.hidden = names.length < 2;
    }
    options(byId("sort"), [...present, "length of the output", ...data.columns], "line");
    byId("against").querySelector("[value=reference]").disabled = !present.includes("reference");
    for (const name of data.columns) {
      const label = document.createElement("label");
      label.className = "range";
      label.append(name);
      for (const end of ["low", "high"]) {
        const field = document.createElement("input");
        field.type = "number"; field.step = "any"; field.id = `${end} ${name}`;
        field.placeholder = end === "low" ? "from" : "to";
        field.setAttribute("aria-label", `${name} ${field.placeholder}`);
        field.dataset.column = name; field.dataset.end = end;
        label.append(field);
      }
      byId("ranges").append(label);
    }
    byId("ranges").hidden = !data.columns.length;
    const head = byId("browser").tHead.insertRow();
    for (const [name, text, narrow] of [["", "line", true], ...labels.map((each) => [each, each]), ["output", "sentence"], ...data.columns.map((each) => [each, each, true])]) {
      const th = document.createElement("th"), button = document.createElement("button");
      th.scope = "col"; th.dataset.column = name;
      if (narrow) th.className = "n";
      button.type = "button"; button.textContent = text;
      button.addEventListener("click", () => {
        byId("order").value = byId("sort").value === name ? String(-Number(byId("order").value)) : "1";
        byId("sort").value = name;
        update();
      });
      th.append(button);
      head.append(th);
    }
    for (const field of fields()) field.dataset.default = field.value;
  }

  // The leaderboard sorts by the heading that is clicked.
  for (const table of document.querySelectorAll("table.sortable")) [...table.tHead.rows[0].cells].forEach((th, place) => {
    th.tabIndex = 0;
    const sort = () => {
      const down = th.getAttribute("aria-sort") !== "descending";
      const key = (tr) => tr.cells[place].dataset.sort ?? tr.cells[place].textContent;
      const asNumber = (text) => (text === "" ? -Infinity : Number(text));
      const lines = [...table.tBodies[0].rows].sort((a, b) => {
        const x = key(a), y = key(b);
        const order = place === 0 ? x.localeCompare(y) : asNumber(y) - asNumber(x);
        return down ? order : -order;
      });
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      table.tBodies[0].append(...lines);
    };
    th.addEventListener("click", sort);
    th.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });

  build();
  let waiting;
  byId("controls").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(update, total > 20000 ? 250 : 60); });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("controls").addEventListener("reset", () => setTimeout(update));
  byId("back").addEventListener("click", () => { state.page--; draw(); remember(); });
  byId("next").addEventListener("click", () => { state.page++; draw(); remember(); });
  window.addEventListener("hashchange", recall);
  recall();
})();
