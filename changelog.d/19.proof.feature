A second SIGTERM or SIGINT ends the waits of a drain: missing answers count as lost, every slice is written and released, and the exit status is 0. A third signal exits at once with status 1.
During a drain `/readyz` answers 503 and `/metrics` works until the end; both listeners closed first before.
The metrics `delivery_pushes_in_flight` and `delivery_results_unflushed` show what a kill of the node would repeat at most.
