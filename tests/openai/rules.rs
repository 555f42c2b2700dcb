//! The rules for an encoder, checked on the bytes of a stream.
//!
//! OpenAI chat streams, "rules for an encoder (all four readers satisfied)", 1 to 7.

use std::collections::BTreeMap;

use serde_json::Value;

/// The required end of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Done,
    Error,
}

/// Panics when the stream breaks a rule. Gives its chunks.
pub(crate) fn check(stream: &str, usage_asked: bool, end: End) -> Vec<Value> {
    let chunks = framing(stream, end);
    let mut head = None;
    let mut choices = BTreeMap::<u64, Seen>::new();
    let mut usage = false;
    for chunk in &chunks {
        // 2: id, object, created and model in every chunk, and constant.
        let this = ["id", "object", "created", "model"].map(|key| chunk[key].clone());
        assert!(
            this[0].is_string() && this[2].is_u64() && this[3].is_string(),
            "{chunk}"
        );
        assert_eq!(this[1], "chat.completion.chunk");
        assert_eq!(*head.get_or_insert_with(|| this.clone()), this);
        // 5: usage is the last chunk, and only there if it was asked for.
        assert!(!usage, "something follows the usage");
        assert_eq!(chunk.get("usage").is_some(), usage_asked, "{chunk}");
        usage = chunk.get("usage").is_some_and(|usage| !usage.is_null());
        // 3: no empty choices except beside the usage.
        let list = chunk["choices"].as_array().unwrap();
        assert_eq!(list.is_empty(), usage, "{chunk}");
        for choice in list {
            let index = choice["index"].as_u64().unwrap();
            choices.entry(index).or_default().see(choice);
        }
    }
    for seen in choices.values() {
        // 5 and 6: exactly one finish reason a choice, none after a failure.
        assert_eq!(seen.finished, end == End::Done, "{stream}");
    }
    assert!(end == End::Error || choices.contains_key(&0));
    assert!(end == End::Done || !usage);
    chunks
}

/// 1: one line `data: ` + compact JSON + LF LF; 5 and 6: one `[DONE]`, or one error, at the end.
fn framing(stream: &str, end: End) -> Vec<Value> {
    let rest = match end {
        End::Done => stream.strip_suffix("data: [DONE]\n\n").unwrap(),
        End::Error => stream,
    };
    let mut chunks = Vec::new();
    for event in rest.split_inclusive("\n\n") {
        let data = event
            .strip_prefix("data: ")
            .unwrap()
            .strip_suffix("\n\n")
            .unwrap();
        assert!(
            !data.contains(['\n', '\r', '\u{2028}', '\u{2029}']),
            "{data}"
        );
        let value: Value = serde_json::from_str(data).unwrap();
        assert_ne!(data, "[DONE]");
        chunks.push(value);
    }
    match end {
        End::Done => assert!(chunks.iter().all(|chunk| chunk.get("error").is_none())),
        End::Error => {
            let error = chunks.pop().unwrap();
            let error = error["error"].as_object().unwrap();
            assert!(!error["message"].as_str().unwrap().is_empty());
            assert!(
                ["type", "param", "code"]
                    .iter()
                    .all(|key| error.contains_key(*key))
            );
            assert!(chunks.iter().all(|chunk| chunk.get("error").is_none()));
        }
    }
    chunks
}

/// The state of a choice.
#[derive(Default)]
struct Seen {
    opened: bool,
    finished: bool,
    /// The number of started calls.
    calls: u64,
}

impl Seen {
    fn see(&mut self, choice: &Value) {
        assert!(
            !self.finished,
            "something follows the finish reason: {choice}"
        );
        let delta = choice["delta"].as_object().unwrap();
        // 3: the role in the first chunk only.
        let role = delta.get("role").map(|role| role.as_str().unwrap());
        assert_eq!(role, (!self.opened).then_some("assistant"), "{choice}");
        // Both official clients count log probabilities of a choice's first chunk twice.
        assert!(self.opened || choice.get("logprobs").is_none(), "{choice}");
        self.opened = true;
        // 3: content is never null; no empty list of calls.
        assert!(
            !delta.get("content").is_some_and(Value::is_null),
            "{choice}"
        );
        if let Some(calls) = delta.get("tool_calls") {
            let calls = calls.as_array().unwrap();
            assert!(!calls.is_empty());
            calls.iter().for_each(|call| self.see_call(call));
        }
        let reason = &choice["finish_reason"];
        assert!(choice.as_object().unwrap().contains_key("finish_reason"));
        if !reason.is_null() {
            assert!(!reason.as_str().unwrap().is_empty());
            // The delta of the last chunk is empty.
            assert!(delta.is_empty(), "{choice}");
            self.finished = true;
        }
    }

    /// 4: one call at a time; id, type and name in its first fragment, and nowhere else.
    fn see_call(&mut self, call: &Value) {
        let index = call["index"].as_u64().unwrap();
        let first = index == self.calls;
        assert!(first || index + 1 == self.calls, "calls are mixed: {call}");
        let function = call["function"].as_object().unwrap();
        assert!(function["arguments"].is_string());
        for (holder, key) in [
            (call.as_object().unwrap(), "id"),
            (call.as_object().unwrap(), "type"),
            (function, "name"),
        ] {
            assert_eq!(holder.contains_key(key), first, "{key} in {call}");
            assert!(
                !first || !holder[key].as_str().unwrap().is_empty(),
                "{key} in {call}"
            );
        }
        if first {
            self.calls += 1;
        }
    }
}
