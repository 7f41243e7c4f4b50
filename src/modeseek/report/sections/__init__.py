"""The sections of the report of a clustering, one module each."""
