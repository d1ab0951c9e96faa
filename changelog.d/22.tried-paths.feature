`explanation.tried` of a delivery, and `tried` of `message show --device`, list the paths that the delivery tried, with the outcome of each (docs/routing.md#upstream-sending).
