"""The methods by themselves: numbers in, numbers out; they know of no study."""
