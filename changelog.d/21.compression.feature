Answers of `/v1/analytics` and `/v1/exports` are compressed with gzip for callers that accept it.
