//! A request as the server of a profile wants it.

use super::{Input, Item, ResponsesRequest};
use crate::models::{Names, Profile, Setting, SystemPlace};

pub(super) fn conform(request: &mut ResponsesRequest, profile: &Profile, names: &mut Names) {
    for tool in request.tools.iter_mut().filter(|it| it.kind == "function") {
        tool.strict = tool.strict.filter(|_| profile.strict == Setting::AsSent);
        if let Some(name) = &mut tool.name {
            names.send(name, profile);
        }
    }
    let Input::Parts(items) = &mut request.input else {
        return;
    };
    for item in items.iter_mut() {
        if let (Some(role), Some(other)) = (&mut item.role, &profile.developer) {
            if role == "developer" {
                role.clone_from(other);
            }
        }
        if let (true, Some(name)) = (item.is_call(), &mut item.name) {
            names.send(name, profile);
        }
        if let Some(id) = &mut item.call_id {
            names.send_id(id, profile);
        }
    }
    let is_system = |item: &Item| {
        item.is_message() && matches!(item.role.as_deref(), Some("system" | "developer"))
    };
    if profile.system != SystemPlace::Anywhere {
        items.sort_by_key(|item| !is_system(item));
    }
    if profile.system == SystemPlace::One {
        let own = request.instructions.take().filter(|it| !it.is_empty());
        let more = items.iter().take_while(|item| is_system(item));
        let more = more.map(|item| item.content.text().into_owned());
        let all: Vec<_> = own.into_iter().chain(more).collect();
        request.instructions = (!all.is_empty()).then(|| all.join("\n\n"));
        items.retain(|item| !is_system(item));
    }
}
