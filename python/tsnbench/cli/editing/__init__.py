"""Commands for editors: the page in the browser, and the language server."""
