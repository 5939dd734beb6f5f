//! Any text as a Plan: a consistent Plan or an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = tsn_plan::Plan::read(text);
});
