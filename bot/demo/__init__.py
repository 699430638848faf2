"""`seconder demo`: everything real but GitHub and (with the sample) the model, from a filed issue to a merge."""
