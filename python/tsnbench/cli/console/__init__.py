"""What every command shares: options, terminal, progress, exit codes."""
