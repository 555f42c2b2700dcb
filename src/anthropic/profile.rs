//! A request as the server of a profile wants it.

use super::{Content, ContentBlock, MessagesRequest};
use crate::json::{Json, Members, Wire};
use crate::models::{CacheMarks, Names, Profile, Setting, SystemPlace};

/// The mark of a block that the provider shall cache.
const MARK: &str = "cache_control";

pub(super) fn conform(request: &mut MessagesRequest, profile: &Profile, names: &mut Names) {
    let is_dropped = profile.cache == CacheMarks::Dropped;
    for tool in &mut request.tools {
        let is_custom = tool.kind.as_deref().is_none_or(|kind| kind == "custom");
        if is_custom {
            names.send(&mut tool.name, profile);
        }
        let is_strict = profile.strict == Setting::AsSent;
        tool.unknown
            .retain(|name| (is_strict || name != "strict") && (!is_dropped || name != MARK));
    }
    if is_dropped {
        request.unknown.retain(|name| name != MARK);
        blocks(&mut request.system).for_each(unmark);
    }
    for message in &mut request.messages {
        for block in blocks(&mut message.content) {
            match block {
                ContentBlock::ToolUse(call) => {
                    names.send(&mut call.name, profile);
                    names.send_id(&mut call.id, profile);
                }
                ContentBlock::ToolResult(result) => {
                    names.send_id(&mut result.tool_use_id, profile);
                }
                _ => {}
            }
            if is_dropped {
                unmark(block);
            }
        }
    }
    if profile.system != SystemPlace::Anywhere {
        let late = request.messages.iter().filter(|it| it.role == "system");
        let late: Vec<_> = late.map(|message| message.content.text()).collect();
        let own = request.system.text();
        let own = Some(own).filter(|own| !own.is_empty());
        if !late.is_empty() || profile.system == SystemPlace::One && own.is_some() {
            let all: Vec<_> = own.into_iter().chain(late).collect();
            request.system = all.join("\n\n").into();
            request.messages.retain(|message| message.role != "system");
        }
    }
}

fn blocks(content: &mut Content) -> impl Iterator<Item = &mut ContentBlock> {
    match content {
        Content::Parts(blocks) => Some(blocks.iter_mut()),
        _ => None,
    }
    .into_iter()
    .flatten()
}

/// Returns the members of a block without a field; `None` for a block of another kind.
fn members(block: &mut ContentBlock) -> Option<&mut Members> {
    Some(match block {
        ContentBlock::Text(block) => &mut block.unknown,
        ContentBlock::Thinking(block) => &mut block.unknown,
        ContentBlock::ToolUse(block) => &mut block.unknown,
        ContentBlock::ToolResult(block) => &mut block.unknown,
        ContentBlock::Other(_) => return None,
    })
}

fn unmark(block: &mut ContentBlock) {
    if let Some(members) = members(block) {
        members.retain(|name| name != MARK);
    } else if let ContentBlock::Other(json) = block {
        let members = json.members().filter(|(name, _)| name != MARK);
        *json = members.collect::<Members>().to_raw();
    }
}

/// Marks the system prompt, or else the tools, and the last block of the last message if blocks of its kind have marks.
pub(super) fn mark(request: &mut MessagesRequest) {
    let mark = Json::object(|mark| {
        mark.str("type", "ephemeral");
    });
    let text = request.system.text();
    if !text.is_empty() {
        request.system = Content::Parts(vec![ContentBlock::text(text)].into());
    }
    let system = blocks(&mut request.system).last().and_then(members);
    let prefix = system.or_else(|| Some(&mut request.tools.last_mut()?.unknown));
    let last = request.messages.last_mut();
    let last = last.and_then(|it| blocks(&mut it.content).last());
    for members in prefix.into_iter().chain(last.and_then(members)) {
        members.push(MARK, mark.clone());
    }
}
