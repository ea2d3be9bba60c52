"""Commands that list what there is; they run nothing."""
