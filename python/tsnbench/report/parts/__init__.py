"""The content of a page's parts, as rows and numbers, without drawing and HTML."""
