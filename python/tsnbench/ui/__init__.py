"""``tsnbench ui``: a page in the browser for the scenarios and runs of one folder.

:mod:`~tsnbench.ui.guard` decides who is answered, :mod:`~tsnbench.ui.workspace` which files exist,
:mod:`~tsnbench.ui.answers` what is said about them. :mod:`~tsnbench.ui.server` connects the three.
"""
