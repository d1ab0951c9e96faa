With `tracing.endpoint`, sampled calls are traced: one trace from the call over the push to the receipt, sent to a collector as OTLP over HTTP, in JSON. Off by default.
