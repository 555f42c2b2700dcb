"""openai-python, cut off in the middle of a response, reads on from another server: responses.py ONE OTHER."""

import sys
import time

import openai

one, other = (openai.OpenAI(base_url=f"{server}/v1", api_key="python") for server in sys.argv[1:])
begun = {"model": "counter", "background": True}

seen = []
for event in one.responses.create(input="count 40 25", stream=True, **begun):
    seen.append(event)
    if event.sequence_number == 20:
        break
reply = seen[0].response.id
seen.extend(other.responses.retrieve(reply, stream=True, starting_after=20))
assert [event.sequence_number for event in seen] == list(range(len(seen))), seen
text = "".join(event.delta for event in seen if event.type == "response.output_text.delta")
assert text.endswith(" 38 39"), text
assert seen[-1].type == "response.completed", seen[-1]
whole = other.responses.retrieve(reply)
assert (whole.status, whole.output_text) == ("completed", text), whole

# Without a stream: asked for until it is done, and cancelled elsewhere.
long = one.responses.create(input="count 10000 10", **begun)
assert long.status in ("queued", "in_progress"), long
other.responses.cancel(long.id)
for _ in range(100):
    if one.responses.retrieve(long.id).status == "cancelled":
        break
    time.sleep(0.05)
else:
    raise AssertionError("it goes on")
print("openai-python: yes")
