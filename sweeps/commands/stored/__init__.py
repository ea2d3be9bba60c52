"""Commands on a study that is in a storage."""
