"""What the parts of a page say, as rows and numbers: no drawing, no HTML."""
