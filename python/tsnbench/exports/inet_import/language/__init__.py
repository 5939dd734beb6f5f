"""NED and ini files: text to types, sections and expressions, each with its line."""
