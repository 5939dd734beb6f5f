"""The service over HTTP: who is answered, plain JSON, RESTCONF, events, and the page."""
