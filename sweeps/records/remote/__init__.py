"""Studies in an object store: a working copy of each here, and by what rules the two are kept the same."""
