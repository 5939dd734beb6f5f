//! What a controller can ask for.

use super::journal::Words;
use serde::Deserialize;
use serde_json::Value;

/// An order, by the word in its `do`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Order {
    /// Commands in their order; the first one that fails ends them.
    Steps { steps: Vec<Step> },
    /// A program beside the conversation.
    Start { name: String, argv: Words },
    /// A line for its standard input.
    Tell { name: String, line: String },
    /// A signal to it, by its number.
    Signal { name: String, signal: i32 },
    /// The body becomes a file of the work folder.
    Put {
        path: String,
        #[serde(default)]
        program: bool,
    },
    /// A part of a file of the work folder.
    Get {
        path: String,
        #[serde(default)]
        offset: u64,
        most: u64,
    },
    /// Files of the work folder with their sizes.
    List,
    /// The controller is there.
    Beat,
    /// Everything is undone; the conversation goes on.
    Undo,
    /// Everything is undone; the conversation ends.
    Restore,
}

/// One command.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Step {
    pub argv: Words,
    /// Standard input.
    #[serde(default)]
    pub stdin: String,
    /// Commands that undo it, the last one first.
    #[serde(default)]
    pub undo: Vec<Words>,
    /// Whether the ones behind it are done although it fails.
    #[serde(default)]
    pub may_fail: bool,
    #[serde(default = "half_a_minute")]
    pub limit_ms: u64,
}

fn half_a_minute() -> u64 {
    30_000
}

/// The number of an order, and the order.
///
/// # Errors
/// In words, when it is none.
pub fn read(header: Value) -> Result<(u64, Order), (u64, String)> {
    let id = header.get("id").and_then(Value::as_u64).unwrap_or(0);
    serde_json::from_value(header).map(|order| (id, order)).map_err(|error| (id, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn orders_are_told_by_their_word() {
        assert_eq!(read(json!({"id": 4, "do": "beat"})), Ok((4, Order::Beat)));
        let (_, order) = read(json!({"id": 5, "do": "steps", "steps": [{"argv": ["true"]}]})).unwrap();
        let Order::Steps { steps } = order else { panic!("{order:?}") };
        assert_eq!((steps[0].limit_ms, steps[0].may_fail), (30_000, false));
        assert_eq!(read(json!({"id": 6, "do": "dance"})).unwrap_err().0, 6);
        assert_eq!(read(json!(5)).unwrap_err().0, 0);
    }
}
