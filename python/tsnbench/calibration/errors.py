"""What cannot be calibrated, with what has to be measured instead."""

from __future__ import annotations

from tsnbench.errors import InputError


class CalibrationError(InputError):
    """A measurement from which no description follows.

    Example:
        >>> from tsnbench.calibration.errors import CalibrationError
        >>> print(CalibrationError("expected two sizes, found one", "send frames of 64 B and of 1500 B"))
        expected two sizes, found one
        hint: send frames of 64 B and of 1500 B
    """

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(f"{text}\nhint: {hint}" if hint else text)
