The page of a delivery in the web console lists the paths that the delivery tried, with the outcome of each, as `message show --device` and `explanation.tried` do.
