//! The members of requests that only this protocol has.

use http::HeaderMap;

use crate::Node;
use copilot_wire::openbb::{Era, OptionValue, QueryRequest, Tier, Tool, Widget, WorkspaceState};

/// Describes the members that only this protocol has.
pub(super) fn native(request: &QueryRequest, _: &HeaderMap) -> Node {
    let tier = |wanted| {
        let widgets = request.widgets().filter(move |(tier, _)| *tier == wanted);
        Node::list(widgets.map(|(_, widget)| show_widget(widget)))
    };
    let delegation = request.delegation().map(|delegation| {
        Node::object([
            ("task", delegation.task.into_owned().into()),
            ("agent", delegation.agent_id.into()),
        ])
    });
    let calls = request.call_results().into_iter().map(|result| {
        let failed = result.failed();
        Node::object([
            ("function", result.function.into()),
            ("arguments", result.input_arguments.into()),
            ("failed", failed.into()),
        ])
    });
    let files = request.documents.iter().map(|file| &file.name);
    let files = files.chain(request.uploaded_files.iter().map(|file| &file.name));
    let skills = request.skills_catalog.iter().map(|skill| &skill.slug);
    let skills = skills.chain(request.selected_skills.iter().map(|skill| &skill.slug));
    let screen = request.workspace_state.as_deref().map(on_screen);
    Node::object([
        ("era", format!("{:?}", Era::from_request(request)).into()),
        ("delegation", delegation.into()),
        ("primary", tier(Tier::Primary)),
        ("secondary", tier(Tier::Secondary)),
        ("extra", tier(Tier::Extra)),
        ("options", options(request)),
        ("servers", Node::list(request.tools.iter().map(server))),
        ("calls", Node::list(calls)),
        ("state", request.extra_state().into()),
        ("screen", screen.into()),
        ("model", request.model.as_str().into()),
        ("timezone", request.timezone.as_str().into()),
        ("urls", Node::list(request.urls.iter().map(|url| &**url))),
        ("files", texts(files)),
        ("skills", texts(skills)),
        ("api_keys", request.api_keys.is_some().into()),
        ("unknown", Node::names(&request.unknown)),
    ])
}

fn texts<'a>(texts: impl Iterator<Item = &'a String>) -> Node {
    Node::list(texts.map(String::as_str))
}

fn show_widget(widget: &Widget) -> Node {
    let params = widget.params.iter().map(|param| {
        Node::object([
            ("name", param.name.as_str().into()),
            ("value", param.value().cloned().into()),
        ])
    });
    Node::object([
        ("name", widget.name.as_str().into()),
        ("id", widget.id().map(|id| id.into_owned()).into()),
        ("origin", widget.origin.as_str().into()),
        ("widget", widget.widget_id.as_str().into()),
        ("params", Node::list(params)),
    ])
}

fn options(request: &QueryRequest) -> Node {
    let options = request.workspace_options.iter();
    let options = options.flat_map(|options| options.iter());
    Node::list(options.map(|(id, value)| {
        let value = match &value {
            OptionValue::Text(text) => text,
            OptionValue::On => "on",
            _ => "off",
        };
        Node::object([("id", id.into()), ("value", value.into())])
    }))
}

/// Describes the server of a tool. The token is reported as present, never printed.
fn server(tool: &Tool) -> Node {
    Node::object([
        ("tool", tool.name.as_str().into()),
        ("server", tool.server_id.as_str().into()),
        ("url", (&*tool.url).into()),
        ("token", tool.auth_token.is_some().into()),
    ])
}

fn on_screen(state: &WorkspaceState) -> Node {
    let dashboard = state.current_dashboard_info.as_ref();
    let tab = dashboard.map(|info| info.current_tab_id.as_str());
    let agents = state.agents.iter().map(|agent| &agent.name);
    Node::object([
        ("page", state.current_page_context.as_str().into()),
        ("dashboard", dashboard.map(|info| info.name.as_str()).into()),
        ("tab", tab.into()),
        ("agents", texts(agents)),
    ])
}
