"""What makes report.html answer questions: its numbers as data, and a script without a library that draws them."""
