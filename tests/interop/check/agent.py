"""An OpenBB agent, written as the README of openbb-ai and OpenBB's examples have it.

It takes a free port, prints it, and serves until it is stopped.
"""

import socket

import uvicorn
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from openbb_ai import chart, citations, cite, get_widget_data, message_chunk, reasoning_step, table
from openbb_ai.models import QueryRequest, WidgetRequest
from sse_starlette import EventSourceResponse

app = FastAPI()
app.add_middleware(
    CORSMiddleware,
    allow_origins=[
        "http://localhost",
        "http://localhost:1420",
        "http://localhost:5050",
        "https://pro.openbb.dev",
        "https://pro.openbb.co",
    ],
    allow_credentials=True,
    allow_methods=["*"],
    allow_headers=["*"],
)


@app.get("/agents.json")
async def agents_json():
    return JSONResponse(
        content={
            "my_agent": {
                "name": "My Agent",
                "description": "This is my agent",
                "endpoints": {"query": "/query"},
                "features": {
                    "streaming": True,
                    "widget-dashboard-select": True,
                    "widget-dashboard-search": True,
                },
            }
        }
    )


@app.post("/query")
async def query(request: QueryRequest):
    async def events():
        last = request.messages[-1]
        widgets = request.widgets.primary if request.widgets else []
        yield reasoning_step("Starting agent", event_type="INFO")
        if last.role == "human" and widgets:
            arguments = {param.name: param.current_value for param in widgets[0].params}
            yield get_widget_data([WidgetRequest(widget=widgets[0], input_arguments=arguments)])
            return
        yield message_chunk(last.content if last.role == "human" else "Here is the data.")
        if last.role == "tool" and widgets:
            rows = [{"x": 1, "y": 2}, {"x": 2, "y": 3}]
            yield table(data=rows, name="My Table", description="This is a table of the data")
            yield chart(type="line", data=rows, x_key="x", y_keys=["y"], name="My Chart")
            yield citations([cite(widget=widgets[0], input_arguments={})])

    async def stream():
        async for event in events():
            yield event.model_dump()

    return EventSourceResponse(stream())


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])
