"""Writers of figures besides those of matplotlib: SVG in pages, drawn at once; and text for LaTeX."""
