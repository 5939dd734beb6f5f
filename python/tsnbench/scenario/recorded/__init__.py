"""Files that were measured elsewhere: histograms of cyclictest, traces of an oscillator."""
