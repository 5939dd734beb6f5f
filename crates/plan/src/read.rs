//! Reading a Plan from JSON, and its content hash.

use crate::{FORMAT, Plan};
use sha2::{Digest, Sha256};

/// Why a Plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The text is not JSON, or not of a Plan's shape.
    #[error("the plan cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// A Plan of another version.
    #[error("the plan has format {found:?}; this version reads {FORMAT:?}. Plan the scenario again")]
    Format {
        /// The format in the file.
        found: String,
    },
    /// The Plan was edited by hand, or cut.
    #[error(
        "the plan's content hash is {found}, but its content hashes to {computed}. Plan the scenario again, or remove \"hash\" if the change is meant"
    )]
    Hash {
        /// The hash in the Plan.
        found: String,
        /// The hash of the content.
        computed: String,
    },
    /// A part contradicts another one.
    #[error("{path}: {problem}")]
    Inconsistent {
        /// The path of the part: `ports[3].peer`.
        path: String,
        /// The error.
        problem: String,
    },
}

/// SHA-256 of canonical JSON (keys sorted, no white space) without the field `hash`, as lower-case hex.
///
/// # Errors
/// When the text is not a JSON object.
pub fn content_hash(json: &str) -> Result<String, PlanError> {
    let mut tree: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json)?;
    tree.remove("hash");
    // serde_json's map is sorted (feature preserve_order is off), and its compact form has no white space.
    Ok(digest(&[&serde_json::to_string(&tree)?]))
}

/// SHA-256 of a text in parts, as lower-case hex: the content hash of a text that is canonical and has no field `hash`.
#[must_use]
pub fn digest(canonical: &[&str]) -> String {
    let mut hash = ContentHash::default();
    canonical.iter().for_each(|part| hash.add(part));
    hash.end()
}

/// The content hash of a text that comes in parts, without its field `hash`.
#[derive(Clone, Default)]
pub struct ContentHash(Sha256);

impl ContentHash {
    /// Adds what follows.
    pub fn add(&mut self, part: &str) {
        self.0.update(part);
    }

    /// The hash, as lower-case hex.
    #[must_use]
    pub fn end(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Whether the text without its field `hash` is what was hashed, octet by octet.
///
/// True for all texts that tsnbench writes, which spares them the tree that [`content_hash`] makes; that decides about
/// the others.
fn as_hashed(json: &str, hash: &str) -> bool {
    let field = format!("\"hash\":\"{hash}\",");
    json.trim_end().split_once(&field).is_some_and(|(before, behind)| digest(&[before, behind]) == hash)
}

impl Plan {
    /// Reads a Plan and checks its consistency.
    ///
    /// # Errors
    /// See [`PlanError`]: never panics, whatever the text.
    pub fn read(json: &str) -> Result<Self, PlanError> {
        #[derive(serde::Deserialize)]
        struct Head {
            format: String,
        }
        let plan = serde_json::from_str::<Self>(json);
        // A plan of another format may have other fields; what it is comes before what is wrong with it.
        if plan.as_ref().is_ok_and(|plan| plan.format != FORMAT) || plan.is_err() {
            let head: Head = serde_json::from_str(json)?;
            if head.format != FORMAT {
                return Err(PlanError::Format { found: head.format });
            }
        }
        let plan = plan?;
        if let Some(found) = &plan.hash
            && !as_hashed(json, found)
        {
            let computed = content_hash(json)?;
            if *found != computed {
                return Err(PlanError::Hash { found: found.clone(), computed });
            }
        }
        plan.check()?;
        Ok(plan)
    }
}
