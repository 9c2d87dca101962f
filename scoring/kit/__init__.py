"""The organizers' scoring program: its inputs, its numbers and its result files."""
