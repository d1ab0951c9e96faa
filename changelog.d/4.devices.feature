`push-gateway devices import|export` takes devices in from CSV or NDJSON and out again: streamed, with `--dry-run`, rejects in a file, and resumable after a kill.
