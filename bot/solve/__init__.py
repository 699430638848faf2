"""`seconder solve`: the team on a person's own repository. It gets one new branch, and is otherwise left as it is."""
