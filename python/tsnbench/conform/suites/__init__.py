"""The suites: which frames a tester sends, and which results follow from the frames that came out."""
