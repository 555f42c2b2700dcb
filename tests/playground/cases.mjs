// All cases.

import { run } from "./harness.mjs";
import "./cases/page.mjs";
import "./cases/sse.mjs";
import "./cases/openbb.mjs";
import "./cases/github.mjs";
import "./cases/openai.mjs";
import "./cases/anthropic.mjs";
import "./cases/responses.mjs";
import "./cases/ag_ui.mjs";
import "./cases/mcp.mjs";
import "./cases/meilisearch.mjs";
import "./cases/ui_stream.mjs";
import "./cases/outside.mjs";
import "./cases/malformed.mjs";
import "./cases/charts.mjs";
import "./cases/markdown.mjs";
import "./cases/hostile.mjs";
import "./cases/looks.mjs";

await run();
