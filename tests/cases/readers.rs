//! The strictest known readers of each protocol, which panic when they take offence.

#[path = "../github/debug_cli.rs"]
mod debug_cli;
#[allow(dead_code)]
#[path = "../responses/rules.rs"]
mod responses_rules;
#[path = "../openai/rules.rs"]
mod rules;
#[allow(dead_code)]
#[path = "../anthropic/strict.rs"]
mod strict;
#[allow(dead_code)]
#[path = "../github/vs_code.rs"]
mod vs_code;
#[allow(dead_code)]
#[path = "../openbb/workspace.rs"]
mod workspace;

use copilot_wire_kit::Kit;
use copilot_wire_kit::check::recorded;

/// Reads a whole stream, and returns the rules of the kit that it breaks.
pub(crate) fn check(kit: &Kit, stream: &str) -> Vec<&'static str> {
    let report = recorded(*kit, stream.as_bytes());
    let broken = report.findings.iter().map(|it| it.rule.id).collect();
    match kit.name {
        "openbb" => drop(workspace::read(stream.as_bytes()).unwrap()),
        "github" => {
            vs_code::read(&vs_code::relay(stream).unwrap()).unwrap();
            debug_cli::read(stream).unwrap();
        }
        "anthropic" => drop(strict::read(stream)),
        "openai" => {
            let done = stream.ends_with("data: [DONE]\n\n");
            let end = if done {
                rules::End::Done
            } else {
                rules::End::Error
            };
            rules::check(stream, stream.contains("\"usage\":"), end);
        }
        "responses" => {
            let end = match () {
                () if stream.contains("event: response.completed\n") => {
                    responses_rules::End::Completed
                }
                () if stream.contains("event: response.incomplete\n") => {
                    responses_rules::End::Incomplete
                }
                () => responses_rules::End::Failed,
            };
            responses_rules::check(stream, end);
        }
        _ => {}
    }
    broken
}
