"""What frames of industrial protocols and of PTP say besides their numbers, in one capture."""
