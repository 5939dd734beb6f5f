"""Files with measurements: histograms of cyclictest, traces of an oscillator."""
