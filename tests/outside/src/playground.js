// Plays the Pager.

class PagerFront extends Front {
  static label = "Pager";

  intro() {
    return { title: "As the Pager", text: "An answer in blocks.", prompts: ["Hello"] };
  }

  async ask(text) {
    this.messages.push({ by: "user", text });
    try {
      for await (const event of this.post({ lines: structuredClone(this.messages) })) {
        await this.take(event, (value) => {
          if (event.name === "delta") this.answer.text(asText(value.text));
          if (event.name === "note") this.answer.step({ message: asText(value.text) });
          if (event.name === "failed") this.answer.notice(asText(value.message), "error");
        });
      }
    } finally {
      this.messages.push({ by: "agent", text: this.answer.said });
    }
  }
}

addFront("pager", PagerFront, {
  delta: { kind: "text", gist: (value) => asText(value?.text) },
  note: { kind: "status", gist: (value) => asText(value?.text) },
});
