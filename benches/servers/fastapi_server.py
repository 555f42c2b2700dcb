"""What a Python agent for the OpenBB Workspace looks like: FastAPI, sse-starlette and openbb-ai.

    uvicorn fastapi_server:app --port 8000 --log-level warning
"""

import asyncio
import os
import json
from pathlib import Path

from fastapi import FastAPI
from openbb_ai import QueryRequest, message_chunk, reasoning_step
from sse_starlette.sse import EventSourceResponse

WORDS = json.loads(Path(os.environ["WORDS"]).read_text()) if "WORDS" in os.environ else []

app = FastAPI()


@app.post("/v1/query")
async def query(request: QueryRequest) -> EventSourceResponse:
    async def answer():
        for word in WORDS:
            yield message_chunk(word).model_dump()

    return EventSourceResponse(answer(), media_type="text/event-stream")


@app.post("/v1/idle")
async def idle(request: QueryRequest) -> EventSourceResponse:
    async def answer():
        yield reasoning_step("INFO", message="Working").model_dump()
        await asyncio.Event().wait()

    return EventSourceResponse(answer(), media_type="text/event-stream")
