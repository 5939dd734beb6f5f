"""What an editor asks about a scenario's text: its problems, what may stand at a place, what a key means."""
