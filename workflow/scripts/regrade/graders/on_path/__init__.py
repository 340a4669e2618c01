"""What stands on a grader's path, after its own folder, and nowhere else."""
