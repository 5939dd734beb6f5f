"""Questions of a study beyond all combinations: best values (Pareto fronts), and values that matter."""
