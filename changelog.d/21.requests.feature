Every response has an `X-Request-Id`, accepted or generated. Native problems (`requestId`), log lines and rows of the audit (`request`) name it, so an error leads to its log line.
