"""What ``setsweep doctor`` looks at, a file each."""
