"""Work: tasks, their attempts, jobs of several steps, workers, and their rescue."""
