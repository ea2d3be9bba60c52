"""The JSON schema of study files, for editors, from the declared rows."""
