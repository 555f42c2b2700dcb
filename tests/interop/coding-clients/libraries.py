"""Streams one answer with a library at its defaults, and prints the text or the error."""

import sys

name, base, model, key, prompt = sys.argv[1:]
messages = [{"role": "user", "content": prompt}]


def stream():
    if name == "openai":
        from openai import OpenAI

        return OpenAI(base_url=base, api_key=key).chat.completions.create(model=model, messages=messages, stream=True)
    if name == "openai responses":
        from openai import OpenAI

        return OpenAI(base_url=base, api_key=key).responses.create(model=model, input=prompt, stream=True)
    if name == "anthropic":
        from anthropic import Anthropic

        return Anthropic(base_url=base, api_key=key).messages.create(model=model, messages=messages, max_tokens=99, stream=True)
    if name == "langchain-openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(base_url=base, api_key=key, model=model).stream(prompt)
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(base_url=base, api_key=key, model=model).stream(prompt)


try:
    for event in stream():
        print(event)
except Exception as error:
    print(type(error).__name__, error)
