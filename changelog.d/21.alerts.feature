Alerts for refused proofs and for limits that refuse many calls; the dashboard shows every metric. `scripts/alerts-check` runs the tests of the alerts with promtool, and `scripts/test` runs it.
