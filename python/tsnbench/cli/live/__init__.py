"""Commands for live traffic on interfaces."""
