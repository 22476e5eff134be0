"""One file per thing that a crew would notice."""
