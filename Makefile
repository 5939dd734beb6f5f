# make run | test | check | bench: every target sets up what it needs.
