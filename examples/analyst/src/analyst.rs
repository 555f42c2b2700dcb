//! The agent.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use copilot_wire::openbb::{
    Era, GetWidgetData, OpenBb, PromptSuggestions, QueryRequest, Tier, Widget,
};
use copilot_wire::protocol::{
    AgentError, Chart, Citation, Conversation, Decision, Protocol, Status, Table,
};
use copilot_wire::{Agent, Reply, Request, async_trait};

use crate::dataset::{Content, Dataset};
use crate::model::Model;
use crate::talk::{decided, wants_deletion, words};

/// Tells what the data at hand says, or has a model tell it.
#[derive(Clone, Debug)]
pub struct Analyst {
    model: Option<Arc<Model>>,
    pace: Duration,
}

impl Analyst {
    /// Creates an analyst that asks `model` if there is one.
    pub fn new(model: Option<Model>) -> Self {
        Self {
            model: model.map(Arc::new),
            pace: Duration::from_millis(15),
        }
    }

    /// Sets the time between two words, which makes the stream pleasant to watch.
    #[must_use]
    pub fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Analyst {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        // The Workspace has more than the others: widgets to ask for, and suggestions.
        match request.native::<OpenBb>(reply) {
            Ok((request, reply)) => self.in_the_workspace(&request, reply).await,
            Err((request, reply)) => {
                let data: Vec<Dataset> = request.documents().map(Into::into).collect();
                let answer = self.answer_of(&request);
                self.report(&*request, answer, &data, reply).await
            }
        }
    }
}

impl Analyst {
    async fn in_the_workspace(
        &self,
        request: &Request<OpenBb>,
        reply: Reply<OpenBb>,
    ) -> Result<(), AgentError> {
        let answer = self.answer_of(request);
        let request: &QueryRequest = request;
        let Some(result) = request.last_result() else {
            let widgets = at_hand(request);
            if !widgets.is_empty() && !self.has_its_own_way(request, answer) {
                let names: Vec<_> = widgets.iter().map(|widget| widget.name.as_str()).collect();
                let step = Status::new("Asking for the data of your widgets");
                reply
                    .status(step.detail("widgets", names.join(", ")))
                    .await?;
                return Ok(reply.end(GetWidgetData::new(widgets))?);
            }
            let data: Vec<Dataset> = request.documents().map(Into::into).collect();
            return self.report(request, answer, &data, reply).await;
        };
        let mut widgets: HashMap<_, &Widget> = HashMap::new();
        for (_, widget) in request.widgets() {
            if let Some(id) = widget.id() {
                widgets.entry(id).or_insert(widget);
            }
        }
        let mut data = Vec::new();
        for (source, outcome) in result.by_source() {
            let source = source.unwrap_or_default();
            let id = source.widget_uuid.as_deref().unwrap_or(&source.id);
            let name = widgets
                .get(id)
                .map_or(source.id.as_str(), |widget| widget.name.as_str());
            let name = if name.is_empty() { "The widget" } else { name };
            if outcome.failed() {
                let problem = format!("{name} gave no data: {}", outcome.text());
                reply.error(problem).await?;
            } else {
                data.push(Dataset::new(name, id, &outcome.text()));
            }
        }
        if data.is_empty() {
            return self.report(request, answer, &data, reply).await;
        }
        self.tell(&data, &reply).await?;
        if let Some(model) = &self.model {
            return model.answer(request, reply).await;
        }
        let ideas = [
            "Which value is the highest?",
            "How did it change over time?",
        ];
        Ok(reply.send(PromptSuggestions::new(ideas)).await?)
    }

    /// Returns the user's answer to a question of this agent. With a model it asks none.
    fn answer_of<'a, P: Protocol>(&self, request: &'a Request<P>) -> Option<&'a Decision> {
        match self.model {
            Some(_) => None,
            None => request.decision(),
        }
    }

    /// Returns `true` if this is not about data.
    fn has_its_own_way(&self, conversation: &impl Conversation, answer: Option<&Decision>) -> bool {
        let prompt = conversation.prompt().unwrap_or_default();
        self.model.is_none() && (decided(answer).is_some() || wants_deletion(&prompt))
    }

    /// Answers from the data, or from the conversation when there is none.
    async fn report<P: Protocol>(
        &self,
        conversation: &impl Conversation,
        answer: Option<&Decision>,
        data: &[Dataset],
        reply: Reply<P>,
    ) -> Result<(), AgentError> {
        let talk = data.is_empty() || self.has_its_own_way(conversation, answer);
        if talk && self.model.is_none() {
            return self.talk(conversation, answer, reply).await;
        }
        self.tell(data, &reply).await?;
        match &self.model {
            Some(model) => model.answer(conversation, reply).await,
            None => Ok(()),
        }
    }

    /// Names the data, and tells what it says where no model does.
    async fn tell<P: Protocol>(
        &self,
        data: &[Dataset],
        reply: &Reply<P>,
    ) -> Result<(), AgentError> {
        for dataset in data {
            if self.model.is_none() {
                self.say(&dataset.summary(), reply).await?;
                show(dataset, reply).await?;
            }
            reply
                .cite(Citation::new(&dataset.name).document(&dataset.id))
                .await?;
        }
        Ok(())
    }

    /// Says a paragraph word by word.
    pub(crate) async fn say<P: Protocol>(
        &self,
        text: &str,
        reply: &Reply<P>,
    ) -> Result<(), AgentError> {
        for word in text.split_inclusive(' ') {
            reply.text(word).await?;
            if !self.pace.is_zero() {
                tokio::time::sleep(self.pace).await;
            }
        }
        Ok(reply.text("\n\n").await?)
    }
}

/// The number of words of a prompt that are searched for the names of widgets.
const PROMPT_WORDS: usize = 1000;

/// The largest number of words of a widget's name that is found in a prompt.
const NAME_WORDS: usize = 12;

/// Returns every run of up to [`NAME_WORDS`] words of a prompt.
fn phrases(prompt: &str) -> HashSet<String> {
    let words: Vec<String> = words(prompt).take(PROMPT_WORDS).collect();
    let mut phrases = HashSet::new();
    for start in 0..words.len() {
        let mut phrase = String::new();
        for word in words.iter().skip(start).take(NAME_WORDS) {
            phrase.push_str(word);
            phrases.insert(phrase.clone());
            phrase.push(' ');
        }
    }
    phrases
}

/// Returns the widgets to ask for: those that the prompt names, else those that the user selected, else
/// those of the dashboard.
fn at_hand(request: &QueryRequest) -> Vec<&Widget> {
    // Looked up rather than searched for: a request may have many widgets and a long prompt.
    let phrases = phrases(&request.prompt().unwrap_or_default());
    let by_backend = Era::from_request(request) >= Era::E5;
    // Without its ids nobody could be asked for it.
    let has_data = |widget: &Widget| match by_backend {
        _ if widget.is_container() => false,
        true => !widget.origin.is_empty() && !widget.widget_id.is_empty(),
        false => widget.id().is_some(),
    };
    let is_named = |widget: &Widget| {
        let name: Vec<String> = words(&widget.name).collect();
        phrases.contains(&name.join(" "))
    };
    let named = request.widgets().map(|(_, widget)| widget);
    let named: Vec<_> = named
        .filter(|widget| has_data(widget) && is_named(widget))
        .collect();
    if !named.is_empty() {
        return named;
    }
    let of_tier = |wanted| {
        let widgets = request.widgets().filter(move |(tier, _)| *tier == wanted);
        widgets
            .map(|(_, widget)| widget)
            .filter(|widget| has_data(widget))
            .collect()
    };
    let pointed_at: Vec<_> = of_tier(Tier::Primary);
    if pointed_at.is_empty() {
        of_tier(Tier::Secondary)
    } else {
        pointed_at
    }
}

/// Shows the latest rows, and a chart where there are numbers.
async fn show<P: Protocol>(dataset: &Dataset, reply: &Reply<P>) -> Result<(), AgentError> {
    let Content::Rows(rows) = &dataset.content else {
        return Ok(());
    };
    reply
        .status(format!("Reading {} rows of {}", rows.len(), dataset.name))
        .await?;
    let table = Table::new(format!("{}: latest rows", dataset.name), &rows.latest(10))?;
    reply.table(table).await?;
    if let Some((kind, rows)) = rows.chart() {
        reply
            .chart(Chart::new(
                format!("{}: over time", dataset.name),
                kind,
                &rows,
            )?)
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phrases_of_a_prompt_are_bounded() {
        assert!(phrases("What do the AAPL-prices say?").contains("aapl prices"));
        let long: String = (0..100_000).map(|n| format!("word{n} ")).collect();
        assert!(phrases(&long).len() <= PROMPT_WORDS * NAME_WORDS);
    }
}
