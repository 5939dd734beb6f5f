"""The common parts of all commands: options, terminal, progress, exit codes."""
