"""Servers that are written as the documentation of their library has it, each on a free port, which is printed once
they have started: python servers.py NAME"""

import json
import os
import socket
import sys
import tempfile
import threading

import uvicorn


def mcp():
    """The official SDK."""
    from mcp.server import MCPServer

    server = MCPServer("tides")

    @server.tool()
    def ask(question: str) -> str:
        """Answers a question."""
        return f"You asked: {question}"

    return server.streamable_http_app()


def fastmcp():
    from fastmcp import FastMCP

    server = FastMCP("tides")

    @server.tool
    def ask(question: str) -> str:
        """Answers a question."""
        return f"You asked: {question}"

    return server.http_app()


def ag_ui():
    """The protocol's own encoder, as its quickstart for servers has it."""
    from ag_ui.core import (
        RunAgentInput,
        RunFinishedEvent,
        RunStartedEvent,
        TextMessageContentEvent,
        TextMessageEndEvent,
        TextMessageStartEvent,
    )
    from ag_ui.encoder import EventEncoder
    from fastapi import FastAPI, Request
    from fastapi.responses import StreamingResponse

    app = FastAPI()

    @app.post("/ag-ui")
    async def endpoint(run: RunAgentInput, request: Request):
        encoder = EventEncoder(accept=request.headers.get("accept"))

        async def events():
            yield encoder.encode(RunStartedEvent(thread_id=run.thread_id, run_id=run.run_id))
            yield encoder.encode(TextMessageStartEvent(message_id="1", role="assistant"))
            for delta in ["Tides follow ", "the moon", "."]:
                yield encoder.encode(TextMessageContentEvent(message_id="1", delta=delta))
            yield encoder.encode(TextMessageEndEvent(message_id="1"))
            yield encoder.encode(RunFinishedEvent(thread_id=run.thread_id, run_id=run.run_id))

        return StreamingResponse(events(), media_type=encoder.get_content_type())

    return app


def ag_ui_langgraph():
    from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
    from fastapi import FastAPI
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import MemorySaver
    from langgraph.graph import END, START, MessagesState, StateGraph

    def answers():
        while True:
            yield AIMessage("Tides follow the moon.")

    model = GenericFakeChatModel(messages=answers())

    async def chat(state: MessagesState):
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("chat", chat)
    graph.add_edge(START, "chat")
    graph.add_edge("chat", END)
    app = FastAPI()
    agent = LangGraphAgent(name="tides", graph=graph.compile(checkpointer=MemorySaver()))
    add_langgraph_fastapi_endpoint(app, agent, "/ag-ui")
    return app


def pydantic_ai(adapter, path):
    from fastapi import FastAPI
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel
    from starlette.requests import Request

    agent = Agent(TestModel(custom_output_text="Tides follow the moon."))
    app = FastAPI()

    @app.post(path)
    async def endpoint(request: Request):
        return await adapter.dispatch_request(request, agent=agent)

    return app


def pydantic_ai_ag_ui():
    from pydantic_ai.ui.ag_ui import AGUIAdapter

    return pydantic_ai(AGUIAdapter, "/ag-ui")


def pydantic_ai_ui_stream():
    from pydantic_ai.ui.vercel_ai import VercelAIAdapter

    return pydantic_ai(VercelAIAdapter, "/api/chat")


def litellm():
    """The proxy, before the model of fakellm."""
    model, port = bound(fakellm())
    threading.Thread(target=model, daemon=True).start()
    config = os.path.join(tempfile.mkdtemp(), "config.yaml")
    params = {"model": "hosted_vllm/fake", "api_base": f"http://127.0.0.1:{port}/v1", "api_key": "none"}
    with open(config, "w") as file:
        # JSON is YAML.
        models = [{"model_name": "fake", "litellm_params": params}]
        json.dump({"model_list": models, "router_settings": {"disable_cooldowns": True}}, file)
    os.environ.update(
        CONFIG_FILE_PATH=config,
        LITELLM_LOCAL_MODEL_COST_MAP="True",
        LITELLM_LOG="ERROR",
        LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY="true",
    )
    from litellm.proxy.proxy_server import app

    return app


def fakellm():
    from fakellm.server import app

    return app


def tinytot():
    from tinytot.server import app

    return app


class Announced(uvicorn.Server):
    """Prints its port when it serves."""

    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(sockets[0].getsockname()[1], flush=True)


def bound(app, server=uvicorn.Server):
    """A function that serves an application, and the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = server(uvicorn.Config(app, log_level="critical"))
    return lambda: server.run(sockets=[listener]), listener.getsockname()[1]


if __name__ == "__main__":
    serve, _ = bound(globals()[sys.argv[1]](), Announced)
    serve()
