// One item a screen. The server knows everything; this page can be closed, reloaded and opened elsewhere at any moment.

const token = location.hash.slice(1);
const screen = document.getElementById("screen");
const trouble = document.getElementById("trouble");
const help = document.getElementById("help");

let study = null; // the instructions
let item = null; // what is judged now
let last = null; // what can be undone
let sending = false;
let current = 0; // the question that a digit answers

// Every request is sent again until it arrives: the server knows one that it has had already.
async function ask(method, path, body) {
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    let answer = null;
    try {
      answer = await fetch(path, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...(method === "POST" && { "Content-Type": "application/json" }) },
        body: method === "POST" ? JSON.stringify(body ?? {}) : undefined,
        signal: AbortSignal.timeout(15000),
      });
    } catch {
      answer = null; // no connection, or none that answers
    }
    if (answer && answer.status < 500 && answer.status !== 429) {
      tell("");
      const said = await answer.json().catch(() => null);
      if (said !== null) return { status: answer.status, said };
    }
    tell("The connection is lost. Your answer is kept here and sent again by itself.");
    const wanted = 1000 * Number(answer?.headers.get("Retry-After") ?? 0);
    await new Promise((go) => setTimeout(go, Math.max(pause, wanted)));
  }
}

function tell(message) {
  trouble.textContent = message;
  trouble.hidden = !message;
}

// An element with attributes and children; strings become text and never markup.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === "on") element.addEventListener("click", value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

function show(...children) {
  screen.replaceChildren(...children.filter((child) => child != null));
  window.scrollTo(0, 0);
}

const clock = {
  spent: 0,
  since: null,
  start() { this.spent = 0; this.since = document.hidden ? null : performance.now(); },
  pause() { if (this.since !== null) { this.spent += performance.now() - this.since; this.since = null; } },
  go() { if (this.since === null) this.since = performance.now(); },
  seconds() { return (this.spent + (this.since === null ? 0 : performance.now() - this.since)) / 1000; },
};
document.addEventListener("visibilitychange", () => (document.hidden ? clock.pause() : clock.go()));

function texts(shown) {
  const names = shown.outputs.length === 2 ? ["A", "B"] : ["Rewritten"];
  const block = (name, text) => [make("p", { class: "name" }, name), make("p", { class: "text", dir: "auto" }, text)];
  return [
    ...(shown.target ? [make("p", { class: "target" }, "Target style: ", make("strong", {}, shown.target))] : []),
    ...(shown.input ? block("Original", shown.input) : []),
    ...shown.outputs.flatMap((text, place) => block(shown.input || names.length === 2 ? names[place] : "Text", text)),
  ];
}

function labelOf(question, value) {
  return question.choices.find((choice) => choice.value === value)?.label ?? value;
}

function instructions() {
  help.hidden = true;
  const examples = study.examples.map((example, place) =>
    make("section", { class: "example" },
      make("h2", {}, `Example ${place + 1}`),
      ...texts(example),
      ...study.questions.filter((question) => question.name in example.answers).map((question) =>
        make("p", {}, `${question.asks} `, make("strong", {}, labelOf(question, example.answers[question.name])))),
      make("p", {}, example.why)));
  show(
    make("h1", {}, study.title),
    ...study.instructions.map((paragraph) => make("p", {}, paragraph)),
    ...examples,
    make("p", {}, "On a keyboard: the digits answer, Enter goes on, U takes the last answer back, ? shows this page. ",
      "You can stop at any time: the same link leads back to where you were."),
    make("div", { class: "buttons" }, make("button", { class: "main", id: "go", on: judge }, item ? "Begin " : "Go on ", make("kbd", {}, "Enter"))),
  );
  screen.focus();
}

function judge() {
  help.hidden = false;
  if (!item) return thanks();
  current = 0;
  const form = make("form", { id: "form", autocomplete: "off" });
  study.questions.forEach((question, place) => {
    const choices = question.choices.map((choice, number) => {
      const input = make("input", { type: "radio", name: question.name, value: choice.value, checked: item.answers?.[question.name] === choice.value });
      return make("label", { class: "choice" }, input,
        make("span", {}, choice.label, choice.means ? make("small", {}, choice.means) : null), make("kbd", {}, String(number + 1)));
    });
    const short = !question.choices.some((choice) => choice.means);
    form.append(make("fieldset", { "data-place": place, class: short && "row" },
      make("legend", {}, question.asks), make("div", { class: "choices" }, ...choices)));
  });
  form.append(make("div", { class: "buttons" },
    make("button", { class: "main", id: "send" }, "Next ", make("kbd", {}, "Enter")), undoButton()));
  form.addEventListener("change", (event) => { current = Number(event.target.closest("fieldset").dataset.place); moveOn(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
  show(make("h1", { class: "small" }, study.title), ...texts(item), form);
  moveOn();
  screen.focus();
  clock.start();
}

const undoButton = () =>
  last && make("button", { type: "button", id: "undo", on: undo }, "Undo the last answer ", make("kbd", {}, "U"));
const fieldsets = () => [...document.querySelectorAll("fieldset")];
const answered = (fieldset) => fieldset.querySelector(":checked") !== null;

// The next question without an answer becomes the one that a digit answers; the button waits for all of them.
function moveOn() {
  const all = fieldsets();
  const open = all.findIndex((fieldset) => !answered(fieldset));
  if (answered(all[current])) current = open === -1 ? all.length - 1 : open;
  all.forEach((fieldset, place) => fieldset.classList.toggle("current", all.length > 1 && place === current && open !== -1));
  document.getElementById("send").disabled = open !== -1 || sending;
  if (open !== -1 && all.length > 1) all[current].scrollIntoView({ block: "nearest" });
}

async function send() {
  if (sending || !item || fieldsets().some((fieldset) => !answered(fieldset))) return;
  sending = true;
  moveOn();
  const answers = Object.fromEntries(new FormData(document.getElementById("form")));
  const body = { seat: item.seat, turn: item.turn, answers, seconds: clock.seconds(), version: study.version };
  await change("/api/answers", body);
}

async function undo() {
  if (sending || !last) return;
  sending = true;
  await change("/api/undo", last);
}

async function change(path, body) {
  let { status, said } = await ask("POST", path, body);
  let remark = "";
  if (status === 409) {
    remark = said.detail;
    ({ status, said } = await ask("POST", "/api/next"));
  }
  sending = false;
  if (status !== 200) return stopped(said.detail);
  take(said.screen ?? said);
  judge();
  if (remark) tell(remark);
}

function take(said) {
  item = said.item;
  last = said.progress.last;
  const { done, left } = said.progress;
  document.getElementById("progress").textContent = `${done} of ${done + left}`;
  const bar = document.getElementById("bar");
  bar.hidden = false;
  bar.value = done + left ? done / (done + left) : 1;
}

function thanks() {
  help.hidden = true;
  show(
    make("h1", {}, "Thank you!"),
    make("p", {}, "You have judged everything that there is for you. You can close this page; should there be more, the same link leads to it."),
    make("div", { class: "buttons" }, undoButton()),
  );
  screen.focus();
}

function stopped(message) {
  help.hidden = true;
  show(make("h1", {}, "This page cannot go on"), make("p", {}, message));
}

help.addEventListener("click", instructions);
window.addEventListener("hashchange", () => location.reload());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const go = document.getElementById("go");
  const form = document.getElementById("form");
  const key = event.key.toLowerCase();
  if (key === "enter") {
    if (event.target.closest("button")) return; // the button's own key
    event.preventDefault();
    if (event.repeat) return; // a key held down is no answer
    if (go) judge(); else if (form) send();
  } else if (key === "u") {
    if (!event.repeat && !go) undo();
  } else if (key === "?") {
    if (study && !go && !sending) instructions();
  } else if (form && /^[1-9]$/.test(key)) {
    const choice = fieldsets()[current].querySelectorAll("input")[Number(key) - 1];
    if (choice && !sending) {
      choice.checked = true;
      choice.focus({ preventScroll: true }); // so that a screen reader says what was chosen
      moveOn();
    }
  }
});

async function begin() {
  if (!token) return stopped("Open this page by your personal link: it ends with # and a long word.");
  const read = await ask("GET", "/api/study");
  if (read.status !== 200) return stopped(read.said.detail);
  study = read.said;
  document.title = study.title;
  const first = await ask("POST", "/api/next");
  if (first.status !== 200) return stopped(first.said.detail);
  take(first.said);
  // Who comes back goes on at once; the instructions are a key away.
  if (first.said.progress.done) judge(); else instructions();
}

begin();
