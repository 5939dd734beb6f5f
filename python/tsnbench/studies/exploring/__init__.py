"""What a study may ask beyond all combinations: the best values (Pareto fronts), and which values matter."""
