"""Many runs: studies, search, seeds, execution, records, statistics, reports and the command line."""
