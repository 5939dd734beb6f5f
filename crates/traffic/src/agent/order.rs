//! Orders of a controller.

use super::journal::Words;
use serde::Deserialize;
use serde_json::Value;

/// An order, named by the word in its `do`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Order {
    /// Commands in their order; the first one that fails ends them.
    Steps { steps: Vec<Step> },
    /// A program beside the conversation.
    Start { name: String, argv: Words },
    /// Writes a line to the program's standard input.
    Tell { name: String, line: String },
    /// Sends a signal, by its number, to the program.
    Signal { name: String, signal: i32 },
    /// Writes the body into a file of the work folder.
    Put {
        path: String,
        #[serde(default)]
        program: bool,
    },
    /// Reads a part of a file of the work folder.
    Get {
        path: String,
        #[serde(default)]
        offset: u64,
        most: u64,
    },
    /// Lists the files of the work folder with their sizes.
    List,
    /// Reports that the controller is there.
    Beat,
    /// Undoes everything; the conversation continues.
    Undo,
    /// Undoes everything and ends the conversation.
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
    /// Whether the following commands run although this one fails.
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
/// The fault in words, if the header is not an order.
pub fn read(header: Value) -> Result<(u64, Order), (u64, String)> {
    let id = header.get("id").and_then(Value::as_u64).unwrap_or(0);
    serde_json::from_value(header).map(|order| (id, order)).map_err(|error| (id, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_order_is_named_by_its_word() {
        assert_eq!(read(json!({"id": 4, "do": "beat"})), Ok((4, Order::Beat)));
        let (_, order) = read(json!({"id": 5, "do": "steps", "steps": [{"argv": ["true"]}]})).unwrap();
        let Order::Steps { steps } = order else { panic!("{order:?}") };
        assert_eq!((steps[0].limit_ms, steps[0].may_fail), (30_000, false));
        assert_eq!(read(json!({"id": 6, "do": "dance"})).unwrap_err().0, 6);
        assert_eq!(read(json!(5)).unwrap_err().0, 0);
    }
}
