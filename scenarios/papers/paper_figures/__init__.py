"""What papers print, and what the scenarios written from them give, compared number by number.

``printed.yml`` beside a paper's scenarios holds every printed number and statement, where it is printed, and
which quantity of a run stands against it. ``make papers`` runs every shipped scenario at its own duration,
records the quantities in ``results.json``, judges, and writes the tables of ``scenarios/README.md``.
"""
