"""Models behind the Messages API: the client, list prices, and a server that plays a script."""
