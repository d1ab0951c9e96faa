`POST /v1/messages` takes `apns`: push type, priority, collapse id, expiration, interruption level, relevance score and further members of `aps`. A combination that Apple refuses is refused at once; other vendors' registrations get what their SDK can show.
Live Activities: devices report push-to-start and activity tokens (`PUT /v1/devices/{device}/live-activity-tokens`), and `/v1/apps/{app}/live-activities` starts, updates and ends activities as messages, with queue, retries and deliveries (docs/live-activities.md).
Broadcast channels: `/v1/apps/{app}/channels` creates, lists, shows, deletes and sends to Apple's channels during the call. New problem codes: PG-1013 (Apple refused), PG-2002 (Apple did not answer). A credential may name a `channelEndpoint`.
`push-gateway send` has options for Apple's devices; `push-gateway activity` and `push-gateway channel` are new.
The schema grows by the migrations 0041 and 0042.
