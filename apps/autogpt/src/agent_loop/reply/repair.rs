//! The request to repair a damaged reply.

use crate::agent_loop::message::Message;

/// The required format of a repaired reply.
const SCHEMA: &str = r#"{
    "command": {
        "name": "command name",
        "args": {
            "arg name": "value"
        }
    },
    "thoughts": {
        "text": "thought",
        "reasoning": "reasoning",
        "plan": "- short bulleted\n- list that conveys\n- long-term plan",
        "criticism": "constructive self-criticism",
        "speak": "thoughts summary to say to user"
    }
}"#;

/// Returns the request to repair a damaged reply. The model plays a function whose two arguments
/// are in triple single quotes. It is sent with temperature 0.
pub fn repair_request(damaged: &str) -> Vec<Message> {
    vec![
        Message::system(
            "You are this Python function, and answer with its return value only:\n\
             ```\n\
             # Makes the text parse as JSON and fit the schema. What is missing is left out.\n\
             def fix_json(json_str: str, schema: str) -> str:\n\
             ```",
        ),
        Message::user(format!("'''{damaged}''', '''{SCHEMA}'''")),
    ]
}
