// A call that the agent requests from its front end.

/** The maximum number of calls, or rounds of calls, in one turn. */
const MOST_CALLS = 12;

/** Shows a call and resolves with its result: the prepared result, or the result that the reader enters. */
function callCard(answer, { name, args, result, why }, signal) {
  const head = el("header", {}, icon("call"), el("h3", {}, name), el("span", { class: "tag" }, why ? "waits for you" : "answered"));
  const asked = opens(summaryOf("Arguments", args), () => [jsonView(args)]);
  const card = el("section", { class: "card call" }, head, asked);
  answer.put(card);
  const settle = (value) => {
    card.querySelector(".tag").textContent = "answered";
    card.append(opens(summaryOf("Result", value), () => [jsonView(value)]));
    return value;
  };
  // Without a reason to wait the prepared result is final, and the turn continues by itself.
  if (!why) return Promise.resolve(settle(result));

  return new Promise((resolve, reject) => {
    const input = jsonInput(result, `Result of ${name}`);
    const send = el("button", { type: "button", class: "primary" }, "Send result");
    const form = el("div", { class: "review" }, el("p", { class: "fine" }, why), input.node, el("div", { class: "row" }, send));
    card.append(form);
    input.area.focus();
    send.addEventListener("click", () => {
      if (!input.valid()) return;
      form.remove();
      resolve(settle(input.value()));
    });
    signal.addEventListener("abort", () => {
      form.remove();
      card.querySelector(".tag").textContent = "not answered";
      // The turn waits for this promise: unless it is rejected, Stop could not end the turn.
      reject(new DOMException("stopped", "AbortError"));
    });
  });
}

const summaryOf = (name, value) => el("summary", {}, el("span", {}, name), el("code", {}, oneLine(asText(value))));

/** A text area for JSON that shows syntax errors. */
function jsonInput(value, label, onvalid) {
  const area = el("textarea", { class: "code-input", spellcheck: "false", "aria-label": label, rows: 8 });
  area.value = JSON.stringify(value, null, 2);
  const fault = el("p", { class: "fault", role: "status" });
  const valid = () => {
    try {
      JSON.parse(area.value);
      fault.textContent = "";
      area.removeAttribute("aria-invalid");
      return true;
    } catch (error) {
      fault.textContent = error.message;
      area.setAttribute("aria-invalid", "true");
      return false;
    }
  };
  area.addEventListener("input", () => valid() && onvalid?.(JSON.parse(area.value)));
  return { node: el("div", { class: "json-input" }, area, fault), area, valid, value: () => JSON.parse(area.value) };
}
