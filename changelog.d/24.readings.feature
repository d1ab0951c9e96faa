`GET /v1/messages?counts=true` adds the counts by stage to each message of a page, and each condition of `GET /v1/devices/{device}/diagnosis` has the `reason` that deliveries would have.
