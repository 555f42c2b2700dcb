//! A request as the server of a profile wants it.

use super::relay::REASONING;
use super::{ChatMessage, ChatRequest, Content, Part};
use crate::json::{Json, Members, Wire};
use crate::models::{
    CacheMarks, NO_REASONING, Names, Profile, ReasoningMember, Setting, SystemPlace,
};

/// The mark of a part that a provider shall cache.
const MARK: &str = "cache_control";

pub(super) fn conform(request: &mut ChatRequest, profile: &Profile, names: &mut Names) {
    for tool in &mut request.tools {
        if profile.cache == CacheMarks::Dropped {
            tool.unknown.retain(|name| name != MARK);
        }
        if let Some(function) = &mut tool.function {
            names.send(&mut function.name, profile);
            function.strict = function
                .strict
                .filter(|_| profile.strict == Setting::AsSent);
        }
    }
    for message in &mut request.messages {
        if let ("developer", Some(role)) = (&*message.role, &profile.developer) {
            message.role.clone_from(role);
        }
        if profile.authors == Setting::Dropped {
            message.name = None;
        }
        for call in &mut message.tool_calls {
            names.send(&mut call.function.name, profile);
            names.send_id(&mut call.id, profile);
        }
        if let Some(id) = &mut message.tool_call_id {
            names.send_id(id, profile);
        }
        if message.role == "assistant" {
            reason(message, profile);
        }
        if profile.cache == CacheMarks::Dropped {
            message.unknown.retain(|name| name != MARK);
            if let Content::Parts(parts) = &mut message.content {
                parts.iter_mut().for_each(unmark);
            }
        }
    }
    place(request, profile.system);
}

/// Moves the reasoning of a message to the member that the server reads.
fn reason(message: &mut ChatMessage, profile: &Profile) {
    if profile.reasoning == ReasoningMember::AsSent {
        return;
    }
    let mut names = REASONING.iter();
    let own = names.find_map(|name| message.unknown.get(name).filter(|it| !it.is_null()));
    let needed = Json::encode(NO_REASONING)
        .ok()
        .filter(|_| profile.needs_reasoning && !message.tool_calls.is_empty());
    let own = own.cloned().or(needed);
    message.unknown.retain(|name| !REASONING.contains(&name));
    message.unknown.extend(profile.reasoning.name().zip(own));
}

/// Moves the instructions to their place.
fn place(request: &mut ChatRequest, place: SystemPlace) {
    let is_system = |message: &ChatMessage| matches!(&*message.role, "system" | "developer");
    if place == SystemPlace::Anywhere {
        return;
    }
    request.messages.sort_by_key(|message| !is_system(message));
    let all = request.messages.iter().take_while(|it| is_system(it));
    let texts: Vec<_> = all.map(|message| message.content.text()).collect();
    if place == SystemPlace::First || texts.len() < 2 {
        return;
    }
    let text = texts.join("\n\n");
    let mut is_first = true;
    request
        .messages
        .retain(|message| !is_system(message) || std::mem::take(&mut is_first));
    if let Some(first) = request.messages.first_mut() {
        first.content = text.into();
    }
}

/// Removes the mark of a part.
fn unmark(part: &mut Part) {
    if part.json().get(MARK).is_some() {
        let members = part.json().members().filter(|(name, _)| name != MARK);
        *part = Part::raw(members.collect::<Members>().to_raw());
    }
}

/// Marks the instructions and the last message.
pub(super) fn mark(request: &mut ChatRequest) {
    let is_instruction = |message: &&mut ChatMessage| message.role == "system";
    mark_message(request.messages.first_mut().filter(is_instruction));
    mark_message(request.messages.last_mut().filter(|it| it.role != "system"));
}

fn mark_message(message: Option<&mut ChatMessage>) {
    let Some(message) = message else { return };
    if let Content::Text(text) = &message.content {
        message.content = Content::Parts(vec![Part::new(text)].into());
    }
    if let Content::Parts(parts) = &mut message.content {
        if let Some(last) = parts.last_mut() {
            let mark = Json::object(|mark| {
                mark.str("type", "ephemeral");
            });
            let mut members: Members = last.json().members().collect();
            members.push(MARK, mark);
            *last = Part::raw(members.to_raw());
        }
    }
}
