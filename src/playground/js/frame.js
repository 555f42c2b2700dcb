// HTML from an agent, in a frame that cannot run scripts, load anything or navigate.

const FRAME_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:";
const FRAME_STYLE =
  "html{color-scheme:light;background:#fff;color:#1c1917;font:14px/1.5 system-ui,sans-serif}body{margin:12px}";

// The page forbids markup from text; this policy is the only exception, and is used only for the frame.
const frameMarkup = globalThis.trustedTypes?.createPolicy("frame", { createHTML: (text) => text }) ?? {
  createHTML: (text) => text,
};

/** Returns HTML without anything that makes a connection without a script, such as a preconnect. */
function withoutReach(html) {
  // A parsed document runs no script and loads nothing before it is inserted.
  const inert = new DOMParser().parseFromString(frameMarkup.createHTML(html), "text/html");
  const outward = "script, link, meta, base, iframe, frame, object, embed, form, portal, noscript, template";
  for (const node of inert.querySelectorAll(outward)) node.remove();
  for (const node of inert.querySelectorAll("*")) {
    // A copy, because the list of attributes is live: a removal would skip the next attribute.
    for (const { name, value } of [...node.attributes]) {
      const leads = /^(xlink:)?href$|^(src|srcset|action|formaction|ping|background|poster|data)$/i.test(name);
      const inside = value.startsWith("#") || (name === "src" && value.startsWith("data:image/"));
      if (/^on/i.test(name) || (leads && !inside)) node.removeAttribute(name);
    }
  }
  const head = inert.createElement("head");
  const policy = inert.createElement("meta");
  policy.httpEquiv = "content-security-policy";
  policy.content = FRAME_POLICY;
  const style = inert.createElement("style");
  style.textContent = FRAME_STYLE;
  // The policy comes first, because it applies only to elements after it.
  head.append(policy, style, ...inert.head.childNodes);
  inert.head.replaceWith(head);
  return `<!doctype html>${inert.documentElement.outerHTML}`;
}

/** Returns the frame. The reader sets its size, because its content cannot be measured. */
function htmlFrame(html, name) {
  const frame = el("iframe", {
    // An empty sandbox allows nothing: no script, no form, no navigation, and a separate origin.
    sandbox: "",
    title: name,
    referrerpolicy: "no-referrer",
    class: "artifact-frame",
  });
  frame.srcdoc = frameMarkup.createHTML(withoutReach(html));
  return frame;
}
