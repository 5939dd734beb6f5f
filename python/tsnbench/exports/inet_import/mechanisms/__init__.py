"""Parts of a scenario, each from the parameters of the modules that INET has for it."""
