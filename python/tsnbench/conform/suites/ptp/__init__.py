"""Tests of clocks that follow a grandmaster: what they tell, and what they show."""
