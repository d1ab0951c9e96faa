Partition changes no longer make calls wait: a change that a long transaction (a report, a backup) prevents is left until that transaction ends, and weeks are created eight weeks ahead.
Retention removes everything that has expired in each round, tenants in turn; a failing step of one tenant stops no other. New metrics `maintenance_rows_total`, `maintenance_failures_total`, `maintenance_changes_waiting`, `maintenance_unfinished`, `maintenance_round_seconds`, with two alerts.
`scripts/bench retention` measures the removal of old rows and the acceptances meanwhile.
