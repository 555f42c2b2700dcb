// Plays a program with Ollama's client.

class OllamaFront extends Front {
  static label = "Ollama";

  intro() {
    return { title: "As Ollama's client", text: "An answer in lines of JSON.", prompts: ["Hello"] };
  }

  async ask(text) {
    this.messages.push({ role: "user", content: text });
    let ended = false;
    try {
      for await (const event of this.post({ model: "agent", messages: structuredClone(this.messages), stream: true })) {
        await this.take(event, (value) => {
          ended ||= value.done === true || value.error !== undefined;
          if (value.error !== undefined) this.answer.notice(asText(value.error), "error");
          if (value.message?.thinking) this.answer.step({ message: asText(value.message.thinking) });
          if (value.message?.content) this.answer.text(asText(value.message.content));
        });
      }
      if (!ended) this.answer.notice("The stream ended without done.", "error");
    } finally {
      this.messages.push({ role: "assistant", content: this.answer.said });
    }
  }
}

addFront("ollama", OllamaFront);
