//! The commands that search the web and read a page.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Fetch, Page, Search, WebError, summarise};
use crate::agent_loop::model::Model;
use crate::commands::{Args, Command, CommandError, Output, Policy, Scope, Source, Spec};
use crate::json::{Object, Value};

/// The number of results of a search, and of links of a page.
const RESULTS: usize = 8;
const LINKS: usize = 5;

/// The command `google`: searches the web. It has the original's name, and works with any search
/// service.
#[derive(Clone, Debug)]
pub struct WebSearch {
    search: Arc<dyn Search>,
}

impl WebSearch {
    /// Creates the command with a search service.
    pub fn new(search: Arc<dyn Search>) -> Self {
        Self { search }
    }
}

#[async_trait]
impl Command for WebSearch {
    fn spec(&self) -> Spec {
        Spec::new("google", "Web search", &[("input", "search")]).with_policy(Policy::Never)
    }

    async fn run(&self, args: &Args<'_>, _: &Scope) -> Result<Output, CommandError> {
        let query = args.text("input")?;
        let sources = self.search.search(&query, RESULTS).await.map_err(failed)?;
        let results: Vec<Value> = sources.iter().map(result).collect();
        Ok(Output {
            sources,
            ..Output::new(results)
        })
    }
}

/// Returns a search result in the original's form.
fn result(source: &Source) -> Value {
    Value::Object(Object::from_iter([
        ("title".to_owned(), Value::from(source.title.as_str())),
        ("href".to_owned(), Value::from(source.url.as_str())),
        ("body".to_owned(), Value::from(source.excerpt.as_str())),
    ]))
}

/// The command `browse_website`: reads a page, answers a question from it, and lists its first
/// links.
#[derive(Clone, Debug)]
pub struct BrowseWebsite {
    fetch: Arc<dyn Fetch>,
    model: Arc<dyn Model>,
}

impl BrowseWebsite {
    /// Creates the command with a fetcher, and the model that summarises.
    pub fn new(fetch: Arc<dyn Fetch>, model: Arc<dyn Model>) -> Self {
        Self { fetch, model }
    }
}

#[async_trait]
impl Command for BrowseWebsite {
    fn spec(&self) -> Spec {
        let question = ("question", "what_you_want_to_find_on_website");
        let spec = Spec::new(
            "browse_website",
            "Browse website",
            &[("url", "url"), question],
        );
        spec.with_policy(Policy::Never)
    }

    async fn run(&self, args: &Args<'_>, _: &Scope) -> Result<Output, CommandError> {
        let url = args.text("url")?;
        let question = args.text("question")?;
        let page = self.fetch.get(&url).await.map_err(failed)?;
        let (html, body) = (page.html, page.body);
        // Parsing a page of a megabyte would delay other conversations on a thread of the runtime.
        let read = tokio::task::spawn_blocking(move || match html {
            true => Page::read(&body),
            false => Page::plain(body),
        });
        let broken = |_| CommandError::Failed("the page could not be read".to_owned());
        let content = read.await.map_err(broken)?;
        let Page { title, text, .. } = &content;
        if text.is_empty() {
            return Err(CommandError::Failed("No text to summarize".to_owned()));
        }
        let summary = summarise(&*self.model, text, &question).await;
        let (summary, model_calls) =
            summary.map_err(|error| CommandError::Failed(error.to_string()))?;
        let links = content.links(&page.url, LINKS).into_iter();
        let links: Vec<Value> = links.map(Value::from).collect();
        let links = Value::from(links);
        let title = title.as_ref().unwrap_or(&page.url);
        Ok(Output {
            // The URL after redirects, from which the text was read.
            sources: vec![Source::new(title, &page.url, &summary)],
            model_calls,
            ..Output::new(format!(
                "Website Content Summary: {summary}\n\nLinks: {links}"
            ))
        })
    }
}

fn failed(error: WebError) -> CommandError {
    CommandError::Failed(error.to_string())
}
