`push-gateway devices import|export` imports and exports devices as CSV or NDJSON: streamed, with `--dry-run`, rejected rows in a file, and resumable after a kill.
