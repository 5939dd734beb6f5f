"""Commands that read captures and logs."""
