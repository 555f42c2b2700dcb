//! The output of an agent that tries to run scripts in the reader's browser, or to load from other servers.
//!
//! The prompt carries the address of a server that must never hear of it.

use copilot_wire::openbb::{Artifact, Citation, CitationCollection, OpenBb, PromptSuggestions};
use copilot_wire::protocol::{AgentError, Conversation, Protocol, Status, Table};
use copilot_wire::{Reply, Request};
use serde_json::json;

pub(crate) async fn answer<P: Protocol>(
    request: Request<P>,
    reply: Reply<P>,
) -> Result<(), AgentError> {
    let prompt = request.prompt().unwrap_or_default().into_owned();
    let away = prompt
        .split_whitespace()
        .nth(1)
        .unwrap_or("http://127.0.0.1:9");
    reply
        .status(Status::new(MARKUP).detail("<script>hit()</script>", MARKUP))
        .await?;
    // In pieces of three characters, so that nothing depends on where a chunk ends.
    let text = MARKDOWN.replace("AWAY", away);
    let characters: Vec<char> = text.chars().collect();
    for piece in characters.chunks(3) {
        reply.text(&piece.iter().collect::<String>()).await?;
    }
    let rows = json!([{"<img src=x onerror=hit()>": MARKUP, "__proto__": "x", "constructor": 1}]);
    reply.table(Table::new("<b>Table</b>", &rows)?).await?;
    if let Ok((_, reply)) = request.native::<OpenBb>(reply) {
        let html = HTML.replace("AWAY", away);
        reply.send(Artifact::html("hostile page", &html)).await?;
        let citation = Citation::web("javascript:hit()").description(MARKUP);
        reply.send(CitationCollection::new([citation])).await?;
        reply.send(PromptSuggestions::new([MARKUP])).await?;
    }
    Ok(())
}

const MARKUP: &str = "<img src=x onerror=hit()><script>hit()</script>";

const MARKDOWN: &str = r#"
<script>hit()</script> <img src=x onerror="hit()"> <svg onload=hit()> <iframe src="AWAY/iframe"></iframe>

[one](javascript:hit()) [two](JaVaScRiPt:hit()) [three](data:text/html,<script>hit()</script>)
[four](vbscript:hit) [five](&#106;avascript:hit()) [six](file:///etc/passwd) [seven](//AWAY/x)
[eight](java
script:hit()) [nine]( javascript:hit()) [ten](<javascript:hit()>) [good](https://example.com/)

![pixel](AWAY/pixel.png) ![svg](data:image/svg+xml,<svg onload=hit()>) ![x](x" onerror="hit())

<javascript:hit()> <style>@import "AWAY/style.css";</style> <base href="AWAY/">

| <script>hit()</script> | b |
|---|---|
| [x](javascript:hit()) | <img src=AWAY/cell.png> |

```html"><script>hit()</script>
</code></pre><script>hit()</script>
```

> > > > > > > > > > > > > > > > > > > > deep <script>hit()</script>

</textarea></title></script><script>hit()</script>
"#;

const HTML: &str = r##"
<meta http-equiv="refresh" content="0;url=AWAY/refresh">
<link rel="stylesheet" href="AWAY/link.css"><link rel="preconnect" href="AWAY"><link rel="dns-prefetch" href="AWAY">
<link rel="prefetch" href="AWAY/prefetch"><base href="AWAY/">
<style>@import url("AWAY/import.css"); body { background: url(AWAY/background.png) } @font-face { font-family: f; src: url(AWAY/font.woff2) } p { font-family: f }</style>
<script>parent.hit()</script><script src="AWAY/script.js"></script>
<p id="here" onclick="parent.hit()">A page that means no good.</p>
<img src="AWAY/image.png" onerror="parent.hit()"><img srcset="AWAY/set.png 2x">
<iframe src="AWAY/inner"></iframe><iframe srcdoc="<script>parent.parent.hit()</script>"></iframe>
<object data="AWAY/object"></object><embed src="AWAY/embed"><video src="AWAY/video" autoplay poster="AWAY/poster.png"></video>
<audio src="AWAY/audio" autoplay></audio><form action="AWAY/form"><input autofocus onfocus="parent.hit()"><button>send</button></form>
<svg onload="parent.hit()"><image href="AWAY/svg.png"/><a xlink:href="javascript:parent.hit()"><text y="20">svg link</text></a><use href="AWAY/use.svg#x"/></svg>
<a id="leave" href="AWAY/leave" ping="AWAY/ping">leave</a> <a id="top" target="_top" href="AWAY/top">top</a> <a href="javascript:parent.hit()">run</a>
<noscript><img src="AWAY/noscript.png"></noscript><template><img src=x></template>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=parent.hit()&gt;">
"##;
