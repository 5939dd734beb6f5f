"""``tsnbench ui``: a page in the browser for the scenarios and runs of one folder.

:mod:`~tsnbench.ui.requests.guard` decides which requests are answered, :mod:`~tsnbench.ui.workspace` which
files exist, and :mod:`~tsnbench.ui.answers` makes the answers about them. :mod:`~tsnbench.ui.server`
connects the three.
"""
