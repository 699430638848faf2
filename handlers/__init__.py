"""What happens when an event arrives; the only place that joins agents and gates."""
