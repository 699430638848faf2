"""What people and monitors see of the web process."""
