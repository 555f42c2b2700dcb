"""Prints the types of the parts of requests, as the official Python packages define them: a line for each, with the
front end, the member that names the type, and the type."""

import typing

import anthropic.types.beta as messages
import mcp_types as mcp
import openai.types.chat as chat
import openai.types.responses as responses


def variants(union):
    """Yields the classes of a union, of unions within it, and of lists."""
    origin = typing.get_origin(union)
    if origin is typing.Annotated:
        yield from variants(typing.get_args(union)[0])
    elif origin is not None or type(union).__name__ == "UnionType":
        for variant in typing.get_args(union):
            yield from variants(variant)
    elif isinstance(union, type) and union is not str:
        yield union


def literals(hint):
    """Yields the words of a literal, which may be required, or one of several."""
    if typing.get_origin(hint) is typing.Literal:
        yield from typing.get_args(hint)
    else:
        for inner in typing.get_args(hint):
            yield from literals(inner)


def hint_of(cls, member):
    """Returns the type of a member."""
    return typing.get_type_hints(cls, include_extras=True).get(member)


def names(union, member):
    for variant in variants(union):
        # The hints of a model of pydantic are in its fields.
        fields = getattr(variant, "model_fields", None)
        hint = fields[member].annotation if fields else hint_of(variant, member)
        yield from literals(hint)


UNIONS = [
    ("messages", "type", messages.BetaContentBlockParam),
    ("messages", "type", hint_of(messages.BetaToolResultBlockParam, "content")),
    ("messages", "type", hint_of(messages.BetaRequestDocumentBlockParam, "source")),
    ("messages", "type", hint_of(messages.BetaImageBlockParam, "source")),
    ("chat", "role", chat.ChatCompletionMessageParam),
    ("chat", "type", chat.ChatCompletionContentPartParam),
    ("chat", "type", chat.ChatCompletionContentPartRefusalParam),
    ("chat", "type", chat.ChatCompletionMessageToolCallUnionParam),
    ("responses", "type", responses.ResponseInputItemParam),
    ("responses", "type", responses.ResponseInputContentParam),
    ("responses", "type", responses.ResponseFunctionCallOutputItemParam),
    ("responses", "type", responses.ResponseOutputTextParam),
    ("responses", "type", responses.ResponseOutputRefusalParam),
    # The contents of the results of MCP tools, which AI SDK pages send as they are.
    ("ui", "type", mcp.ContentBlock),
]

for front_end, member, union in UNIONS:
    for name in sorted(set(names(union, member))):
        print(front_end, member, name)
