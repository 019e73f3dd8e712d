// Progress of a study, for whoever runs it. Asked again every few seconds.

const token = location.hash.slice(1);
const COUNT = 25;
let start = 0;
let total = 0;

async function ask(path, body) {
  const answer = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers: { Authorization: `Bearer ${token}`, ...(body !== undefined && { "Content-Type": "application/json" }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.detail);
  return said;
}

function tell(message) {
  const trouble = document.getElementById("trouble");
  trouble.textContent = message;
  trouble.hidden = !message;
}

const share = (value) => (value === null ? "–" : `${(100 * value).toFixed(0)}%`);
const number = (value, digits) => (value === null ? "–" : value.toFixed(digits));

// Cells are strings or elements; a string becomes text and never markup.
function fill(table, header, rows) {
  const line = (tag, cells) => {
    const row = document.createElement("tr");
    for (const cell of cells) {
      const made = document.createElement(tag);
      made.append(cell);
      row.append(made);
    }
    return row;
  };
  const head = document.createElement("thead");
  head.append(line("th", header));
  const body = document.createElement("tbody");
  body.append(...rows.map((cells) => line("td", cells)));
  document.getElementById(table).replaceChildren(head, body);
}

function button(label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", () => act().then(refresh).catch((error) => tell(error.message)));
  return made;
}

function showOverview(study) {
  document.title = document.getElementById("name").textContent = study.name;
  document.getElementById("summary").textContent =
    `${study.judgements} of ${study.wanted} judgements; ${study.items} items, ${study.given} of them labelled without asking; ` +
    `${study.controls} controls; protocol ${study.protocol}, instructions ${study.version}`;
  document.getElementById("bar").value = study.wanted ? study.judgements / study.wanted : 0;
  fill("agreement", ["question", "items", "Fleiss' kappa", "Krippendorff's alpha"],
    study.agreement.map((each) => [each.question, String(each.items), number(each.fleiss, 3), number(each.alpha, 3)]));
  fill("raters", ["rater", "votes", "median seconds", "with others", "controls right", "same answer", "remarks", ""],
    study.raters.map((each) => [
      each.active ? each.name : `${each.name} (stopped)`, String(each.votes), number(each.seconds, 1), share(each.with_others),
      share(each.controls), share(each.same_answer), each.remarks.join(", "),
      each.active ? button("Stop", () => ask(`/api/admin/raters/${each.id}/stop`, {})) : "",
    ]));
}

function showItems(page) {
  total = page.total;
  document.getElementById("place").textContent = total ? `${start + 1} to ${Math.min(start + COUNT, total)} of ${total}` : "none";
  fill("items", ["item", "systems", "original", "outputs", "votes", "label", ""],
    page.items.map((each) => [
      each.id, each.systems.join(" / "), each.input ?? "", each.outputs.join(" / "),
      each.votes.map((vote) => `${vote.rater}: ${Object.values(vote.answers).join(" ")}`).join("; "),
      Object.values(each.labels).map((label) => (typeof label === "number" ? label.toFixed(1) : label ?? "–")).join(" "),
      each.votes.length ? button("Re-open", () => ask(`/api/admin/items/${each.id}/reopen`, {})) : "",
    ]));
}

async function refresh() {
  try {
    showOverview(await ask("/api/admin/overview"));
    showItems(await ask(`/api/admin/items?start=${start}&count=${COUNT}`));
    tell("");
  } catch (error) {
    tell(error.message);
  }
}

document.getElementById("earlier").addEventListener("click", () => { start = Math.max(0, start - COUNT); refresh(); });
document.getElementById("later").addEventListener("click", () => { if (start + COUNT < total) start += COUNT; refresh(); });
document.getElementById("new").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const name = new FormData(form).get("name");
  try {
    const made = await ask("/api/admin/raters", { name });
    const link = document.getElementById("link");
    const code = document.createElement("code");
    code.textContent = `${location.origin}/#${made.token}`;
    link.replaceChildren(`The link of ${name}, shown this once: `, code);
    link.hidden = false;
    form.reset();
    refresh();
  } catch (error) {
    tell(error.message);
  }
});

if (token) {
  refresh();
  // Not while somebody is at a button of a table: it would be gone under their finger.
  setInterval(() => document.hidden || document.activeElement?.closest("table") || refresh(), 10000);
} else {
  tell("Open this page by the admin's link: it ends with # and a long word.");
}
