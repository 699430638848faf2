"""Scanners of other people's making, run in processes of their own with bounds on time, memory and output."""
