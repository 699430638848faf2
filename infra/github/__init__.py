"""GitHub through its REST and GraphQL APIs: what `handlers.ports` asks for, over githubkit."""
