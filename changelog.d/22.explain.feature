The explanation of a delivery shows the decision of the rules of its app: `rules`, with version, rule, bucket and paths.
