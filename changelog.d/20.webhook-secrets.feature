`POST /v1/webhooks/{webhook}/secret` gives a webhook a new secret; the former one signs next to it for `overlapSeconds` (docs/webhooks.md#signature).
