"""Requests of the page: which connections and requests are answered, and what a refused one gets."""
