"""Every run of a scenario: above backends, measures and reports."""
